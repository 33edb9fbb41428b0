import type { JsonObject } from "../../../src/core/model/json.ts";
import { StatusError } from "../../../src/shell/embedded/api/status.ts";
import type { ClusterHandle, ObjectPlace } from "../../../src/shell/embedded/handle.ts";
import { compareForecast, firstDifference, foreseenText } from "../forecast-agreement.ts";
import { brokenText, identityOf, manifestOf, wordIn } from "../people/document.ts";
import type { Simulation } from "../simulation.ts";
import type { SourceAttack, Step, ThirdPartyChange } from "../step.ts";
import { uidOf } from "./observed-objects.ts";
import type { Site } from "./site.ts";

/** Does what others do on a member, and notes what they made; false where it cannot be done. */
export function changeByOthers(site: Site, step: Extract<Step, { do: "meddle" }>, event: number): boolean {
  const { how, object, value } = step;
  const { group, kind, namespace, name } = identityOf(object);
  const place = { group, kind, namespace, name };
  try {
    const live = site.handle.get(place);
    if (how === "create") return live === null && noted(site, event, manifestOf(object, value));
    if (live === null) return false;
    if (how === "copy") return copied(site, event, { live, manifest: manifestOf(`${object}-copy`, value) });
    touch(site.handle, place, { how, manifest: manifestOf(object, value) });
    return true;
  } catch (error) {
    // A namespace that is not there, one that is going: the member says no to others too.
    if (error instanceof StatusError) return false;
    throw error;
  }
}

/** Puts back what second controllers want; gives how often that was a change. */
export function fightBack(site: Site): number {
  let changes = 0;
  for (const [object, value] of site.rivals) {
    const { group, kind, namespace, name } = identityOf(object);
    const live = site.handle.get({ group, kind, namespace, name });
    if (live === null || wordIn(live) === value) continue;
    try {
      site.handle.apply("rival", manifestOf(object, value));
      changes++;
    } catch (error) {
      // What is going cannot be written.
      if (!(error instanceof StatusError)) throw error;
    }
  }
  return changes;
}

function noted(site: Site, event: number, manifest: JsonObject): boolean {
  site.strangers.set(uidOf(site.handle.create("somebody", manifest)), event);
  return true;
}

interface Copy {
  readonly live: JsonObject;
  readonly manifest: JsonObject;
}

/** `kubectl get -o yaml`, another name, `kubectl create`: our marks come along. */
function copied(site: Site, event: number, { live, manifest }: Copy): boolean {
  const { labels = {}, annotations = {} } = live["metadata"] as JsonObject;
  const metadata = { ...(manifest["metadata"] as JsonObject), labels, annotations };
  const uid = uidOf(site.handle.create("somebody", { ...manifest, metadata }));
  site.strangers.set(uid, event);
  site.copies.add(uid);
  return true;
}

interface Touch {
  readonly how: Exclude<ThirdPartyChange, "create" | "copy">;
  readonly manifest: JsonObject;
}

function touch(handle: ClusterHandle, place: ObjectPlace, { how, manifest }: Touch): void {
  if (how === "edit") handle.apply("somebody", manifest);
  else if (how === "delete") handle.remove(place);
  else handle.patch("somebody", place, { metadata: touched[how] });
}

/** What patches of others do to an object's metadata. */
const touched: Readonly<Record<Exclude<Touch["how"], "edit" | "delete">, JsonObject>> = {
  unmark: { labels: { "flotilla.dev/placement": null }, annotations: { "flotilla.dev/write": null } },
  finalize: { finalizers: ["example.com/keep"] },
  release: { finalizers: null },
};

const paths: Readonly<Record<SourceAttack, string>> = {
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
export async function attackSource(simulation: Simulation, how: SourceAttack): Promise<void> {
  const { hub } = simulation;
  const head = hub.source;
  // Before anything was decided, everything is named after the first commit; and a commit that says nothing is not
  // believed.
  if (head === null || hub.state === null || ![...hub.treeAt(head).keys()].some(isAsking)) return;
  const before = await compareForecast(simulation);
  const path = paths[how];
  const files = new Map([...hub.treeAt(head).keys()].map((it) => [it, hub.textAt(head, it) ?? ""]));
  const intruded = hub.pushSource(new Map([...files, [path, brokenText(path, "object")]]), head);
  const after = await compareForecast(simulation);
  hub.source = head;
  // Every commit lets placements in quarantine be looked at anew.
  if (before === null || before.ledger.quarantines.size > 0) return;
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
