import type { Json } from "../../../core/model/json.ts";
import { isObject } from "../../../core/model/json.ts";

/** Faults injected into a cluster. All can be changed while it runs. */
export interface InjectedFaults {
  /** Connections are destroyed without an answer. */
  readonly down: boolean;
  /** Requests are taken and never answered. */
  readonly hang: boolean;
  /** Every answer is late by this much. */
  readonly latencyMs: number;
  /** Requests are answered with this status: 429, 500, 503 … */
  readonly failWith: number | null;
  /** `Retry-After` of such answers, in seconds. */
  readonly retryAfterSeconds: number | null;
  /** How many requests still meet `failWith`; null for all of them. */
  readonly failures: number | null;
  /** Every request is 401. */
  readonly unauthorized: boolean;
  /** Kinds that may be read and not written, `group/Kind`; `*` for every kind. */
  readonly readOnly: readonly string[];
  /** Controllers are paused: nothing becomes available, no namespace is emptied, no definition is established. */
  readonly frozen: boolean;
}

export const noFaults: InjectedFaults = {
  down: false,
  hang: false,
  latencyMs: 0,
  failWith: null,
  retryAfterSeconds: null,
  failures: null,
  unauthorized: false,
  readOnly: [],
  frozen: false,
};

/** Faults from the control endpoint; null when a member is unknown or of the wrong type. */
export function parseFaults(value: Json): Partial<InjectedFaults> | null {
  if (!isObject(value)) return null;
  const wrong = Object.entries(value).some(([key, it]) => !Object.hasOwn(noFaults, key) || !fits(key, it));
  return wrong ? null : (value as unknown as Partial<InjectedFaults>);
}

function fits(key: string, value: Json): boolean {
  if (key === "readOnly") return Array.isArray(value) && value.every((it) => typeof it === "string");
  if (key === "latencyMs") return isCount(value);
  if (["failWith", "failures", "retryAfterSeconds"].includes(key)) return value === null || isCount(value);
  return typeof value === "boolean";
}

const isCount = (value: Json): boolean => Number.isInteger(value) && Number(value) >= 0;

/** Requests by what they did, since the start or the last reset of the counters. */
export interface Counters {
  readonly total: number;
  /** Requests that could change something, dry runs not among them. */
  readonly mutating: number;
  readonly dryRun: number;
  /** By verb and resource: `apply apps/deployments`, `list /configmaps`, `apply apps/deployments (dry run)`. */
  readonly requests: Readonly<Record<string, number>>;
}

const mutatingVerbs = new Set(["create", "update", "patch", "apply", "delete", "deletecollection"]);

export class RequestCounters {
  readonly #requests = new Map<string, number>();
  #total = 0;
  #mutating = 0;
  #dryRun = 0;

  count(verb: string, resource: string, dryRun: boolean): void {
    this.#total++;
    if (dryRun) this.#dryRun++;
    else if (mutatingVerbs.has(verb)) this.#mutating++;
    const key = `${verb} ${resource}${dryRun ? " (dry run)" : ""}`;
    this.#requests.set(key, (this.#requests.get(key) ?? 0) + 1);
  }

  read(): Counters {
    const requests = Object.fromEntries([...this.#requests].sort(([a], [b]) => (a < b ? -1 : 1)));
    return { total: this.#total, mutating: this.#mutating, dryRun: this.#dryRun, requests };
  }

  reset(): void {
    this.#requests.clear();
    this.#total = 0;
    this.#mutating = 0;
    this.#dryRun = 0;
  }
}

/** One answered request, as the log keeps it. */
export interface LogEntry {
  readonly method: string;
  /** Path and query below the cluster. */
  readonly path: string;
  readonly code: number;
}
