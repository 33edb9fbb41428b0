import { isDeepStrictEqual } from "node:util";
import { memberAt } from "../../src/core/model/json.ts";
import type { Reason } from "../../src/core/model/reason.ts";
import { answer, finishRuns, helpRuns, runMayGoOn } from "./converge-runs.ts";
import { type Document, homeOf, isExternal, namespacesOf, optionsOf, pathOf } from "./people/document.ts";
import { type Draft, ledgerAt } from "./people/people.ts";
import { contentsFor, differences } from "./rules/expected.ts";
import type { Simulation } from "./simulation.ts";
import { defaultPass, type PassOptions, type Step } from "./step.ts";
import { objectsAt } from "./world/observed-objects.ts";

/** Passes within which a calm world comes to rest. */
const enough = 60;

/**
 * The weather clears, people do their part, and passes follow each other until one has nothing to do. Then everything
 * must be as it was asked for (I-16), and two more passes, one of a process that knows nothing, write nothing (I-14,
 * I-23).
 */
export async function converge(simulation: Simulation): Promise<void> {
  await clear(simulation);
  await mend(simulation);
  if (!(await settle(simulation))) return;
  const ledger = simulation.ledger();
  if (ledger === null) return;
  for (const it of differences(simulation, simulation.people.draft, ledger)) simulation.complain("I-16", it);
  if (!isDeepStrictEqual(ledgerAt(simulation.hub, simulation.hub.state), ledger))
    simulation.complain("I-21", "the record does not read back as it was decided");
  for (const by of ["calm", "fresh"]) {
    const effects = simulation.effects;
    const outcome = await simulation.step(passBy(by));
    // A pass that came to nothing shows nothing.
    if (outcome?.kind !== "result" || outcome.result.kind !== "passed")
      simulation.complain("I-16", `a pass by ${by} over a world at rest does not come to its end`);
    const more = simulation.effects - effects;
    if (more > 0) simulation.complain("I-14", `a pass over a world at rest has ${more} effects`);
  }
}

const passBy = (by: string, patience: PassOptions["patience"] = "retryAt"): Step => ({
  do: "pass",
  by,
  ...defaultPass,
  flush: true,
  patience,
});

/** Everything that is wrong with the hub and the members is put right, and who stood still goes on. */
async function clear(simulation: Simulation): Promise<void> {
  await simulation.step({ do: "hub", is: "well" });
  await simulation.step({ do: "plant", placement: "" });
  if (simulation.skew !== 0) await simulation.step({ do: "jump", ms: -simulation.skew });
  for (const name of simulation.names) await simulation.step({ do: "member", name, is: "well" });
  for (const by of simulation.processes.held) await simulation.step({ do: "resume", by });
  for (const name of simulation.names) {
    await simulation.step({ do: "pace", name, ms: 0 });
    // Other lies change nothing any more.
    if (simulation.site(name).lie === "changing") await simulation.step({ do: "lie", name, how: "none" });
    await simulation.step({ do: "readdress", name, to: name });
    for (const object of simulation.site(name).rivals.keys())
      await simulation.step({ do: "fight", name, object, value: "" });
    for (const { place, object } of objectsAt(simulation.site(name))) {
      if (memberAt(object, "metadata", "finalizers") === null) continue;
      const text = `${place.kind} ${place.namespace === null ? "" : `${place.namespace}/`}${place.name}`;
      await simulation.step({ do: "meddle", name, how: "release", object: text, value: "" });
    }
  }
  // Longer than the slowest controller takes, and than anything is under way.
  await simulation.step({ do: "wait", ms: 1_200_000 });
}

/** People mend what is broken. */
async function mend(simulation: Simulation): Promise<void> {
  const { people } = simulation;
  for (const [path, it] of [...people.draft]) if (it.kind === "broken") people.erase(path);
  // First of all: what they ask for is in the way of others as well.
  for (const [path, it] of lastUsable(simulation)) if (!people.draft.has(path)) people.write(it);
  for (const path of homelessTeams(people.draft)) people.erase(path);
  for (const it of [...people.draft.values()]) people.write(mended(it, people.draft));
  // What was broken is there again: a run needs every cluster that its placement asks for.
  for (const it of [...people.draft.values()])
    if (it.kind === "placement" && isExternal(it)) people.write({ ...it, policy: mendedPolicy(it, people.draft) });
  finishRuns(simulation);
  // A repository without any object is not believed, and members may have to leave it for a while.
  if (![...people.draft.values()].some(staysThere))
    people.write({ kind: "manifest", object: "Namespace spare", value: "0" });
  // What is in quarantine is planned again with another commit.
  if ((simulation.ledger()?.quarantines.size ?? 0) > 0)
    people.write({ kind: "manifest", object: "Namespace spare", value: "1" });
  await simulation.step({ do: "push" });
  const { approvers } = simulation;
  const trusted = simulation.ledger()?.trust?.text ?? approvers.first?.text ?? null;
  if (trusted !== null && approvers.textAt(simulation.hub.source) !== trusted) {
    simulation.hit("trust file restored");
    approvers.restore(trusted);
  }
  await simulation.step({ do: "accept" });
}

