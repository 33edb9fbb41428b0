// A protected cluster gets another name through `contexts`, over real Git and real HTTP (`trust/README.md#t-41`).
import { createHash } from "node:crypto";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Digest } from "../../../src/core/model/value.ts";
import { reasonText } from "../../../src/core/report/reason-text.ts";
import type { Settings } from "../../../src/shell/reconcile/ports.ts";
import { sshKeys } from "../../core/intent/trust/public-keys.ts";
import { once, rest, type Stage, setStage } from "./stage.ts";

let stage: Stage;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(() => stage.close());

const trust = `apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: { name: root }
spec:
  version: 1
  expires: "2027-11-01T00:00:00Z"
  threshold: 1
  roots: [ann]
  principals:
    ann: { human: true, keys: ["${sshKeys.ed25519.line}"] }
  protectedTargets:
    - { clusters: ["prod-*"], namespaces: ["*"], principals: [ann] }
`;

const place = { group: "", kind: "ConfigMap", namespace: "platform", name: "certificates" };
const renewsOn = (cluster: string): unknown =>
  (stage.members.cluster(cluster).get(place)?.["data"] as Record<string, unknown> | undefined)?.["RENEW_BEFORE"];

test("what it was called is kept on the state branch, and protects it in every process that comes later", async () => {
  const { hub } = stage;
  await rest(await stage.reconciler());
  await hub.write("trust/root.yaml", trust);
  hub.push("Say who approves what");
  const anchor = createHash("sha256").update(trust).digest("hex") as Digest;
  const settings: Settings = { ...once, trustAnchor: anchor };
  await rest(await stage.reconciler(), settings);

  await hub.edit("clusters/prod-eu-1.yaml", "  name: prod-eu-1\n  labels", "  name: dev-9\n  labels");
  await hub.edit("fleet.yaml", "  profile: default", "  contexts: { dev-9: prod-eu-1 }\n  profile: default");
  hub.push("Call it otherwise");
  await rest(await stage.reconciler(), settings);
  const { uid } = stage.members.cluster("prod-eu-1");
  expect(hub.stateFile("former-names.yaml")).toMatch(
    new RegExp(`^clusters:\n- uid: ${uid}\n {2}names:\n {2}- prod-eu-1\n`),
  );

  await hub.edit("resources/platform/config.yaml", "720h", "360h");
  hub.push("Renew earlier");
  const { plan } = await rest(await stage.reconciler(), settings);
  expect([renewsOn("dev-eu-1"), renewsOn("prod-eu-1")]).toEqual(["360h", "720h"]);
  const said = plan.reasons.map(reasonText).join("\n");
  expect(said).toMatch(/^platform: dev-9, .*protected: waits for an approval of request digest/m);
});
