import { sameMap } from "../model/identity.ts";
import type { JsonObject } from "../model/json.ts";
import type { MemberProperties } from "../model/observation.ts";
import { compareText } from "../model/value.ts";
import { kubernetesVersion } from "./kubernetes-version.ts";
import type { PropertyProvider } from "./provider.ts";

const providers: readonly PropertyProvider[] = [kubernetesVersion];

/** What has to be read of a member: the paths of GET requests, each once. */
export const propertyPaths: readonly string[] = [...new Set(providers.map((it) => it.path))];

/** The properties of a member, from what it answered to {@link propertyPaths}, in their order. */
export function observedProperties(responses: readonly JsonObject[]): MemberProperties {
  const byPath = new Map(propertyPaths.map((path, at) => [path, responses[at] ?? {}]));
  return inOrder(providers.flatMap((it) => it.properties(byPath.get(it.path) ?? {})));
}

/**
 * What is recorded of the properties that were observed: a value that hardly changed stays as it was, so that two passes
 * over the same member write nothing. The same map (`===`) when all did.
 */
export function recordedProperties(
  recorded: MemberProperties,
  observed: MemberProperties,
  all: readonly PropertyProvider[] = providers,
): MemberProperties {
  if (sameMap(observed, recorded)) return recorded;
  const next = inOrder(
    [...observed].map(([name, is]) => {
      const was = recorded.get(name);
      const provider = all.find((it) => it.gives(name));
      return [name, was === undefined || provider === undefined || provider.isNews(name, was, is) ? is : was];
    }),
  );
  return sameMap(next, recorded) ? recorded : next;
}

const inOrder = (entries: readonly (readonly [string, string])[]): MemberProperties =>
  new Map([...entries].sort(([a], [b]) => compareText(a, b)));
