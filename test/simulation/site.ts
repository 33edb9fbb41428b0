import type { JsonObject } from "../../src/core/model/json.ts";
import { Cluster } from "../../src/shell/kube/embedded/cluster.ts";
import { react } from "../../src/shell/kube/embedded/controllers.ts";
import { found } from "../../src/shell/kube/embedded/founding.ts";
import { type ClusterHandle, handleOf } from "../../src/shell/kube/embedded/handle.ts";
import type { Kind } from "../../src/shell/kube/embedded/kinds.ts";
import { noTrouble } from "../../src/shell/kube/embedded/trouble.ts";
import type { Attempt } from "./attempt.ts";
import type { Weather } from "./step.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** A cluster of the world, with what is wrong with it and what others did there. */
export class Site {
  readonly name: string;
  readonly cluster: Cluster;
  readonly hands: ClusterHandle;
  weather: Weather = "well";
  /** Who made an object that is not ours: uid → the event in which it was made. */
  readonly strangers = new Map<string, number>();
  /** Uids of what others made by copying our objects, marks and all. */
  readonly copies = new Set<string>();
  /** Uids of what a writer made that was held up since it claimed, until it has written down what it did. */
  readonly overdue = new Map<string, Attempt>();
  /**
   * How often the cluster became another one, or what it once was: what is still under way to it then does not arrive.
   */
  lives = 0;
  #saved: readonly Stored[] | null = null;

  constructor(name: string, time: VirtualTime) {
    this.name = name;
    this.cluster = new Cluster({
      name,
      availableAfterMs: 0,
      token: null,
      now: () => time.now,
      newSchedule: () => time.schedule(),
      react,
      found,
    });
    this.hands = handleOf(this.cluster);
  }

  /** Sets what is wrong with the cluster; only the last one counts. */
  turn(weather: Weather): void {
    this.weather = weather;
    const trouble = {
      ...noTrouble,
      failWith: weather === "busy" ? 429 : weather === "broken" ? 503 : null,
      unauthorized: weather === "unauthorized",
      readOnly: weather === "read-only" ? ["*"] : [],
      frozen: weather === "frozen",
    };
    this.hands.control({ trouble });
  }

  save(): void {
    this.#saved = this.objects();
  }

  /** Puts everything back to what was saved, uids included; false when nothing was. */
  restore(): boolean {
    const saved = this.#saved;
    if (saved === null) return false;
    this.lives++;
    const { store } = this.cluster;
    for (const { kind, object } of this.objects()) store.delete(kind, object);
    for (const { kind, object } of saved) store.put(kind, object);
    return true;
  }

  reset(): void {
    this.lives++;
    this.hands.control({ reset: true });
    this.strangers.clear();
    this.#saved = null;
  }

  objects(): readonly Stored[] {
    const { store, kinds } = this.cluster;
    return store.tables.flatMap((table) => {
      const kind = kinds.ofTable(table);
      return kind === null ? [] : store.list(kind, null).map((object) => ({ kind, object }));
    });
  }
}

/** An object as a cluster stores it. */
export interface Stored {
  readonly kind: Kind;
  readonly object: JsonObject;
}
