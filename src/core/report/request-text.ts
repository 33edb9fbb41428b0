import type { Ledger, PlacementRecord, SnapshotResource } from "../model/ledger.ts";
import { type ObjectId, objectKey } from "../model/manifest.ts";
import { type AnswerRecord, type ApprovalFile, type Authors, approversText, type Judgement } from "../model/trust.ts";
import { type ClusterName, type Digest, type Instant, instantText } from "../model/value.ts";
import {
  type ApprovalRequest,
  type ChangeApprovalRequest,
  type GateApprovalRequest,
  requestedPlacement,
  requestState,
  requestSubject,
} from "../plan/approval/approval-request.ts";
import { approvalPathPrefix } from "./approval-files.ts";
import { type ApprovalContext, approvalContext, requestVerdict, rulesOn } from "./approval-status.ts";
import { quantity } from "./phrases.ts";
import { changesIn, endedOn, fateLine, fatesOn, type RequestContent, rowLines } from "./request-changes.ts";
import { becomes, fateTexts, othersLines } from "./request-page.ts";
import { protectionText, ruleText } from "./trust-text.ts";

/**
 * Everything that approving a request would allow, by the record: which versions go to which clusters in which order,
 * what happens to which objects, and who changed them. With the request's content, by each cluster's real changes;
 * without it, by the versions, where overrides may drop or change some objects.
 */
export function requestLines(
  ask: ApprovalRequest,
  ledger: Ledger,
  view: RequestContent | null = null,
): readonly string[] {
  const { request } = ask;
  const record = requestedPlacement(ask, ledger);
  return [
    `fleet ${ledger.fleet}`,
    ask.kind === "gate"
      ? `run ${ask.run.key} of placement ${ask.run.spec.placement}: ${ask.when} stage ${ask.stage.name}`
      : `placement ${ask.record.key}: a change to something protected`,
    ...(ask.kind === "gate" ? [`plan ${ask.plan.root}, resource snapshot ${ask.plan.resourceIndex}`] : []),
    `requested at ${instantText(request.requestedAt)}`,
    `digest ${request.digest}`,
    `nonce ${request.nonce}`,
    ...(ask.kind === "gate" ? gateLines(ask, record, { view, ledger }) : changeLines(ask, { view, ledger })),
    `changed by: ${authorsText(request.authors)}`,
  ];
}

function gateLines(ask: GateApprovalRequest, record: PlacementRecord | null, sight: Sight): readonly string[] {
  const { plan, stage, when } = ask;
  const clusters = stage.clusters.map((it) => it.cluster);
  const order = `${quantity(clusters.length, "cluster")}, in this order: ${clusters.join(", ")}`;
  if (when === "after") return [order, `what they run stays; after it ${nextText(ask)}`];
  const arrivals = stage.clusters.map(({ cluster, digest, clusterOverrides, resourceOverrides }): Arrival => {
    const target = record?.bindings.get(cluster)?.target ?? null;
    const isSame = target !== null && target.digest === digest;
    return { cluster, to: plan.resourceIndex, isSame, overrides: [...clusterOverrides, ...resourceOverrides] };
  });
  const leaving =
    plan.deletions.length === 0 ? [] : [`after all stages the placement is removed from: ${plan.deletions.join(", ")}`];
  return [order, ...moveLines(arrivals, ask, record, sight), ...overrideLines(arrivals), ...leaving];
}

function nextText({ plan, stage }: GateApprovalRequest): string {
  const next = plan.stages[plan.stages.indexOf(stage) + 1];
  if (next !== undefined) return `comes stage ${next.name}: ${next.clusters.map((it) => it.cluster).join(", ")}`;
  return plan.deletions.length === 0
    ? "the run ends"
    : `the placement is removed from the clusters that are no longer picked: ${plan.deletions.join(", ")}`;
}

/** Towards the newest version: overrides alone may be what changes, too. */
function changeLines(ask: ChangeApprovalRequest, sight: Sight): readonly string[] {
  const { record } = ask;
  const { clusters, others } = ask.change;
  // Where others' objects go along, all else is decided already.
  const decided = new Set(others.map((it) => it.cluster));
  const latest = record.resourceSnapshots.at(-1)?.index ?? null;
  const moved = [...clusters].filter(([cluster]) => !decided.has(cluster));
  const arrivals = moved.map(([cluster, content]): Arrival => {
    return { cluster, to: content === null ? null : latest, isSame: false, overrides: [] };
  });
  const contents = moved.flatMap(([cluster, it]) => (it === null ? [] : [`  ${cluster}: content ${it}`]));
  return [
    `${quantity(clusters.size, "cluster")}: ${[...clusters.keys()].join(", ")}`,
    ...moveLines(arrivals, ask, record, sight),
    ...contents,
    ...others.flatMap(othersLines),
  ];
}

