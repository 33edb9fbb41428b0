import { type Judge, noted } from "./judge.ts";
import { isExplained } from "./rules/members.ts";
import { entriesAt, identityAt, objectsAt, type Seen } from "./world/observed-objects.ts";
import type { Site } from "./world/site.ts";

/** What judges no longer go by, since a cluster lost its inventory, or everything that happened since it was saved. */
export class Losses {
  readonly #judge: Judge;
  /** What was known of sites when they were saved. */
  readonly #saved = new Map<Site, Saved>();

  constructor(judge: Judge) {
    this.#judge = judge;
  }

  /** A cluster is saved as it is. */
  saved(site: Site): void {
    const { acknowledged, healthy } = this.#judge;
    this.#saved.set(site, {
      acknowledged: ownOf(acknowledged, site),
      healthy: ownOf(healthy, site),
      unlisted: new Set([...site.lost, ...site.forgotten]),
    });
  }

  /**
   * A cluster came back with old state: what was written since never was, and what was known then is so again. What was
   * learned since may still be news that somebody is about to write down.
   */
  restored(site: Site): void {
    const saved = this.#saved.get(site);
    for (const of of ["acknowledged", "healthy"] as const)
      for (const [at, words] of saved?.[of] ?? []) for (const it of words) noted(this.#judge[of], at).add(it);
    // So is how often anything was put right.
    for (const at of this.#judge.repairs.keys())
      if (at.startsWith(`${identityAt(site)} `)) this.#judge.repairs.delete(at);
    const seen = objectsAt(site);
    const uids = new Set(seen.map(({ uid }) => uid));
    for (const key of this.#judge.sequences.keys())
      if (uids.has(key.split(" ")[0] ?? "")) this.#judge.sequences.delete(key);
    for (const it of seen) if (saved?.unlisted.has(it.uid) === true) this.#loses(it, site);
  }

  /** Somebody is about to delete the inventory, and with it how often anything was put right. */
  losesInventory(site: Site): void {
    const entries = entriesAt(site);
    const listed = new Set(entries.map((it) => `${it.placement} ${it.key}`));
    for (const seen of objectsAt(site)) if (listed.has(`${seen.mark?.placement} ${seen.key}`)) this.#loses(seen, site);
    for (const { key } of entries) this.#judge.repairs.delete(`${identityAt(site)} ${key}`);
    for (const it of listed) site.lostClaims.add(it);
    site.own.clear();
  }

  /** Somebody deleted the claim before what it was for was written: that is as lost as what had our mark already. */
  losesClaimed(uid: string, site: Site): void {
    const written = objectsAt(site).find((it) => it.uid === uid);
    // What was handed over since stands in another part of the inventory.
    if (entriesAt(site).some((it) => it.uid === uid)) return;
    if (written !== undefined && site.lostClaims.has(`${written.mark?.placement} ${written.key}`))
      this.#loses(written, site);
  }

  /** No inventory lists an object any more: where a decision explains it, it has to be found again. */
  #loses(seen: Seen, site: Site): void {
    (isExplained(seen, site, this.#judge.simulation) ? site.lost : site.forgotten).add(seen.uid);
  }
}

/** What was known of a site when it was saved. */
interface Saved {
  readonly acknowledged: Known;
  readonly healthy: Known;
  /** Uids of what stood in no inventory, since somebody had deleted that. */
  readonly unlisted: ReadonlySet<string>;
}

/** Words by place: `cluster key` → words. */
type Known = ReadonlyMap<string, ReadonlySet<string>>;

/** What is known about the cluster that stands at a site now. */
const ownOf = (known: Known, site: Site): Known =>
  new Map([...known].flatMap(([at, it]) => (at.startsWith(`${identityAt(site)} `) ? [[at, new Set(it)]] : [])));
