import type { ForgeFinding, ReviewQuestion } from "../../core/model/history.ts";
import type { World } from "../../core/model/plan.ts";
import { type Instant, later, minutes } from "../../core/model/value.ts";
import { reviewsToAsk } from "../../core/plan/approval/reviews.ts";
import type { Memory, RecentReview } from "./memory.ts";
import type { Ports } from "./ports.ts";

/** Questions per pass, and how many run at once. */
const mostAsked = 50;
const atOnce = 25;

/** How long a finding is kept: a forge that is down, or limits requests, is not asked in every pass. */
const rest = minutes(1);

/**
 * Asks the forge about the approval files for which that may matter, and about nothing else
 * (`trust/README.md#merged-pull-requests`).
 *
 * The same world (`===`) where nothing is asked. Once a forge does not answer, the questions after those that are under
 * way wait for a later pass: a forge that is down holds up a pass once a minute, and never for longer than two
 * questions.
 */
export async function withReviews(
  ports: Pick<Ports, "forge">,
  { history: memory }: Memory,
  world: World,
): Promise<World> {
  const questions = reviewsToAsk(world);
  forgetOthers(memory.reviews, questions);
  if (questions.length === 0) return world;
  const { now, history } = world;
  const known = (it: ReviewQuestion): RecentReview | undefined => {
    const found = memory.reviews.get(keyOf(it));
    return found !== undefined && now < found.until ? found : undefined;
  };
  // Least recently asked first, so that one without an answer does not block the others.
  const open = questions
    .filter((it) => known(it) === undefined)
    .sort((a, b) => (memory.reviews.get(keyOf(a))?.until ?? 0) - (memory.reviews.get(keyOf(b))?.until ?? 0));
  const isDown = questions.some((it) => known(it)?.finding.kind === "unavailable");
  const answers = isDown ? [] : await asked(ports, open.slice(0, mostAsked));
  for (const [question, finding] of answers) memory.reviews.set(keyOf(question), { finding, until: later(now, rest) });
  const reviews = new Map(questions.map((it) => [it.path, known(it)?.finding ?? waits]));
  return { ...world, history: { ...history, reviews, reviewsAt: nextTry(reviews, questions.map(known), now) } };
}

const keyOf = ({ path, blob, introducer }: ReviewQuestion): string => `${introducer} ${blob} ${path}`;

const waits: ForgeFinding = { kind: "unavailable", because: "other approvals are checked with the forge first" };

const nobody: ForgeFinding = {
  kind: "unavailable",
  because:
    "only a review on the forge can prove it, and no forge is configured here; flotilla reconcile --forge URL asks it",
};

async function asked(
  { forge }: Pick<Ports, "forge">,
  questions: readonly ReviewQuestion[],
): Promise<readonly (readonly [ReviewQuestion, ForgeFinding])[]> {
  if (forge === undefined) return questions.map((it) => [it, nobody]);
  const answers: (readonly [ReviewQuestion, ForgeFinding])[] = [];
  for (let first = 0; first < questions.length; first += atOnce) {
    const some = questions.slice(first, first + atOnce);
    const found = await Promise.all(some.map(async (it) => [it, await forge.review(it)] as const));
    answers.push(...found);
    if (found.some(([, it]) => it.kind === "unavailable")) break;
  }
  return answers;
}

/** When any of what could not be said now is asked again; null when everything was. */
function nextTry(
  reviews: ReadonlyMap<string, ForgeFinding>,
  known: readonly (RecentReview | undefined)[],
  now: Instant,
): Instant | null {
  if (![...reviews.values()].some((it) => it.kind === "unavailable")) return null;
  const until = known.flatMap((it) => (it?.finding.kind === "unavailable" ? [it.until] : []));
  return until.length === 0 ? later(now, rest) : (Math.min(...until) as Instant);
}

function forgetOthers(reviews: Map<string, RecentReview>, questions: readonly ReviewQuestion[]): void {
  const wanted = new Set(questions.map(keyOf));
  for (const key of reviews.keys()) if (!wanted.has(key)) reviews.delete(key);
}
