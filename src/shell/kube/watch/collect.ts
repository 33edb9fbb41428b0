import { accessProperties } from "../../../core/members/access.ts";
import {
  availableProperties,
  machinesOf,
  type NodeFacts,
  nodeFactsOf,
  nodeLabels,
  nodeProperties,
  reducedNode,
} from "../../../core/members/nodes.ts";
import { requestedBy, requestingPods, summedPods } from "../../../core/members/pods.ts";
import { propertiesMap, providedByMap, providedByText } from "../../../core/members/provided.ts";
import { sameMap } from "../../../core/model/identity.ts";
import { listAt, memberAt, textOf } from "../../../core/model/json.ts";
import { systemNamespace } from "../../../core/model/names.ts";
import {
  type Collected,
  type MemberProperties,
  type MissingFacts,
  noProperties,
} from "../../../core/model/observation.ts";
import { type Client, metadataListOnly } from "../client/client.ts";
import type { Connection } from "../client/connection.ts";
import type { ProgramEnd } from "../client/run-program.ts";
import { attempted } from "./missing-facts.ts";
import { type NamespaceReader, newNamespaceReader } from "./namespaces.ts";
import { restlessness } from "./restless.ts";

/** Finds out what a member is, now and then: its nodes and pods change slowly, and cost much to list. */
export interface Collector {
  /**
   * What was found out last, or is found out now where that is due. Never rejects. It takes no longer than its deadline;
   * the first time as long again to wait for the operator's command and to run it, each.
   */
  collect(): Promise<Collected>;
  /** Asks how many nodes there are, in one small request: with another number than before, the next `collect` is due. */
  probe(): Promise<boolean>;
  /** What is read with every look, or what it was before where too much of the member changed of late. */
  steady(read: MemberProperties): MemberProperties;
  /** Its namespaces, of which more is asked only where placements live in some. */
  readonly namespaces: NamespaceReader;
}

interface CollectorOptions {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** A client whose requests end at the collection's own deadline. */
  readonly client: () => Client;
  /** By which the member is reached; absent: nobody says. */
  readonly connection?: Pick<Connection, "server" | "authority">;
  /** The operator's command, which is told what was collected; absent: there is none. */
  readonly command?: PropertyCommand;
}

/** Gives what an operator's program says of a member, of which these properties are known. */
export type PropertyCommand = (known: MemberProperties) => Promise<ProgramEnd>;

/** How long what was found out holds; after a failure, or where pods are older than the nodes, the shorter one. */
const holdsMs = 5 * 60_000;
const shortMs = 60_000;

/** Pods of one member; Kubernetes is made for 150,000. */
const mostPods = 200_000;
const mostNodes = 20_000;

/** Opens the collector of one member. It remembers what was found out, so that it decides nothing but what is asked. */
export function newCollector({ now, client, connection, command }: CollectorOptions): Collector {
  let told: Collected | null = null;
  let due = 0;
  let pods: { readonly read: PodsRead; readonly at: number } | null = null;
  let nodes: NodesRead | null = null;
  let own: Collected | null = null;
  let steady: MemberProperties | null = null;
  let running: Promise<Collected> | null = null;
  const changes = restlessness(now);
  const asked = command === undefined ? null : askedAside(command);
  const tell = (next: Collected): Collected => {
    told = changes.believed(told, next, isSame);
    // What is not believed yet is looked at again as soon as it would be.
    if (told !== next && !isSame(told, next)) due = Math.min(due, changes.calmAt());
    return told;
  };
  const read = async (): Promise<Collected> => {
    const [asking, at] = [client(), now()];
    const isPodTime = pods === null || at - pods.at >= shortMs;
    const [found, requested, provided] = await Promise.all([
      nodesOf(asking),
      isPodTime || pods === null ? podsOf(asking) : pods.read,
      providedOf(asking),
    ]);
    if (isPodTime) pods = { read: requested, at };
    nodes = found;
    own = { ...collectedOf(found, requested, provided), access: accessBy(connection) };
    const next = asked === null ? own : withCommand(own, await asked.about(own.properties, answered));
    due = at + (next.missing.length > 0 || !isPodTime ? shortMs : holdsMs);
    return tell(next);
  };
  const answered = (end: ProgramEnd): void => {
    if (own === null) return;
    const next = withCommand(own, end);
    if (next.missing.length > 0) due = Math.min(due, now() + shortMs);
    tell(next);
  };
  return {
    collect() {
      if (told !== null && now() < due) return Promise.resolve(told);
      running ??= read().finally(() => {
        running = null;
      });
      return running;
    },
    async probe() {
      if (nodes === null || nodes.nodes === null || !changes.isCalm()) return false;
      // Whether the member answers at all is found out elsewhere.
      const count = await nodeCountOf(client()).catch(() => null);
      const isOther = count !== null && count !== nodes.nodes.length;
      if (isOther) due = 0;
      return isOther;
    },
    steady(read) {
      steady = changes.believed(steady, read, sameMap);
      return steady;
    },
    namespaces: newNamespaceReader(now, client),
  };
}

/** The operator's command, which only the first look waits for. */
interface AskedAside {
  /** How it ended last; when it has ended again, `then` is told. */
  about(known: MemberProperties, then: (end: ProgramEnd) => void): Promise<ProgramEnd>;
}

