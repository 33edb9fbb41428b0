// What kubectl sends in Kubernetes' binary form: as recorded, and by kubectl itself where its program is at hand.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse } from "yaml";
import { isObject, type Json } from "../../../src/core/model/json.ts";
import { textOfBinary } from "../../../src/shell/embedded/http/protobuf.ts";
import { findPrograms, type Programs } from "../../kubernetes/assets.ts";
import { describeWhenFound } from "../../kubernetes/describe-kubernetes.ts";
import type { Kubeconfig } from "../../kubernetes/kubeconfig.ts";
import { kubectl } from "../../kubernetes/kubectl.ts";
import { temporaryFolder } from "../git/hub.ts";
import { embeddedScene, place } from "./scene.ts";

const scene = embeddedScene();

/** What kubectl 1.32 sent for a command, and what it says with `--dry-run=client -o json` that it sends. */
const recorded = readFileSync(join(import.meta.dirname, "kubectl-create.txt"), "utf8")
  .split("\n\n")
  .map((it) => it.trimEnd().split("\n") as [command: string, sent: string, means: string]);

/** Without what is empty: Go writes `{}` and null where nothing was said. */
function said(value: Json): Json {
  if (Array.isArray(value)) return value.map(said);
  if (!isObject(value)) return value;
  const members = Object.entries(value).map(([key, it]) => [key, said(it)] as const);
  return Object.fromEntries(members.filter(([, it]) => !(isObject(it) && Object.keys(it).length === 0)));
}

describe("a body in Kubernetes' binary form", () => {
  test.each(recorded)("%s", (_, sent, means) => {
    const text = textOfBinary(Buffer.from(sent, "base64"));
    expect(said(JSON.parse(text ?? "null"))).toEqual(JSON.parse(means));
  });

  test("what is cut off, or says something that is not known, is not read at all", () => {
    const whole = Buffer.from(recorded[1]?.[1] ?? "", "base64");
    for (let length = 0; length < whole.length - 5; length++)
      expect(textOfBinary(whole.subarray(0, length))).toSatisfy((it) => it === null || !it.includes('"mode"'));
    // A pod's `hostNetwork` (11), which `kubectl create` never asks for.
    const message = (number: number, bytes: Buffer) =>
      Buffer.concat([Buffer.from([(number << 3) | 2, bytes.length]), bytes]);
    const deployment = (flag: number) => {
      const pod = message(2, message(3, message(2, Buffer.from([11 << 3, flag]))));
      const type = message(
        1,
        Buffer.concat([message(1, Buffer.from("apps/v1")), message(2, Buffer.from("Deployment"))]),
      );
      return textOfBinary(Buffer.concat([Buffer.from("k8s\0"), type, message(2, pod)]));
    };
    expect(deployment(1)).toBeNull();
    expect(deployment(0)).toBe('{"apiVersion":"apps/v1","kind":"Deployment"}');
  });

  test("is taken by a cluster like any other, strictly and by its author's name", async () => {
    const [, sent = ""] = recorded.find(([it]) => it.startsWith("kubectl create deployment web2")) ?? [];
    const url = `${scene.server.url("one")}/apis/apps/v1/namespaces/shop/deployments`;
    const answer = await fetch(`${url}?fieldManager=kubectl-create&fieldValidation=Strict`, {
      method: "POST",
      headers: {
        accept: "application/vnd.kubernetes.protobuf,application/json",
        "content-type": "application/vnd.kubernetes.protobuf",
      },
      body: Buffer.from(sent, "base64"),
    });
    expect([answer.status, answer.headers.get("content-type")]).toEqual([201, "application/json"]);
    expect(await answer.json()).toMatchObject({
      metadata: { name: "web2", managedFields: [{ manager: "kubectl-create", operation: "Update" }] },
      spec: { replicas: 0, template: { spec: { containers: [{ image: "registry.example/web:1" }] } } },
    });
  });
});

const programs = await findPrograms(["kubectl"]);

describeWhenFound("kubectl, towards a simulated cluster", "kind" in programs ? programs.why : null, () => {
  const home = temporaryFolder();
  let config: Kubeconfig;
  beforeAll(() => {
    config = parse(scene.server.kubeconfig()) as Kubeconfig;
  });
  afterAll(() => home.remove());
  const run = (command: string, input = ""): Promise<string> =>
    kubectl({ programs: programs as Programs, folder: home.path }, config, command.split(" "), input);

  test.each([
    ["create namespace store", "namespace/store created"],
    ["create configmap settings -n shop --from-literal=mode=fast", "configmap/settings created"],
    ["create secret generic token -n shop --from-literal=password=secret", "secret/token created"],
    ["create deployment web -n shop --image=web:1 --replicas=2", "deployment.apps/web created"],
    ["create service clusterip web -n shop --tcp=80:8080", "service/web created"],
    ["create job once -n shop --image=web:1", "job.batch/once created"],
    ["create role reader -n shop --verb=get --resource=pods", "role.rbac.authorization.k8s.io/reader created"],
    ["create configmap dry -n shop --from-literal=a=b --dry-run=server", "configmap/dry created (server dry run)"],
    ["create -n shop -f -", "configmap/file created"],
  ])("%s", async (command, says) => {
    const file = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: file}\ndata: {a: b}\n";
    expect(await run(command, file)).toBe(`${says}\n`);
    expect(scene.cluster.get(place("", "ConfigMap", "dry"))).toBeNull();
  });

  test("what is there already is refused in Kubernetes' words", async () => {
    await run("create configmap twice -n shop --from-literal=a=b");
    await expect(run("create configmap twice -n shop --from-literal=a=b")).rejects.toThrow(
      /configmaps "twice" already exists/,
    );
  });
});
