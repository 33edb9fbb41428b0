import type { Observation } from "../../core/model/observation.ts";
import type { ClusterActions } from "../../core/model/plan.ts";
import type { Clock, Fleet, MemberAddress, Receipt } from "../reconcile/ports.ts";
import { actOn } from "./apply/act.ts";
import { trackContact } from "./apply/apply-context.ts";
import { type Client, openClient } from "./client/client.ts";
import { inSlot, limiter, type SlotPool } from "./client/concurrency.ts";
import type { Connection } from "./client/connection.ts";
import { type Discovery, newDiscovery } from "./client/discovery.ts";
import type { RunnerOptions } from "./client/exec-runner.ts";
import { type Kubeconfig, openKubeconfig } from "./client/kubeconfig.ts";
import { clockOffsetOf, type MemberTime, type TimedTransport, trackMemberTime } from "./client/member-time.ts";
import { contactFailureOf } from "./client/member-unreachable.ts";
import { defaultDeadlines, httpNetwork, httpStreams, type Network, type Streams } from "./client/transport.ts";
import { type Collector, newCollector } from "./watch/collect.ts";
import { type ConfirmedWrite, recordingClient } from "./watch/confirmed-writes.ts";
import { Informer, type InformerOptions } from "./watch/informer.ts";
import { collectionDeadlineMs } from "./watch/missing-facts.ts";
import type { PlacedNamespaces } from "./watch/namespaces.ts";
import { kubeSystem, observeMember } from "./watch/observe.ts";
import { openPropertyCommand, type PropertyCommands } from "./watch/property-command.ts";
import { reuseUnchanged } from "./watch/reuse-unchanged.ts";

/** How members are reached, and for how long. */
interface KubeconfigFleetOptions extends KubeFleetOptions {
  /** A file, or null for what kubectl would use. */
  readonly kubeconfig: string | null;
}

/** A fleet that never leaves an answer open: whoever cannot wait for it puts `withGrace` around it. */
export interface KubeFleet extends Fleet {
  observe(member: MemberAddress): Promise<Observation>;
  act(member: MemberAddress, actions: ClusterActions): Promise<Receipt>;
}

/** How members are observed and acted on, whatever the connection. */
export interface KubeFleetOptions {
  readonly clock: Clock;
  /** How long one observation may take; default 30 seconds. */
  readonly deadlineMs?: number;
  /** How long all actions on one member may take in one pass; default 5 minutes. The rest is left to the next pass. */
  readonly actDeadlineMs?: number;
  /** HTTP unless it is given. */
  readonly network?: Network;
  readonly streams?: Streams;
  /** Watches members instead of listing them each time: for a daemon. */
  readonly watch?: WatchOptions;
  /** A program that says properties of members (`members/README.md#providers`). */
  readonly propertyCommand?: string;
}

interface WatchOptions {
  /** Called when a member changed. */
  readonly onChange: () => void;
  /** How often a member is checked for being reachable; everything is listed again every tenth time. */
  readonly heartbeatMs: number;
}

const defaultDeadlineMs = 30_000;

/** Extra time to record the result: without it, a slow member would never finish. */
const recordMs = 30_000;

/** Members listed, or acted on, at the same time. */
const membersAtOnce = 64;

/** Objects of all concurrent actions together: more of them cost a fifth more time and go no faster. */
const objectsAtOnce = 3_200;

/** Idle sockets kept, of all members together: file descriptors are limited. */
const idleSockets = 2_000;

/**
 * Members as real API servers, through a kubeconfig's contexts: one client each, whose connections and discovery
 * outlive a pass and decide nothing. Rejects with a Fault `KubeconfigUnreadable`.
 */
export const kubeFleet = async (options: KubeconfigFleetOptions): Promise<KubeFleet> =>
  kubeFleetOver(await openKubeconfig(options.kubeconfig, pluginsOf(options)), options);

/** No plugin may take longer than the observation that waits for it. */
const pluginsOf = ({ clock, deadlineMs = defaultDeadlineMs }: KubeFleetOptions): RunnerOptions => ({
  now: () => clock.now(),
  deadlineMs: Math.min(deadlineMs, defaultDeadlineMs),
});