/** A cluster and what it would run. */
interface Arrival {
  readonly cluster: ClusterName;
  /** Null where the placement leaves. */
  readonly to: number | null;
  /** It runs identical manifests already, from another version. */
  readonly isSame: boolean;
  readonly overrides: readonly string[];
}

/** What is known in addition to the request. */
interface Sight {
  readonly view: RequestContent | null;
  readonly ledger: Ledger;
}

/** Clusters with the same changes grouped, in the order of the first of each group. */
function moveLines(
  arrivals: readonly Arrival[],
  ask: ApprovalRequest,
  record: PlacementRecord | null,
  { view, ledger }: Sight,
): readonly string[] {
  const { groups: moves } = changesIn(ask, view, ledger);
  const ways = new Map<string, { readonly arrival: Arrival; readonly from: number | null; clusters: ClusterName[] }>();
  for (const arrival of arrivals) {
    const { cluster, to, isSame } = arrival;
    const from = record?.bindings.get(cluster)?.target?.resourceIndex ?? null;
    const at = moves.findIndex((it) => it.clusters.includes(cluster));
    const versions = { from: resourcesOf(record, from), to: resourcesOf(record, to) };
    const move = at < 0 && !isSame ? fatesText(ask, cluster, { ...versions, ledger }) : at;
    const key = `${from} ${to} ${isSame} ${move}`;
    const way = ways.get(key) ?? { arrival, from, clusters: [] };
    ways.set(key, way);
    way.clusters.push(cluster);
  }
  return [...ways.values()].flatMap(({ arrival: { cluster, to, isSame }, from, clusters }) => {
    if (isSame && from === to) return [`resource snapshot ${to}, which they run already: ${clusters.join(", ")}`];
    const head = `${wayText(from, to)}: ${clusters.join(", ")}`;
    if (isSame) return [`${head} (the manifests are the same)`];
    const move = moves.find((it) => it.clusters.includes(cluster));
    if (move !== undefined) return [head, ...rowLines(move)];
    const leaves = fatesOn(ask, cluster, ledger);
    const versions = { from: resourcesOf(record, from), to: resourcesOf(record, to), leaves };
    return [head, ...differenceLines({ ...versions, ended: endedOn(ask, cluster) })];
  });
}

/** Groups clusters by what happens to their leaving objects, when nothing else is known. */
function fatesText(
  ask: ApprovalRequest,
  cluster: ClusterName,
  { from, to, ledger }: Pick<Versions, "from" | "to"> & Pick<Sight, "ledger">,
): string {
  if (ask.kind === "change") return (ask.change.leaves.get(cluster) ?? []).map(becomes).join();
  if (from === "unknown" || to === "unknown" || from === to) return "";
  const fateOf = fatesOn(ask, cluster, ledger);
  const after = new Set(to.map((it) => objectKey(it.id)));
  return from.flatMap(({ id }) => (after.has(objectKey(id)) ? [] : becomes(fateOf(id)))).join();
}

function wayText(from: number | null, to: number | null): string {
  if (to === null) return from === null ? "removed; nothing was there" : `removed, from resource snapshot ${from}`;
  if (from === null) return `new, to resource snapshot ${to}`;
  return from === to
    ? `resource snapshot ${to}, with another override or strategy`
    : `resource snapshot ${from} to ${to}`;
}

type Resources = readonly SnapshotResource[] | "unknown";

const resourcesOf = (record: PlacementRecord | null, index: number | null): Resources =>
  index === null ? [] : (record?.resourceSnapshots.find((it) => it.index === index)?.resources ?? "unknown");

interface Versions {
  readonly from: Resources;
  readonly to: Resources;
  readonly leaves: ReturnType<typeof fatesOn>;
  readonly ended: readonly ObjectId[];
}