/** Asks the command once at a time: what it says counts when it comes, and nobody waits for it who knows what it said before. */
function askedAside(command: PropertyCommand): AskedAside {
  let last: ProgramEnd | null = null;
  let isAsked = false;
  return {
    async about(known, then) {
      if (last === null) {
        last = await command(known);
        return last;
      }
      if (!isAsked) {
        isAsked = true;
        void command(known).then((end) => {
          [last, isAsked] = [end, false];
          then(end);
        });
      }
      return last;
    },
  };
}

const accessBy = (connection: CollectorOptions["connection"]): MemberProperties =>
  connection === undefined ? noProperties : accessProperties(connection.server, connection.authority());

interface NodesRead {
  readonly nodes: readonly NodeFacts[] | null;
  readonly missing: readonly MissingFacts[];
}

interface PodsRead {
  readonly requested: ReturnType<typeof requestedBy> | null;
  readonly missing: readonly MissingFacts[];
}

interface ProvidedRead {
  readonly provided: Collected["provided"];
  readonly missing: readonly MissingFacts[];
}

function collectedOf(
  { nodes, missing: noNodes }: NodesRead,
  { requested, missing: noPods }: PodsRead,
  { provided, missing: noProvided }: ProvidedRead,
): Collected {
  const available = nodes === null || requested === null ? [] : availableProperties(nodes, requested);
  return {
    properties: nodes === null ? noProperties : new Map([...nodeProperties(nodes), ...available]),
    provided,
    machines: nodes === null ? [] : machinesOf(nodes),
    labels: nodes === null ? noProperties : nodeLabels(nodes),
    missing: [...noNodes, ...noPods, ...noProvided],
  };
}

/** What the operator's command says counts where the ConfigMap says nothing. */
function withCommand(own: Collected, end: ProgramEnd): Collected {
  const said = end.kind === "failed" ? { wrong: end.why } : providedByText(end.text);
  if ("properties" in said) return { ...own, provided: new Map([...said.properties, ...own.provided]) };
  const message = `the property command is of no use: it ${said.wrong.replace(/^it /, "")}`;
  return { ...own, missing: [...own.missing, { source: "providers", code: "CollectionFailed", message }] };
}

async function nodesOf(client: Client): Promise<NodesRead> {
  const listed = await attempted({ source: "nodes", called: "nodes", grant: "list on nodes" }, () =>
    client.list({ path: nodesPath, most: mostNodes, keep: (page) => page.map(reducedNode) }),
  );
  if (listed.kind === "missing") return { nodes: null, missing: [listed.missing] };
  return { nodes: listed.done.items.map(nodeFactsOf), missing: [] };
}

async function podsOf(client: Client): Promise<PodsRead> {
  const path = "/api/v1/pods";
  const listed = await attempted({ source: "pods", called: "pods", grant: "list on pods" }, () =>
    client.list({ path, fieldSelector: requestingPods, most: mostPods, keep: summedPods }),
  );
  if (listed.kind === "missing") return { requested: null, missing: [listed.missing] };
  return { requested: requestedBy(listed.done.items), missing: [] };
}

const providedPath = `/api/v1/namespaces/${systemNamespace}/configmaps/${propertiesMap}`;

async function providedOf(client: Client): Promise<ProvidedRead> {
  const called = `the ConfigMap ${systemNamespace}/${propertiesMap}`;
  const grant = `get on configmaps in the namespace ${systemNamespace}`;
  const found = await attempted({ source: "providers", called, grant }, async () => {
    const answer = await client.request({ method: "GET", path: providedPath });
    return answer.kind === "refused" && answer.status === 404 ? none : answer;
  });
  if (found.kind === "missing") return { provided: noProperties, missing: [found.missing] };
  if (found.done === none) return { provided: noProperties, missing: [] };
  const read = providedByMap(found.done.body);
  if ("properties" in read) return { provided: read.properties, missing: [] };
  const message = `${called} cannot be used: ${read.wrong}`;
  return { provided: noProperties, missing: [{ source: "providers", code: "CollectionFailed", message }] };
}

const none = { kind: "none", body: {} } as const;

const nodesPath = "/api/v1/nodes";

/** How many nodes there are, from a page of one; null where the member does not say. */
async function nodeCountOf(client: Client): Promise<number | null> {
  const query = { limit: "1" };
  const answer = await client.request({ method: "GET", path: nodesPath, query, accept: metadataListOnly });
  if (answer.kind === "refused") return null;
  const shown = listAt(answer.body, "items").length;
  const remaining = memberAt(answer.body, "metadata", "remainingItemCount");
  if (typeof remaining === "number") return shown + remaining;
  return (textOf(memberAt(answer.body, "metadata", "continue")) ?? "") === "" ? shown : null;
}

/** Nothing new: then the same object stands for both, and whoever holds it sees that. */
const isSame = (a: Collected, b: Collected): boolean =>
  sameMap(a.properties, b.properties) &&
  sameMap(a.provided, b.provided) &&
  sameMap(a.labels, b.labels) &&
  sameMap(a.access ?? noProperties, b.access ?? noProperties) &&
  JSON.stringify([a.machines, a.missing]) === JSON.stringify([b.machines, b.missing]);