/** The same over connections that are open already. */
export function kubeFleetOver(kubeconfig: Kubeconfig, options: KubeFleetOptions): KubeFleet {
  const { clock, deadlineMs = defaultDeadlineMs, actDeadlineMs = 300_000, network = httpNetwork } = options;
  // After a loss of the network, all members have to be listed.
  const [listing, acting] = [limiter(membersAtOnce), limiter(objectsAtOnce)];
  const watching = options.watch === undefined ? null : { network, deadlineMs, limiter: listing, ...options.watch };
  const members = new Map<string, Member>();
  const commands = openPropertyCommand(options.propertyCommand, deadlineMs);
  const ways = { network, streams: options.streams ?? httpStreams, clock, deadlineMs, commands };
  const memberAt = membership(kubeconfig, members, (name, connection) =>
    openMember({ name, connection }, ways, watching),
  );
  const soon = (): AbortSignal => network.deadline(deadlineMs);

  return {
    async observe(address) {
      try {
        const member = await memberAt(address);
        if (member === null) return { kind: "unreachable", code: "NoConnection", message: noContext(address) };
        const placed = address.namespaces ?? noNamespaces;
        if (member.informer !== null) return await member.informer.observe(placed);
        const seen = await listing.run(() => observeMember(member.client.until(soon()), member, placed));
        member.last = reuseUnchanged(member.last, seen);
        return member.last;
      } catch (error) {
        return { kind: "unreachable", ...contactFailureOf(error) };
      }
    },
    async act(address, actions) {
      try {
        const member = await memberAt(address);
        if (member === null) return notAttempted(actions, noContext(address));
        const loss = await contactLossOf(member, { network, limiter: listing }, soon);
        if (loss !== null) return notAttempted(actions, loss);
        const receipt = await acting.run(
          () =>
            actVia(member, {
              client: member.client.until(network.deadline(actDeadlineMs)),
              recorder: member.client.until(network.deadline(actDeadlineMs + recordMs)),
              discovery: member.discovery,
              actions,
              now: clock.now(),
              contact: trackContact(),
            }),
          weightOf(actions),
        );
        member.connection.trim(Math.ceil(idleSockets / members.size));
        return receipt;
      } catch (error) {
        return notAttempted(actions, contactFailureOf(error).message);
      }
    },
    clockOffsets: () => [...members.values()].flatMap(({ time }) => clockOffsetOf(clock.now(), time()) ?? []),
    async close() {
      for (const it of members.values()) closeMember(it);
      members.clear();
      commands?.close();
      kubeconfig.close();
    },
  };
}

/** Finds the member behind a context, or opens it; null when there is none. */
function membership(
  kubeconfig: Kubeconfig,
  members: Map<string, Member>,
  open: (name: string, connection: Connection) => Member,
) {
  return async ({ context }: MemberAddress): Promise<Member | null> => {
    const connection = await kubeconfig.connection(context);
    const known = members.get(context);
    if (known !== undefined && known.connection === connection) return known;
    // The kubeconfig changed. Requests on the old connections may finish; idle connections are closed.
    known?.informer?.close();
    known?.connection.trim(0);
    members.delete(context);
    if (connection === null) return null;
    const opened = open(context, connection);
    members.set(context, opened);
    return opened;
  };
}

interface Member {
  readonly connection: Connection;
  readonly client: Client;
  readonly discovery: Discovery;
  readonly collector: Collector;
  readonly time: MemberTime;
  /** Null where members are listed each time. */
  readonly informer: Informer | null;
  last: Observation | null;
}

/** How a member is reached, and by whose clock. */
interface MemberWays extends Pick<TimedTransport, "network" | "streams">, Pick<KubeFleetOptions, "clock"> {
  readonly deadlineMs: number;
  readonly commands: PropertyCommands | null;
}

function openMember(
  { name, connection }: { readonly name: string; readonly connection: Connection },
  ways: MemberWays,
  watching: InformerOptions | null,
): Member {
  const { network, streams, time } = trackMemberTime(ways.network, ways.streams);
  const client = openClient(connection, defaultDeadlines, network, streams);
  const known = newDiscovery();
  const soon = Math.min(ways.deadlineMs, collectionDeadlineMs);
  const collector = newCollector({
    now: () => ways.clock.now(),
    client: () => client.until(ways.network.deadline(soon)),
    connection,
    ...(ways.commands === null ? {} : { command: ways.commands.of(name) }),
  });
  const informer = watching === null ? null : new Informer({ client, discovery: known, collector, name }, watching);
  return { connection, client, discovery: known, collector, time, informer, last: null };
}

function closeMember({ client, informer }: Member): void {
  informer?.close();
  client.close();
}

/** Why a watched member cannot be acted on, or null: watches do not notice a member that fell silent. */
async function contactLossOf(
  { informer, client }: Member,
  turns: SlotPool,
  soon: () => AbortSignal,
): Promise<string | null> {
  if (informer === null) return null;
  return inSlot(turns, async () => {
    try {
      await client.until(soon()).request({ method: "GET", path: kubeSystem });
      return null;
    } catch (error) {
      informer.expect(null);
      return contactFailureOf(error).message;
    }
  });
}

/** Acts, and tells the informer which writes the next observation has to include. */
async function actVia({ informer }: Member, opening: Parameters<typeof actOn>[0]): Promise<Receipt> {
  if (informer === null) return actOn(opening);
  const writes: ConfirmedWrite[] = [];
  const note = (written: ConfirmedWrite): void => void writes.push(written);
  const { client, recorder } = opening;
  const receipt = await actOn({
    ...opening,
    client: recordingClient(client, note),
    recorder: recordingClient(recorder, note),
  });
  const isClear = receipt.interrupted === null && writes.every((it) => it.kind !== "unclear");
  informer.expect(isClear ? writes : null);
  return receipt;
}

/** An action's share of the limit: its objects, and enough that at most {@link membersAtOnce} members are acted on at once. */
const weightOf = ({ placements }: ClusterActions): number =>
  placements.reduce((sum, it) => sum + it.apply.length + it.remove.length, objectsAtOnce / membersAtOnce);

const noNamespaces: PlacedNamespaces = new Set();

const noContext = ({ context }: MemberAddress): string => `the kubeconfig has no usable context ${context}`;

const notAttempted = ({ cluster }: ClusterActions, interrupted: string): Receipt => ({
  cluster,
  created: 0,
  configured: 0,
  deleted: 0,
  released: 0,
  failed: 0,
  interrupted,
});