/** By the versions alone, without overrides. */
function differenceLines({ from, to, leaves, ended }: Versions): readonly string[] {
  if (to === "unknown") return ["  what it holds is no longer on record"];
  const before = new Map((from === "unknown" ? [] : from).map((it) => [objectKey(it.id), it]));
  const after = new Set(to.map((it) => objectKey(it.id)));
  const come = to.flatMap((it) => {
    const was = before.get(objectKey(it.id));
    if (was === undefined) return [`${fateLine("created", it.id)} ${short(it.digest)}`];
    return was.digest === it.digest
      ? []
      : [`${fateLine("changed", it.id)} ${short(was.digest)} to ${short(it.digest)}`];
  });
  const went = ended.filter((it) => !before.has(objectKey(it))).map((it) => ({ ...it, version: "" }));
  const go = [...[...before.values()].map((it) => it.id), ...went]
    .filter((it) => !after.has(objectKey(it)))
    .map((id) => {
      const it = leaves(id);
      return fateLine(fateTexts[it.fate], id, it.fate === "handOver" ? it.to : null);
    });
  const unknown = from === "unknown" ? ["  what they run now is no longer on record: all of it counts as new"] : [];
  const all = [...unknown, ...come, ...go];
  return all.length === 0 ? ["  the same objects; what an override or the strategy changes of them is not shown"] : all;
}

const short = (digest: Digest): string => digest.slice(0, 12);

function overrideLines(arrivals: readonly Arrival[]): readonly string[] {
  const all = new Map<string, string[]>();
  for (const { cluster, overrides } of arrivals)
    if (overrides.length > 0) all.set(overrides.join(", "), [...(all.get(overrides.join(", ")) ?? []), cluster]);
  return [...all].map(([overrides, clusters]) => `overrides ${overrides}: ${clusters.join(", ")}`);
}

function authorsText({ principals, unknown }: Authors): string {
  const unsigned = unknown === 0 ? [] : [`${quantity(unknown, "change")} without a signature`];
  const all = [...principals, ...unsigned];
  return all.length === 0 ? "nobody on record" : all.join(", ");
}

/** The rules of a request, one per line; without a trust file no signature is needed. */
export function ruleLines(ask: ApprovalRequest, context: ApprovalContext | null): readonly string[] {
  if (context === null) return ["rules: none; there is no trust file, and nobody has to sign"];
  const rules = rulesOn(ask, context);
  if (rules.length === 0) return ["rules: none applies, so nobody may approve this"];
  const { targets } = requestSubject(ask, context.ledger, context.trust);
  // Protection comes last, a rule for each target.
  const lines = rules.map((it, at) => {
    const target = targets[at - rules.length + targets.length];
    return target === undefined ? ruleText(it) : protectionText(target, it);
  });
  return ["rules, all of which must be met:", ...lines.map((it) => `  ${it}`)];
}

/** The state of a request: its answers, which of them do not count and why, and what is missing. */
export function standingLines(ask: ApprovalRequest, ledger: Ledger, now: Instant): readonly string[] {
  const context = approvalContext(ledger, now);
  const { approval } = ask.request;
  const missing = context !== null && requestState(ask) === "open" ? [verdictText(ask, context)] : [];
  const given = approval === null ? [] : [`granted at ${instantText(approval.at)} by ${approversText(approval)}`];
  return [...answerLines(ask, ledger), ...missing, ...given];
}

/** The answers to a request, and those at its paths that do not count; none from before there was a trust file. */
export function answerLines(ask: ApprovalRequest, { answers }: Pick<Ledger, "answers">): readonly string[] {
  const accepted = new Set(ask.request.approval?.by.map((it) => it.path));
  return [...answers.values()]
    .filter(({ file, judgement }) =>
      judgement.kind === "denied"
        ? !accepted.has(file.path) && (file.digest === ask.request.digest || isMeantFor(file, ask))
        : file.digest === ask.request.digest,
    )
    .map(answerLine);
}

export function verdictText(ask: ApprovalRequest, context: ApprovalContext): string {
  const verdict = requestVerdict(ask, context);
  switch (verdict.kind) {
    case "approved":
      return `approved by ${verdict.approvals.map((it) => it.principal).join(" and ")}`;
    case "rejected":
      return `rejected by ${verdict.by} (${verdict.path})${verdict.comment === "" ? "" : `: ${verdict.comment}`}`;
    case "waiting":
      return verdict.because;
  }
}

const isMeantFor = ({ path }: Pick<ApprovalFile, "path">, ask: ApprovalRequest): boolean =>
  path.startsWith(`${approvalPathPrefix(ask)}.`);

function answerLine({ file: { path, principal, decision }, judgement }: AnswerRecord): string {
  if (judgement.kind === "denied")
    return `${path} of ${principal} does not count: ${judgement.code}: ${judgement.because}`;
  return `${done[decision]} by ${principal} at ${instantText(judgement.at)} (${keysText(judgement)}; ${path})`;
}

const done = { Approve: "approved", Reject: "rejected", Revoke: "withdrawn" } as const;

const keysText = ({ proofs }: Judgement & { readonly kind: "counts" }): string =>
  [...new Set(proofs.map((it) => it.key))].join(", ");
