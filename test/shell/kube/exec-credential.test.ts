import { describe, expect, it } from "vitest";
import type { Json, JsonObject } from "../../../src/core/model/json.ts";
import {
  type ExecCluster,
  execInfo,
  execPluginOf,
  readExecCredential,
} from "../../../src/shell/kube/client/exec-credential.ts";

const v1 = "client.authentication.k8s.io/v1";
const v1beta1 = "client.authentication.k8s.io/v1beta1";
const never = { apiVersion: v1, command: "aws", interactiveMode: "Never" };
const lossOf = (read: () => unknown): unknown => {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
};

describe("a credential plugin in a kubeconfig", () => {
  const plugin = { apiVersion: v1, command: "aws", args: [], env: {}, provideClusterInfo: false };
  const cases: { name: string; exec: Json; want: unknown }[] = [
    { name: "of v1 that never asks anything", exec: never, want: plugin },
    { name: "of v1 that asks where it can", exec: { ...never, interactiveMode: "IfAvailable" }, want: plugin },
    {
      name: "of v1beta1, which need not say how interactive it is",
      exec: { apiVersion: v1beta1, command: "aws" },
      want: { ...plugin, apiVersion: v1beta1 },
    },
    {
      name: "with arguments, environment and the wish to know the cluster",
      exec: {
        ...never,
        args: ["eks", "get-token"],
        env: [{ name: "A", value: "1" }, { name: "B" }],
        provideClusterInfo: true,
      },
      want: { ...plugin, args: ["eks", "get-token"], env: { A: "1" }, provideClusterInfo: true },
    },
    { name: "without a command", exec: { ...never, command: "" }, want: expect.stringContaining("names no command") },
    {
      name: "of v1alpha1, which Kubernetes gave up",
      exec: { ...never, apiVersion: "client.authentication.k8s.io/v1alpha1" },
      want: expect.stringContaining(`needs apiVersion ${v1} or ${v1beta1}`),
    },
    {
      name: "of v1 that does not say how interactive it is",
      exec: { apiVersion: v1, command: "aws" },
      want: expect.stringContaining("needs interactiveMode Never or IfAvailable"),
    },
    {
      name: "that cannot do without a terminal",
      exec: { ...never, interactiveMode: "Always" },
      want: expect.stringContaining("needs a terminal"),
    },
  ];
  for (const { name, exec, want } of cases) it(name, () => expect(lossOf(() => execPluginOf(exec))).toEqual(want));
});

describe("what a plugin is told", () => {
  const cluster: ExecCluster = {
    server: "https://m1:6443",
    tlsServerName: "m1.internal",
    skipsVerification: false,
    authority: Buffer.from("PEM"),
    proxyUrl: null,
    config: { audience: "fleet" },
  };

  it("is that nobody can be asked, and of the cluster only what it wants to know", () => {
    expect(JSON.parse(execInfo(execPluginOf(never), cluster))).toEqual({
      apiVersion: v1,
      kind: "ExecCredential",
      spec: { interactive: false },
    });
  });

  it("is the cluster with its authority and its settings for the plugin, when it asks for them", () => {
    const plugin = execPluginOf({ apiVersion: v1beta1, command: "aws", provideClusterInfo: true });
    expect(JSON.parse(execInfo(plugin, cluster))).toEqual({
      apiVersion: v1beta1,
      kind: "ExecCredential",
      spec: {
        interactive: false,
        cluster: {
          server: "https://m1:6443",
          "tls-server-name": "m1.internal",
          "certificate-authority-data": Buffer.from("PEM").toString("base64"),
          config: { audience: "fleet" },
        },
      },
    });
  });
});

describe("what a plugin prints", () => {
  const plugin = execPluginOf(never);
  const said = (status: JsonObject, more: JsonObject = {}): string =>
    JSON.stringify({ apiVersion: v1, kind: "ExecCredential", status, ...more });
  const pair = { clientCertificateData: "s3cr3t chain", clientKeyData: "s3cr3t key" };
  const certificate = { chain: "s3cr3t chain", key: "s3cr3t key" };
  const at = Date.UTC(2026, 10, 21, 12);
  const cases: { name: string; text: string; want: unknown }[] = [
    { name: "a token", text: said({ token: "s3cr3t" }), want: { token: "s3cr3t", certificate: null, expiresAt: null } },
    { name: "a client certificate", text: said(pair), want: { token: null, certificate, expiresAt: null } },
    {
      name: "both, until a moment",
      text: said({ ...pair, token: "s3cr3t", expirationTimestamp: "2026-11-21T13:00:00+01:00" }),
      want: { token: "s3cr3t", certificate, expiresAt: at },
    },
    {
      name: "a fraction of a second",
      text: said({ token: "s3cr3t", expirationTimestamp: "2026-11-21T12:00:00.500Z" }),
      want: { token: "s3cr3t", certificate: null, expiresAt: at + 500 },
    },
    { name: "another kind", text: said({}, { kind: "TokenReview" }), want: /printed no ExecCredential/ },
    { name: "a list", text: "[]", want: /printed no ExecCredential/ },
    { name: "half of it", text: said({ token: "s3cr3t" }).slice(0, -1), want: /printed no ExecCredential/ },
    { name: "another version", text: said({ token: "s3cr3t" }, { apiVersion: v1beta1 }), want: /did not answer in/ },
    { name: "nothing of use", text: said({ token: "" }), want: /neither a token nor a client certificate/ },
    { name: "a certificate alone", text: said({ clientCertificateData: "s3cr3t" }), want: /without its key/ },
    { name: "a key alone", text: said({ token: "t", clientKeyData: "s3cr3t" }), want: /without its certificate/ },
    {
      name: "an end that is no time",
      text: said({ token: "s3cr3t", expirationTimestamp: "soon" }),
      want: /is not a time/,
    },
  ];
  for (const { name, text, want } of cases) {
    it(name, () => {
      const got = lossOf(() => readExecCredential(text, plugin));
      if (!(want instanceof RegExp)) return expect(got).toEqual(want);
      expect(got).toMatch(want);
      expect(got).not.toContain("s3cr3t");
    });
  }
});
