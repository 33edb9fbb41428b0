import type { PassOptions } from "../step.ts";
import { type Call, type CallKind, effects } from "./call.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What goes wrong with one call. */
export type Fault =
  /** No connection; nothing happened. */
  | "refused"
  /** No answer, and nothing happened. */
  | "hangs"
  /** It happened, and the answer is lost. */
  | "lost"
  /** It happened, and the kept connection broke: the client sends it again. */
  | "torn"
  /** No answer in time; it happens when nobody thinks of it any more. */
  | "late"
  /** For once, it is not allowed: who may do what is being edited. */
  | "403"
  | "429"
  | "500"
  | "503"
  /** The server gave up waiting for itself: it happened. */
  | "504"
  /** A hook or a rule of the hub refuses the push. */
  | "hook";

/** A place among the calls of one pass: the second apply. `effect` counts all effects, `call` all calls. */
interface CallPosition {
  readonly of: CallKind | "effect" | "call";
  readonly number: number;
}

/** How a pass that was begun is getting on. */
export type PassProgress = "running" | "held" | "ended" | "dead";

/**
 * The calls of one pass: counted, and each met by what is to go wrong with it.
 *
 * Once it is dead, nothing that its process still does reaches the world; while it is held, nothing does either.
 */
export class Attempt {
  progress: PassProgress = "running";
  /** Effects that reached the world. */
  effects = 0;
  /** Members that it went on without. */
  readonly unheard = new Set<string>();
  /** Stood still for a while: what it looked at may be old. */
  wasHeld = false;
  /** How long it took; null until it ended. */
  lastedMs: number | null = null;
  /** Nothing has gone wrong with its calls on the way. */
  isSmooth = true;
  /** What its clock said when it had decided; null while it decided nothing. */
  decidedAt: number | null = null;
  readonly writer: string;
  readonly patience: PassOptions["patience"];
  readonly #words: PassOptions;
  readonly #began: number;
  readonly #time: VirtualTime;
  readonly #hit: (what: string) => void;
  readonly #counts = new Map<CallPosition["of"], number>();
  readonly #faults: readonly { readonly fault: Fault; readonly spot: CallPosition }[];
  readonly #crash: { readonly when: string; readonly spot: CallPosition } | null;
  readonly #hold: { readonly when: string; readonly spot: CallPosition } | null;
  readonly #latest = new Map<Call, readonly CallPosition[]>();
  readonly #isAskedAgain = new Set<string>();
  #resume: (() => void)[] = [];
  #isReleased = false;

  constructor(setting: {
    readonly writer: string;
    readonly words: PassOptions;
    readonly hold: string;
    readonly time: VirtualTime;
    readonly hit: (what: string) => void;
  }) {
    this.writer = setting.writer;
    this.patience = setting.words.patience;
    this.#words = setting.words;
    this.#began = setting.time.now;
    this.#time = setting.time;
    this.#hit = setting.hit;
    this.#faults = faultsOf(setting.words.faults);
    this.#crash = momentOf(setting.words.crash);
    this.#hold = momentOf(setting.hold);
  }

  /** Lets a call through to the world, or not: gives what is to go wrong with it, null when nothing is. */
  async meet(call: Call): Promise<Fault | null> {
    if (this.#words.shuffle > 0) await this.#stroll(call);
    await this.#gate();
    const spots = this.#count(call);
    await this.#stop("before", spots, call);
    if (this.#dies("before", spots, call)) return never();
    const found = this.#faults.find(({ spot }) => spots.some((it) => isSame(it, spot)));
    if (found !== undefined) this.isSmooth = false;
    if (effects.has(call.kind)) this.effects++;
    return found?.fault ?? null;
  }

  /**
   * Whether the answer of a member comes when the grace is over. Who founds a branch asks again, and waits.
   */
  isLate(member: string): boolean {
    if (!this.#words.late.split(",").includes(member) || this.#isAskedAgain.has(member)) {
      this.unheard.delete(member);
      return false;
    }
    this.#isAskedAgain.add(member);
    this.unheard.add(member);
    this.#hit("member late");
    return true;
  }

  /** What was to go wrong with a call did go wrong: what never arrives, for example, cannot be answered in vain. */
  strike(fault: Fault, { kind }: Call): void {
    this.#hit(`${fault} ${kind}`);
  }

  /** Lets the answer of a call back to the process, or not. */
  async leave(call: Call): Promise<void> {
    const spots = this.#last(call);
    if (this.progress !== "dead") await this.#stop("after", spots, call);
    if (this.progress === "dead" || this.#dies("after", spots, call)) await never();
  }

  end(now: number): void {
    this.progress = "ended";
    this.lastedMs = now - this.#began;
  }

  resume(): void {
    this.#isReleased = true;
    this.progress = "running";
    for (const go of this.#resume.splice(0)) go();
  }

  async #gate(): Promise<void> {
    while (this.progress === "held") await new Promise<void>((resolve) => this.#resume.push(resolve));
    if (this.progress === "dead") await never();
  }

  /** Between no time and two milliseconds, which decides who comes first. */
  async #stroll({ kind }: Call): Promise<void> {
    const count = (this.#counts.get("call") ?? 0) + this.#words.shuffle * 31 + kind.length;
    const delay = (Math.imul(count, 0x9e3779b1) >>> 13) % 3;
    if (delay > 0) await new Promise<void>((resolve) => void this.#time.after(delay, resolve));
  }

  async #stop(when: string, spots: readonly CallPosition[], { kind }: Call): Promise<void> {
    const hold = this.#hold;
    if (hold === null || this.#isReleased || hold.when !== when || !spots.some((it) => isSame(it, hold.spot))) return;
    this.progress = "held";
    this.wasHeld = true;
    this.#hit(`held ${when} ${kind}`);
    await this.#gate();
  }

  #dies(when: string, spots: readonly CallPosition[], { kind }: Call): boolean {
    const crash = this.#crash;
    if (crash === null || crash.when !== when || !spots.some((it) => isSame(it, crash.spot))) return false;
    this.progress = "dead";
    this.#hit(`crash ${when} ${kind}`);
    return true;
  }

  #count(call: Call): readonly CallPosition[] {
    const kinds: CallPosition["of"][] = ["call", call.kind, ...(effects.has(call.kind) ? (["effect"] as const) : [])];
    const spots = kinds.map((of): CallPosition => {
      const number = (this.#counts.get(of) ?? 0) + 1;
      this.#counts.set(of, number);
      return { of, number };
    });
    this.#latest.set(call, spots);
    return spots;
  }

  #last(call: Call): readonly CallPosition[] {
    return this.#latest.get(call) ?? [];
  }
}

/** A promise of nothing: the process that waits for it is dead. */
const never = (): Promise<never> => new Promise(() => {});

const isSame = (a: CallPosition, b: CallPosition): boolean => a.of === b.of && a.number === b.number;

const spotOf = (of = "", number = ""): CallPosition => ({ of: of as CallPosition["of"], number: Number(number) });

function momentOf(text: string): { readonly when: string; readonly spot: CallPosition } | null {
  if (text === "") return null;
  const [when = "", of, number] = text.split(" ");
  return { when, spot: spotOf(of, number) };
}

const faultsOf = (text: string) =>
  text
    .split(";")
    .map((it) => it.trim())
    .filter((it) => it !== "")
    .map((it) => {
      const [fault = "", of, number] = it.split(" ");
      return { fault: fault as Fault, spot: spotOf(of, number) };
    });
