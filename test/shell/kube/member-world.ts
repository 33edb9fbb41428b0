import { inspect, isDeepStrictEqual } from "node:util";
import { expect } from "vitest";
import type { ForeignObject } from "../../../src/core/model/deletion.ts";
import type { InventoryEntry } from "../../../src/core/model/inventory.ts";
import { digestOf, type Json, type JsonObject } from "../../../src/core/model/json.ts";
import { idOf, type ObjectKey, objectIdOf, objectKey } from "../../../src/core/model/manifest.ts";
import type { Observation } from "../../../src/core/model/observation.ts";
import type { ApplyStrategy } from "../../../src/core/model/placement.ts";
import type {
  ClusterActions,
  ObjectRemoval,
  PlacementActions,
  RenderedManifest,
} from "../../../src/core/model/plan.ts";
import type { ClusterName, Epoch, Instant, PlacementKey, Sequence } from "../../../src/core/model/value.ts";
import type { ApiResponse } from "../../../src/shell/kube/client/api-request.ts";
import { applyPatch, type Client, openClient } from "../../../src/shell/kube/client/client.ts";
import { openKubeconfig } from "../../../src/shell/kube/client/kubeconfig.ts";
import { type KubeFleet, kubeFleet } from "../../../src/shell/kube/fleet.ts";
import type { Clock, MemberAddress, Receipt } from "../../../src/shell/reconcile/ports.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { clientSide } from "../../strategy.ts";

/** A running API server, and who may talk to it. */
export interface TestCluster {
  readonly kubeconfig: string;
  readonly contexts: {
    /** May do everything. */
    readonly admin: string;
    /** The user `limited`, who may do nothing until a test grants it; null where there is no authorization. */
    readonly limited: string | null;
    /** A server that does not answer; null where there is none. */
    readonly dead: string | null;
    /** Credentials that are not accepted; null where all are. */
    readonly stranger: string | null;
  };
  close(): Promise<void>;
}

export const noon = Date.UTC(2026, 10, 21, 12) as Instant;
export const clock: Clock = { now: () => noon, sleepUntil: async () => undefined };

export type Reached = Extract<Observation, { kind: "reached" }>;

/** A request by somebody else: `kubectl edit`, as it were. */
export async function somebody(cluster: TestCluster): Promise<Client> {
  const connection = await (await openKubeconfig(cluster.kubeconfig)).connection(cluster.contexts.admin);
  if (connection === null) throw new Error("the test cluster has no admin");
  return openClient(connection);
}

export const get = (client: Client, path: string): Promise<ApiResponse> => client.request({ method: "GET", path });

export const post = (client: Client, path: string, body: Json): Promise<ApiResponse> =>
  client.request({ method: "POST", path, body, query: { fieldManager: "somebody" } });

/** A server-side apply by somebody else, by force. */
export const impose = (client: Client, path: string, body: Json): Promise<ApiResponse> =>
  client.request({
    method: "PATCH",
    path,
    body,
    contentType: applyPatch,
    query: { fieldManager: "somebody", force: "true" },
  });

export const merge = (client: Client, path: string, body: Json): Promise<ApiResponse> =>
  client.request({
    method: "PATCH",
    path,
    body,
    contentType: "application/merge-patch+json",
    query: { fieldManager: "somebody" },
  });

export const bodyOf = (answer: ApiResponse): JsonObject => {
  if (answer.kind === "refused") throw new Error(`${answer.status} ${answer.message}`);
  return answer.body;
};

export const namespace = (name: string): JsonObject => ({ apiVersion: "v1", kind: "Namespace", metadata: { name } });

export const configMap = (at: string, data: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: metadataAt(at),
  data,
});

export const deployment = (at: string, cpu = "1000m"): JsonObject => ({
  apiVersion: "apps/v1",
  kind: "Deployment",
  metadata: metadataAt(at),
  spec: {
    replicas: 2,
    selector: { matchLabels: { app: at.replace("/", "-") } },
    template: {
      metadata: { labels: { app: at.replace("/", "-") } },
      spec: { containers: [{ name: "web", image: "web:1", resources: { requests: { cpu } } }] },
    },
  },
});

