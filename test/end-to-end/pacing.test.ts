import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { memberAt } from "../../src/core/model/json.ts";
import { startControlPlane } from "../kubernetes/control-plane.ts";
import { describeKubernetes } from "../kubernetes/describe-kubernetes.ts";
import { collectingNames } from "./fleet.ts";
import { type Member, objectAt } from "./member.ts";
import { type MixedStage, setMixedStage } from "./mixed.ts";

const collector = "/apis/apps/v1/namespaces/observability/deployments/collector";
const startLimitMs = 400_000;

/** Whether everything of the newest generation runs and is available, as `kubectl rollout status` judges. */
async function isAvailable(member: Member): Promise<boolean> {
  const deployment = await objectAt(member, collector);
  const status = (key: string) => memberAt(deployment, "status", key);
  const wanted = memberAt(deployment, "spec", "replicas");
  return (
    status("observedGeneration") === memberAt(deployment, "metadata", "generation") &&
    [status("replicas"), status("updatedReplicas"), status("availableReplicas")].every((it) => it === wanted)
  );
}

/**
 * Members that were not available at one moment. Eight answers are never given at once, so everybody is asked twice: who was
 * not available both times was not in between.
 */
async function unavailableIn(members: readonly Member[]): Promise<readonly string[]> {
  const ask = () => Promise.all(members.map(isAvailable));
  const [first, second] = [await ask(), await ask()];
  return members.filter((_, at) => first[at] === false && second[at] === false).map((it) => it.name);
}

await describeKubernetes("an update over eight clusters at 25 %", "control planes", () => {
  let stage: MixedStage;
  let members: readonly Member[];
  beforeAll(async () => {
    stage = await setMixedStage([await startControlPlane({ name: "prod-eu-1" })], "700ms");
    // Its pods are ready at once; nobody would see the whole cluster at work.
    const manifest = "resources/observability/collector.yaml";
    await stage.hub.edit(manifest, "  replicas: 1\n", "  replicas: 1\n  minReadySeconds: 1\n");
    stage.hub.push("Wait for a second");
    members = stage.members.filter((it) => collectingNames.includes(it.name));
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
  }, startLimitMs);
  afterAll(() => stage?.stop());

  test("never leaves more than two of them without", async () => {
    await stage.hub.edit("resources/observability/collector.yaml", "collector:1.18.0", "collector:1.19.0");
    stage.hub.push("Roll out collector 1.19.0");
    const run = await stage.startReconcile(["--wait", "5m"]);
    let hasEnded = false;
    void run.ended.then(() => {
      hasEnded = true;
    });
    const samples: (readonly string[])[] = [];
    while (!hasEnded) {
      const [sample] = await Promise.all([unavailableIn(members), sleep(100)]);
      samples.push(sample);
    }
    expect(await run.ended).toMatchObject({ code: 0, err: "" });
    expect(samples.filter((it) => it.length > 2)).toEqual([]);
    // It was seen at work, here and there: whoever is quick may be missed.
    expect(samples.some((it) => it.length === 2)).toBe(true);
    const seen = new Set(samples.flat());
    expect(collectingNames.filter((it) => seen.has(it)).length).toBeGreaterThan(2);
    for (const member of members) {
      const deployment = JSON.stringify(memberAt(await objectAt(member, collector), "spec"));
      expect(deployment).toContain("collector:1.19.0");
    }
  });
});
