import type { FleetSpec } from "../model/fleet.ts";
import type { ClusterRecord } from "../model/ledger.ts";
import { authorityProperty, entrypointProperty } from "../model/names.ts";
import type { MemberProperties } from "../model/observation.ts";

/** More is no CA of one cluster, but all that a machine trusts. */
const longestAuthority = 64 * 1024;

/**
 * How a member is reached (`members/README.md#access`): its address without credentials, and the certificates of its CA
 * where the kubeconfig has some.
 */
export function accessProperties(server: URL, authority: string | null): MemberProperties {
  const found = new Map<string, string>();
  const ca = authority === null ? null : certificatesIn(authority);
  if (ca !== null) found.set(authorityProperty, btoa(ca));
  found.set(entrypointProperty, `${server.origin}${server.pathname.replace(/\/+$/, "")}`);
  return found;
}

/** The certificates of a PEM file, and nothing else that stands in it: a key may. */
function certificatesIn(pem: string): string | null {
  const found = pem.match(/-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----/g) ?? [];
  const text = found.map((it) => `${it}\n`).join("");
  return text === "" || text.length > longestAuthority ? null : text;
}

const isWithheld = (name: string, { collect }: Pick<FleetSpec, "collect">): boolean =>
  (name === entrypointProperty || name === authorityProperty) && !collect.includes(name);

/** Without what `fleet.yaml` does not ask for, whoever says it; the same map (`===`) where that is nothing. */
export const askedProperties = (all: MemberProperties, fleet: Pick<FleetSpec, "collect">): MemberProperties =>
  [...all.keys()].some((it) => isWithheld(it, fleet))
    ? new Map([...all].filter(([it]) => !isWithheld(it, fleet)))
    : all;

/** The record without what `fleet.yaml` does not ask for any more, whether or not the member answers. */
export function withAskedProperties(cluster: ClusterRecord, fleet: Pick<FleetSpec, "collect">): ClusterRecord {
  const properties = askedProperties(cluster.properties, fleet);
  if (properties === cluster.properties) return cluster;
  const origins = new Map([...cluster.collection.origins].filter(([name]) => properties.has(name)));
  return { ...cluster, properties, collection: { ...cluster.collection, origins } };
}