function metadataAt(at: string): JsonObject {
  const [space = "", name = ""] = at.split("/");
  return { name, namespace: space };
}

export function rendered(manifest: JsonObject): RenderedManifest {
  const id = idOf(manifest);
  if (id === null) throw new Error("a manifest without identity");
  return { id, key: objectKey(id), manifest, digest: digestOf(manifest) };
}

/** What one placement does; of its target only what is given. */
export interface Doing {
  readonly placement: string;
  readonly sequence?: number;
  readonly strategy?: Partial<ApplyStrategy>;
  readonly apply?: readonly JsonObject[];
  readonly remove?: readonly ObjectRemoval[];
  readonly forget?: readonly ObjectKey[];
  readonly recover?: PlacementActions["recover"];
  /** The rest of it stands in the inventory. */
  readonly isListed?: boolean;
  /** Nothing of the placement is to stay. */
  readonly leaves?: boolean;
  /** From whom all of `apply` is taken, and up to which of its decisions. */
  readonly from?: readonly [placement: string, upTo: number];
  /** Who else lists all of it. */
  readonly orFrom?: readonly [placement: string, upTo: number];
}

export function doing({
  placement,
  sequence = 1,
  strategy,
  apply = [],
  remove = [],
  forget = [],
  recover = [],
  leaves,
  isListed = false,
  from,
  orFrom,
}: Doing): PlacementActions {
  const handOvers = apply.flatMap((it) =>
    [from, orFrom].flatMap((source) =>
      source === undefined
        ? []
        : { key: rendered(it).key, from: source[0] as PlacementKey, upTo: source[1] as Sequence },
    ),
  );
  return {
    ...(from === undefined ? {} : { handOvers }),
    isListed,
    placement: placement as PlacementKey,
    sequence: sequence as Sequence,
    digest: leaves === true ? null : digestOf([...apply]),
    applyStrategy: { ...clientSide, ...strategy },
    apply: apply.map(rendered),
    remove,
    forget,
    recover,
  };
}

export const actionsOf = (
  clusterUid: string,
  placements: readonly Doing[],
  fleet = "test-fleet",
  holders: readonly string[] = [],
): ClusterActions => ({
  cluster: "m1" as ClusterName,
  clusterUid,
  fleet,
  epoch: 1 as Epoch,
  placements: placements.map(doing),
  holders: new Map(
    placements.flatMap(({ apply = [] }) => apply.map((it) => [rendered(it).key, holders as readonly PlacementKey[]])),
  ),
});

export const entriesOf = (seen: Reached, placement: string): ReadonlyMap<ObjectKey, InventoryEntry> =>
  seen.inventory.placements.get(placement as PlacementKey)?.entries ?? new Map();

/** The departure of an object as the inventory knows it. */
export function departure(
  seen: Reached,
  placement: string,
  manifest: JsonObject,
  more: Partial<ObjectRemoval> = {},
): ObjectRemoval {
  const { id, key } = rendered(manifest);
  const uid = entriesOf(seen, placement).get(key)?.uid ?? null;
  return { id, key, uid, how: "delete", cascadesTo: [], ...more };
}

/** What of others the member found with an object that is to go. */
export function othersOf(seen: Reached, placement: string, manifest: JsonObject): readonly ForeignObject[] {
  const outcome = entriesOf(seen, placement).get(rendered(manifest).key)?.outcome;
  return outcome?.kind === "lingering" ? (outcome.others?.objects ?? []) : [];
}

/** `Namespace shop: applied` and so on, for comparing whole placements. */
export const outcomesOf = (seen: Reached, placement: string): readonly string[] =>
  [...entriesOf(seen, placement)].map(([key, { outcome }]) => {
    const { kind, namespace: space, name } = objectIdOf(key);
    const said =
      outcome.kind === "failed" || outcome.kind === "lingering" ? `${outcome.kind} ${outcome.code}` : outcome.kind;
    return `${kind} ${space === null ? "" : `${space}/`}${name}: ${said}`;
  });