/** The address of a member answers for another cluster, and people say that this is the one: it leaves and joins. */
async function rejoin(simulation: Simulation, name: string): Promise<boolean> {
  const { people } = simulation;
  const document = people.draft.get(`clusters/${name}.yaml`);
  if (document === undefined) return false;
  people.erase(`clusters/${name}.yaml`);
  await simulation.step({ do: "push" });
  await simulation.step(passBy("calm"));
  people.write(document);
  await simulation.step({ do: "push" });
  return true;
}

const staysThere = ({ kind }: Document): boolean => ["manifest", "placement", "override"].includes(kind);

/** Of files that are broken now, what they said when they were not. */
function lastUsable({ people }: Simulation): ReadonlyMap<string, Document> {
  const broken = new Set<string>();
  const latest = people.pushed.at(-1);
  for (const [path, it] of latest === undefined ? [] : people.at(latest)) if (it.kind === "broken") broken.add(path);
  const found = new Map<string, Document>();
  for (const commit of [...people.pushed].reverse())
    for (const [path, it] of people.at(commit))
      if (broken.has(path) && it.kind !== "broken" && !found.has(path)) found.set(path, it);
  return found;
}

/**
 * A document that nothing stands in the way of: no taints, healthy images, no namespace asked for twice, and what a team
 * places left to it.
 */
function mended(document: Document, said: Draft): Document {
  switch (document.kind) {
    case "manifest":
      return { ...document, value: document.value.replace(/^(broken|crash)-/, "") };
    case "cluster":
      return { ...document, words: document.words.replaceAll(/\s*taint:\S+/g, "") };
    case "placement": {
      const home = homeOf(document);
      if (home !== null)
        return { ...document, policy: policyAround(home, said) ?? document.policy, options: "unavailable=100%" };
      const own = namespacesOf(document).filter((it) => askerOf(it, said) === document.name);
      const alone = own.filter((space) => teamsIn(said).some((it) => homeOf(it) === space));
      const options = [...optionsOf(document.options)].filter(([key]) => !inTheWay.has(key));
      const words = options.map(([key, value]) => (key === value ? key : `${key}=${value}`));
      return {
        ...document,
        policy: mendedPolicy(document, said),
        options: [
          `ns=${own.join(",") || document.name}`,
          ...(alone.length > 0 ? [`only=${alone.join(",")}`] : []),
          ...words,
        ].join(" "),
      };
    }
    default:
      return document;
  }
}

/** Of those that ask for a namespace, whose it is: of its own name, or the last by name. */
function askerOf(space: string, said: Draft): string | undefined {
  const asking = [...said.values()].flatMap((it) =>
    it.kind === "placement" && namespacesOf(it).includes(space) ? it.name : [],
  );
  return asking.find((it) => it === space) ?? asking.sort().at(-1);
}

/** Where fewer clusters can be found than are asked for, what there is may not go. */
function mendedPolicy(placement: Extract<Document, { kind: "placement" }>, said: Draft): string {
  const { policy } = placement;
  const members = [...said.values()].flatMap((it) => (it.kind === "cluster" ? [it.name] : []));
  if (policy.startsWith("PickN ") && isExternal(placement))
    return `PickN ${Math.min(Number(/\d+/.exec(policy)?.[0]), members.length)}`;
  if (!policy.startsWith("PickFixed ")) {
    const [kind = "", ...rest] = policy.split(" ");
    const kept = rest.filter((it) => /^(?:\d+|sort:.*|spread:.*:any|.*=.*)$/.test(it));
    return [kind, ...(kind === "PickN" ? kept.filter((it) => !it.includes("=")) : kept)].join(" ");
  }
  const named = policy
    .slice("PickFixed ".length)
    .split(",")
    .filter((it) => members.includes(it));
  return `PickFixed ${(named.length > 0 ? named : members.slice(0, 1)).join(",") || "m1"}`;
}

type Placement = Extract<Document, { kind: "placement" }>;

const teamsIn = (said: Draft): readonly Placement[] =>
  [...said.values()].filter((it): it is Placement => it.kind === "placement" && homeOf(it) !== null);

/** The policy of whoever places a namespace for good, if it goes wherever that policy says. */
function policyAround(space: string, said: Draft): string | null {
  const asker = askerOf(space, said);
  const document = asker === undefined ? undefined : said.get(`placements/${asker}.yaml`);
  if (
    document?.kind !== "placement" ||
    !said.has(pathOf({ kind: "manifest", object: `Namespace ${space}`, value: "" }))
  )
    return null;
  const policy = mendedPolicy(document, said);
  return policy.startsWith("PickAll") ? policy : null;
}

/** Teams whose namespace nobody places, or not for certain where they are. */
const homelessTeams = (said: Draft): readonly string[] =>
  teamsIn(said).flatMap((it) => (policyAround(homeOf(it) ?? "", said) === null ? [pathOf(it)] : []));

