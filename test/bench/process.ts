import { type ChildProcess, fork } from "node:child_process";
import type { Order, Orders, PassReport, Report, Usage } from "./protocol.ts";
import { instant } from "./protocol.ts";

/** The process that reconciles, as the bench sees it. */
export interface Reconciler {
  /** When it was started. */
  readonly startedAt: number;
  /** Passes so far, of its whole life. */
  readonly passes: readonly PassReport[];
  /** Waits until a claim about its passes and its end holds; rejects when it dies, or after so many milliseconds. */
  until(holds: () => boolean, what: string, limitMs: number): Promise<void>;
  begin(profile: boolean): Promise<Usage>;
  end(profile: string | null): Promise<Usage>;
  say(order: Order): void;
  /** How a run that ends has ended; null while it goes on. */
  settled(): string | null;
  stop(): Promise<void>;
}

/** Starts the reconciler of the same bundle in a process of its own. */
export function startReconciler(program: string, orders: Orders): Reconciler {
  const startedAt = instant();
  const child = fork(program, { execArgv: ["--expose-gc"], stdio: ["ignore", "inherit", "inherit", "ipc"] });
  child.send(orders);
  const passes: PassReport[] = [];
  const listeners = new Set<() => void>();
  let settled: string | null = null;
  let death: string | null = null;
  let answer: Usage | null = null;
  const tell = (): void => {
    for (const it of listeners) it();
  };
  child.on("message", (report: Report) => {
    if (report.kind === "pass") passes.push(report);
    else if (report.kind === "fault") process.stderr.write(`fault: ${report.message}\n`);
    else if (report.kind === "settled") settled = report.how;
    else answer = report.usage;
    tell();
  });
  child.on("exit", (code, signal) => {
    death = `exit code ${code ?? signal}`;
    tell();
  });
  const until = (holds: () => boolean, what: string, limitMs: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const done = (error: Error | null): void => {
        listeners.delete(look);
        clearTimeout(timer);
        error === null ? resolve() : reject(error);
      };
      const late = (): void => {
        const { waiting = {}, acted = 0 } = passes.at(-1) ?? {};
        done(new Error(`${what}: not within ${limitMs / 1000} s; waits for ${JSON.stringify({ ...waiting, acted })}`));
      };
      const timer = setTimeout(late, limitMs);
      const look = (): void => {
        if (holds()) done(null);
        else if (death !== null) done(new Error(`${what}: the reconciler ended with ${death}`));
      };
      listeners.add(look);
      look();
    });
  const ask = async (order: Order): Promise<Usage> => {
    answer = null;
    child.send(order);
    await until(() => answer !== null, order.kind, 600_000);
    return answer as unknown as Usage;
  };
  return {
    startedAt,
    passes,
    until,
    begin: (profile) => ask({ kind: "begin", profile }),
    end: (profile) => ask({ kind: "end", profile }),
    say: (order) => void child.send(order),
    settled: () => settled,
    stop: () => ended(child),
  };
}

/** Asks a process to end, and makes it after a while. */
async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  if (child.connected) child.send({ kind: "stop" } satisfies Order);
  const timer = setTimeout(() => child.kill("SIGKILL"), 10_000);
  await gone;
  clearTimeout(timer);
}
