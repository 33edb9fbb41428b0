import type { Plan } from "../../src/core/model/plan.ts";
import type { Commit } from "../../src/core/model/value.ts";
import { plan } from "../../src/core/plan/plan.ts";
import { answerTo } from "../../src/shell/kube/embedded/answer-to.ts";
import { Fault } from "../../src/shell/reconcile/fault.ts";
import { observe } from "../../src/shell/reconcile/observe.ts";
import { Attempt } from "./attempt.ts";
import { brokenText } from "./document.ts";
import { Reconciler, type Surroundings } from "./reconciler.ts";
import { askedOf, deaf, type Simulation } from "./simulation.ts";
import type { Intrusion } from "./step.ts";

const paths: Readonly<Record<Intrusion, string>> = {
  placement: "placements/zz-intruder.yaml",
  override: "overrides/zz-intruder.yaml",
  manifest: "resources/configmap-elsewhere-intruder.yaml",
  cluster: "clusters/zz-intruder.yaml",
};

/**
 * I-18: an invalid document that names nothing there is leaves every placement's plan as it was, to the byte.
 *
 * The world is looked at twice, through ports without weather, once with the document and once without; nothing is
 * written.
 */
export async function intrude(simulation: Simulation, how: Intrusion): Promise<void> {
  const { hub } = simulation;
  const head = hub.source;
  // Before anything was decided, everything is named after the first commit; and a commit that says nothing is not
  // believed.
  if (head === null || hub.state === null || ![...hub.treeAt(head).keys()].some(isAsking)) return;
  const before = await planAt(simulation);
  const path = paths[how];
  const files = new Map([...hub.treeAt(head).keys()].map((it) => [it, hub.textAt(head, it) ?? ""]));
  const intruded = hub.pushSource(new Map([...files, [path, brokenText(path, "object")]]), head);
  const after = await planAt(simulation);
  hub.source = head;
  if (before === null || after === null) return;
  simulation.hit("intrusion");
  const [was, is] = [textOf(before), textOf(after).replaceAll(intruded, before.ledger.sourceCommit ?? head)];
  if (was !== is)
    simulation.complain("I-18", `an invalid ${how} changes the plan of others: ${firstDifference(was, is)}`);
}

const isAsking = (path: string): boolean => /^(placements|clusters)\//.test(path);

/** Null while the hub's state cannot be read, or the source is not there. */
async function planAt(simulation: Simulation): Promise<Plan | null> {
  const observer = new Reconciler("observer", calmly(simulation));
  const words = { patience: "retryAt", flush: false, faults: "", crash: "", shuffle: 0 } as const;
  const { time } = simulation;
  observer.attempt = new Attempt({ writer: "observer", words, hold: "", time, hit: () => {} });
  const settings = { members: "ask", patience: "retryAt", acceptRewrite: null } as const;
  try {
    const { world } = await observe(observer.ports, settings, observer.memory);
    return plan(world);
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    return null;
  }
}

/** The same world without weather; who is not well does not answer. */
const calmly = (simulation: Simulation): Surroundings => ({
  time: simulation.time,
  hub: simulation.hub,
  now: () => simulation.now(),
  isHubThere: () => true,
  deliver: (request, outgoing) => {
    const site = simulation.siteAt(request.member);
    if (site.weather !== "well") return { kind: "refused" };
    const answer = answerTo(site.cluster, { ...askedOf(request, outgoing), now: simulation.time.now }, deaf);
    return {
      kind: "answered",
      incoming: { status: answer?.code ?? 500, retryAfterMs: null, text: answer?.text ?? "" },
    };
  },
  envelope: () => () => ({ kind: "refused" }),
  note: () => {},
  pushed: (_, commit: Commit) => {
    throw new Error(`an observer pushed ${commit}`);
  },
});

/** What a plan says about placements: their records, what is done for them, what they render. */
const textOf = ({ ledger, actions, rendered }: Plan): string =>
  JSON.stringify(
    [ledger.placements, actions, rendered],
    (_, value: unknown) => (value instanceof Map ? [...value] : value),
    1,
  );

function firstDifference(a: string, b: string): string {
  const [left, right] = [a.split("\n"), b.split("\n")];
  const at = left.findIndex((it, index) => it !== right[index]);
  return `${left[at]?.trim()} became ${right[at]?.trim()}`;
}
