import type { JsonObject } from "../model/json.ts";

/**
 * Who finds out properties of members: one file has where they are read, which properties follow, and when a change of
 * one is worth a commit. The table is in `providers.ts`; `shell/kube/watch` sends the requests, on joining and with every
 * heartbeat.
 */
export interface PropertyProvider {
  /** What is read: the path of a GET request. A member that refuses it is not reached. */
  readonly path: string;
  /** The properties that follow from the response, by KubeFleet's names. What is not known is left out. */
  properties(response: JsonObject): readonly (readonly [name: string, value: string])[];
  /** Whether it is this provider that gives the property. */
  gives(name: string): boolean;
  /** Whether a value differs enough from the recorded one; otherwise the recorded one stands. */
  isNews(name: string, recorded: string, observed: string): boolean;
}
