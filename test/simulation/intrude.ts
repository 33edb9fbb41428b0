import { brokenText } from "./document.ts";
import { firstDifference, foresee, foreseenText } from "./foresee.ts";
import type { Simulation } from "./simulation.ts";
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
  const before = await foresee(simulation);
  const path = paths[how];
  const files = new Map([...hub.treeAt(head).keys()].map((it) => [it, hub.textAt(head, it) ?? ""]));
  const intruded = hub.pushSource(new Map([...files, [path, brokenText(path, "object")]]), head);
  const after = await foresee(simulation);
  hub.source = head;
  if (before === null) return;
  simulation.hit("intrusion");
  if (after === null) return simulation.complain("I-18", `an invalid ${how} keeps everything from being read`);
  const [was, is] = [
    foreseenText(before),
    foreseenText(after).replaceAll(intruded, before.ledger.sourceCommit ?? head),
  ];
  if (was !== is)
    simulation.complain("I-18", `an invalid ${how} changes the plan of others: ${firstDifference(was, is)}`);
}

const isAsking = (path: string): boolean => /^(placements|clusters)\//.test(path);