/** One member under test, and what a test wants to say about it. */
export interface Stage {
  readonly cluster: TestCluster;
  readonly fleet: KubeFleet;
  readonly client: Client;
  readonly uid: string;
  readonly admin: MemberAddress;
  /** One more fleet of the same kind, by another clock where one is given. */
  open(by?: Clock): Promise<KubeFleet>;
  /** A member as it is, as soon as the fleet sees it so. */
  look(at?: MemberAddress, by?: KubeFleet): Promise<Observation>;
  see(): Promise<Reached>;
  act(...placements: readonly Doing[]): Promise<Receipt>;
}

/**
 * Opens a fleet over a cluster. One that watches is held to what a fresh list gives: at once after an action of its own, and
 * soon after whatever somebody else did.
 */
export async function stageOn(cluster: TestCluster, mode: "lists" | "watches" = "lists"): Promise<Stage> {
  const { kubeconfig } = cluster;
  const lister = await kubeFleet({ kubeconfig, clock });
  const watch = { onChange: () => {}, heartbeatMs: 100 };
  const open = (by = clock): Promise<KubeFleet> =>
    kubeFleet({ kubeconfig, clock: by, ...(mode === "watches" ? { watch } : {}) });
  const fleet = await open();
  const admin = { name: "m1", context: cluster.contexts.admin } as MemberAddress;
  const look: Stage["look"] = (at = admin, by = fleet) =>
    eventually(
      "it sees what a list gives",
      async () => {
        const [held, fresh] = [await by.observe(at), await lister.observe(at)];
        return isDeepStrictEqual(comparable(held), comparable(fresh)) ? held : null;
      },
      30_000,
    );
  const see = async (): Promise<Reached> => reached(await look());
  const { clusterUid: uid } = await see();
  const act = async (...placements: readonly Doing[]): Promise<Receipt> => {
    const ended = await fleet.act(admin, actionsOf(uid, placements));
    const [held, fresh] = [await fleet.observe(admin), await lister.observe(admin)];
    // What is being deleted may be gone from one look to the next.
    const going = new Set(
      held.kind === "reached" ? [...held.objects].flatMap(([key, it]) => (it.terminating ? key : [])) : [],
    );
    const [watched, listed] = [comparable(held, going), comparable(fresh, going)];
    // First what one has alone: it stands at the beginning of the message.
    expect({ watched: onlyIn(watched, listed), listed: onlyIn(listed, watched) }).toEqual({ watched: [], listed: [] });
    expect(watched).toEqual(listed);
    return ended;
  };
  const close = async (): Promise<void> => {
    await fleet.close();
    await lister.close();
  };
  return { cluster, fleet: { ...fleet, close }, client: await somebody(cluster), uid, admin, open, look, see, act };
}

function reached(seen: Observation): Reached {
  if (seen.kind === "unreachable") throw new Error(`${seen.code}: ${seen.message}`);
  return seen;
}

/** With the order of everything, which an equality of maps does not tell, and without some objects. */
const comparable = (seen: Observation, without: ReadonlySet<ObjectKey> = new Set()): object =>
  seen.kind === "unreachable"
    ? seen
    : {
        ...seen,
        objects: [...seen.objects].filter(([key]) => !without.has(key)),
        unlisted: [...seen.unlisted],
        placements: [...seen.inventory.placements].map(([key, it]) => [key, { ...it, entries: [...it.entries] }]),
      };

/** What stands in an observation and not in another one, in a line each. */
function onlyIn(seen: object, other: object): readonly string[] {
  const linesOf = (it: object): readonly string[] =>
    Object.entries(it).flatMap(([name, value]: [string, unknown]) =>
      (Array.isArray(value) ? value : [value]).map(
        (one) => `${name}: ${inspect(one, { depth: null, breakLength: Number.POSITIVE_INFINITY })}`,
      ),
    );
  const known = new Set(linesOf(other));
  return linesOf(seen).filter((it) => !known.has(it));
}

export const receipt = (counts: Partial<Receipt>): Receipt =>
  ({
    cluster: "m1",
    created: 0,
    configured: 0,
    deleted: 0,
    released: 0,
    failed: 0,
    interrupted: null,
    ...counts,
  }) as Receipt;

export const core = (space: string, plural: string, name: string): string =>
  `/api/v1/namespaces/${space}/${plural}/${name}`;
