/** What the bench and the process that reconciles say to each other. Everything is plain JSON. */

/** How the reconciler is to run. */
export interface Orders {
  /** Like `reconcile --wait`, like `reconcile --watch`, or both in one process, for members that live in it. */
  readonly run: "once" | "daemon" | "both";
  /** Profile it from its first moment. */
  readonly profile: boolean;
  readonly repo: string;
  /** Null: members in the reconciler's own memory, which take no time and make everything available at once. */
  readonly kubeconfig: string | null;
  readonly members: readonly string[];
}

/** From the bench to the reconciler. */
export type Order =
  /** A case begins: the peak of memory counts from here, and a profile when one is wanted. */
  | { readonly kind: "begin"; readonly profile: boolean }
  /** The case is over: write its profile here, when there is one. */
  | { readonly kind: "end"; readonly profile: string | null }
  /** Something may have changed. */
  | { readonly kind: "ring" }
  /** The run that ended is followed by a daemon that remembers nothing of it. */
  | { readonly kind: "restart" }
  | { readonly kind: "stop" };

/** From the reconciler to the bench. */
export type Report =
  | { readonly kind: "begun" | "ended"; readonly usage: Usage }
  | PassReport
  | { readonly kind: "fault"; readonly message: string }
  /** A run that ends has ended. */
  | { readonly kind: "settled"; readonly how: string };

/** One pass, as the reconciler saw it. */
export interface PassReport {
  readonly kind: "pass";
  readonly result: "passed" | "superseded" | "unsound";
  /** When it was over: milliseconds since the epoch, with fractions. */
  readonly at: number;
  readonly spent: Spent;
  readonly source: string | null;
  readonly committed: boolean;
  readonly acted: number;
  /** Members that gave no answer yet. */
  readonly unheard: number;
  /** Members are still moving towards what was decided, or a rollout waits for its budget. */
  readonly moving: boolean;
  /** News waits for the next commit. */
  readonly deferred: boolean;
  /** What holds it up, and how often. */
  readonly waiting: Readonly<Record<string, number>>;
  readonly usage: Usage;
}

/** Milliseconds of one pass. */
export interface Spent {
  readonly observe: number;
  readonly decide: number;
  readonly commit: number;
  readonly act: number;
}

/** What the reconciler has used since its process began. */
export interface Usage {
  /** Seconds on a core, of its own, and of the git programs that it started and that have ended. */
  readonly cpu: number;
  readonly gitCpu: number;
  /** Most memory since the case began, in MiB: resident, of its process alone. */
  readonly peak: number;
  /** In MiB, now: resident, and what is left in use on the heap once what can go is collected. */
  readonly resident: number;
  readonly heap: number;
  readonly reads: number;
  readonly writes: number;
}

/** Now, with fractions of a millisecond, on a clock that all processes of this machine share. */
export const instant = (): number => performance.timeOrigin + performance.now();