/** Options that let a placement wait for what others do, and where it is placed twice. */
const inTheWay: ReadonlySet<string> = new Set(["ns", "only", "never", "if-no-diff", "server-side"]);

/** Passes until one has nothing to do and waits for nothing; false when there is none. */
async function settle(simulation: Simulation): Promise<boolean> {
  let patience = 61_000;
  let isImpatient = false;
  for (let count = 0; count < enough && simulation.violations.length === 0; count++) {
    const effects = simulation.effects;
    const outcome = await simulation.step(passBy("calm", isImpatient ? "none" : "retryAt"));
    if (outcome?.kind !== "result" || outcome.result.kind !== "passed") continue;
    const { reasons, wakeAt, refusal } = outcome.result.plan;
    const isStill = simulation.effects === effects;
    const isHelped =
      (await help(simulation, reasons)) ||
      (isStill && (await loosen(simulation, reasons))) ||
      (await helpRuns(simulation, reasons, isStill && wakeAt === null));
    if (isStill && !isHelped && refusal === null && wakeAt === null && !reasons.some(isWaiting)) return true;
    // Deadlines and slow workloads are waited for in longer and longer steps.
    // A daemon asks once in a while for what a member would not do.
    isImpatient = isStill && !isImpatient;
    patience = isStill ? Math.min(2 * patience, 1_200_000) : 61_000;
    await simulation.step({ do: "wait", ms: patience });
  }
  if (simulation.violations.length === 0) simulation.complain("I-16", `${enough} passes in calm weather, and no rest`);
  return false;
}

/** Whether time alone may change something. */
const isWaiting = (reason: Reason): boolean =>
  reason.kind === "protected" ||
  ["awaitingHealth", "unhealthy", "heldBack", "applying", "applyFailed", "leaving"].includes(reason.kind) ||
  runMayGoOn(reason);

/** What people do when they read why nothing more happens: confirm, and clear away what nobody explains. */
async function help(simulation: Simulation, reasons: readonly Reason[]): Promise<boolean> {
  let isHelped = false;
  if (reasons.some((it) => it.kind === "confirmationNeeded")) {
    await simulation.step({ do: "confirm" });
    await simulation.step({ do: "push" });
    isHelped = true;
  }
  if (reasons.some((it) => it.kind === "protected" && it.digest !== null)) {
    await answer(simulation);
    isHelped = true;
  }
  for (const it of reasons) {
    if (it.kind === "sourceHeld" && it.code === "HistoryRewritten") {
      await simulation.step({ do: "accept" });
      isHelped = true;
    }
    if (it.kind === "orphans") isHelped = clearAway(simulation, it.cluster, it.placement) || isHelped;
    if (it.kind === "unreachable" && it.code === "IdentityChanged")
      isHelped = (await rejoin(simulation, it.cluster)) || isHelped;
  }
  return isHelped;
}

/** Two placements that exchange objects on several clusters, each within its budget, wait until somebody allows more. */
async function loosen(simulation: Simulation, reasons: readonly Reason[]): Promise<boolean> {
  const { people } = simulation;
  const exchanges = reasons.flatMap((it) => {
    if (it.kind === "wantedTwice") return it.isLettingGo ? [[it.placement, it.keeper]] : [];
    return it.kind === "waitingForHandOver" ? [[it.placement, it.to]] : [];
  });
  const crossed = exchanges.length > 1;
  const exchanging = new Set(exchanges.flat());
  const isRefused = reasons.some((it) => it.kind === "applyFailed" && it.code === "FailedToTakeOver");
  let isLoosened = false;
  for (const it of crossed && isRefused ? reasons : []) {
    if (it.kind !== "heldBack" || !exchanging.has(it.placement)) continue;
    const document = people.draft.get(`placements/${it.placement}.yaml`);
    if (document?.kind !== "placement" || optionsOf(document.options).get("unavailable") === "100%") continue;
    const words = document.options.split(" ").filter((word) => !word.startsWith("unavailable="));
    people.write({ ...document, options: [...words, "unavailable=100%"].join(" ") });
    simulation.hit("budgets of two that exchange objects");
    isLoosened = true;
  }
  if (isLoosened) await simulation.step({ do: "push" });
  return isLoosened;
}

function clearAway(simulation: Simulation, cluster: string, placement: string): boolean {
  const { people } = simulation;
  const document = people.draft.get(`clusters/${cluster}.yaml`);
  const ledger = simulation.ledger();
  if (document?.kind !== "cluster" || ledger === null) return false;
  const own = people.draft.get(`placements/${placement}.yaml`);
  const wanted = contentsFor(document, { said: people.draft, ledger, of: own?.kind === "placement" ? [own] : [] });
  const site = simulation.siteAt(cluster);
  const orphans = objectsAt(site).filter(
    (it) => it.mark?.placement === placement && !wanted.has(it.key) && !it.isTerminating,
  );
  for (const { place } of orphans) site.handle.remove(place);
  return orphans.length > 0;
}
