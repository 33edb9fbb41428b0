import type { Ledger } from "../../../src/core/model/ledger.ts";
import type { ClusterName, PlacementKey } from "../../../src/core/model/value.ts";
import type { Judge } from "../judge.ts";
import type { MemberWrite, MemberWriteRule } from "../member-write.ts";
import { type Document, identityOf } from "../people/document.ts";
import type { Draft } from "../people/people.ts";
import { entryOf, took, whatOf } from "./deletions.ts";
import { picks, selects } from "./removals.ts";

/** Promises about what one placement has and another one wants (D 9). */
export const wantedRules: readonly (readonly [string, MemberWriteRule])[] = [["I-28", deletesNothingWanted]];

type Placement = Extract<Document, { kind: "placement" }>;

/**
 * I-28: what another placement is to carry on a cluster is not deleted there, by what people said and by where the record has
 * that placement; nor is a Namespace with anything in it that one is to carry. Told from their documents: where overrides
 * might drop it, nothing is.
 */
function* deletesNothingWanted(write: MemberWrite, { inForce }: Judge): Generator<string> {
  if (!took(write) || write.ledger === null) return;
  const { ledger, request, inside } = write;
  const entry = entryOf(write);
  if (entry === null) return;
  for (const key of [entry.key, ...inside.map((it) => it.key)])
    for (const wanter of wantersOf(key, { ledger, member: request.member, besides: entry.placement }, inForce))
      yield `${whatOf(write)} takes ${key}, which ${wanter} wants there`;
}

interface Sight {
  readonly ledger: Ledger;
  readonly member: string;
  /** Who has it. */
  readonly besides: string;
}

/** The placements that certainly want an object on a member, besides the one that has it there. */
export function wantersOf(
  key: string,
  { ledger, member, besides }: Sight,
  inForce: Judge["inForce"],
): readonly string[] {
  if (ledger.sourceCommit === null) return [];
  const said = inForce.askedFor(ledger.sourceCommit);
  return [...said.values()].flatMap((document) => {
    if (document.kind !== "placement" || document.name === besides) return [];
    const binding = ledger.placements.get(document.name as PlacementKey)?.bindings.get(member as ClusterName);
    const isThere = binding !== undefined && binding.state !== "Unscheduled" && binding.removal === null;
    return isThere && picks(document, member, said) && isSelected(document, said, key) ? document.name : [];
  });
}

function isSelected(document: Placement, said: Draft, key: string): boolean {
  const [, kind = "", namespace = "", name = ""] = key.split("/");
  const id = { group: "", kind, namespace: namespace === "" ? null : namespace, name };
  const isOverridden = [...said.values()].some((it) => {
    if (it.kind !== "override" || it.value !== "delete") return false;
    const dropped = identityOf(it.object);
    return dropped.kind === kind && dropped.name === name;
  });
  return !isOverridden && selects(document, said, id);
}
