import type { JsonObject } from "../../src/core/model/json.ts";
import { StatusError } from "../../src/shell/embedded/api/status.ts";
import type { ClusterHandle, ObjectPlace } from "../../src/shell/embedded/handle.ts";
import { identityOf, manifestOf, wordIn } from "./document.ts";
import { uidOf } from "./sight.ts";
import type { Site } from "./site.ts";
import type { Meddling, Step } from "./step.ts";

/** Does what others do on a member, and notes what they made; false where it cannot be done. */
export function meddle(site: Site, step: Extract<Step, { do: "meddle" }>, event: number): boolean {
  const { how, object, value } = step;
  const { group, kind, namespace, name } = identityOf(object);
  const place = { group, kind, namespace, name };
  try {
    const live = site.hands.get(place);
    if (how === "create") return live === null && noted(site, event, manifestOf(object, value));
    if (live === null) return false;
    if (how === "copy") return copied(site, event, { live, manifest: manifestOf(`${object}-copy`, value) });
    touch(site.hands, place, { how, manifest: manifestOf(object, value) });
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
    const live = site.hands.get({ group, kind, namespace, name });
    if (live === null || wordIn(live) === value) continue;
    try {
      site.hands.apply("rival", manifestOf(object, value));
      changes++;
    } catch (error) {
      // What is going cannot be written.
      if (!(error instanceof StatusError)) throw error;
    }
  }
  return changes;
}

function noted(site: Site, event: number, manifest: JsonObject): boolean {
  site.strangers.set(uidOf(site.hands.create("somebody", manifest)), event);
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
  const uid = uidOf(site.hands.create("somebody", { ...manifest, metadata }));
  site.strangers.set(uid, event);
  site.copies.add(uid);
  return true;
}

interface Touch {
  readonly how: Exclude<Meddling, "create" | "copy">;
  readonly manifest: JsonObject;
}

function touch(hands: ClusterHandle, place: ObjectPlace, { how, manifest }: Touch): void {
  if (how === "edit") hands.apply("somebody", manifest);
  else if (how === "delete") hands.remove(place);
  else hands.patch("somebody", place, { metadata: touched[how] });
}

/** What patches of others do to an object's metadata. */
const touched: Readonly<Record<Exclude<Touch["how"], "edit" | "delete">, JsonObject>> = {
  unmark: { labels: { "flotilla.dev/placement": null }, annotations: { "flotilla.dev/write": null } },
  finalize: { finalizers: ["example.com/keep"] },
  release: { finalizers: null },
};
