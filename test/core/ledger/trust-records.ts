import { readTrust } from "../../../src/core/intent/trust/trust-file.ts";
import { known } from "../../../src/core/model/assert.ts";
import type { Fate, ObjectFate } from "../../../src/core/model/deletion.ts";
import type { ChangeRequest } from "../../../src/core/model/ledger.ts";
import { type ObjectKey, objectIdOf } from "../../../src/core/model/manifest.ts";
import type {
  AnswerRecord,
  Approval,
  Judgement,
  Proof,
  Request,
  Trust,
  TrustRecord,
} from "../../../src/core/model/trust.ts";
import type { ClusterName, Digest, PlacementKey } from "../../../src/core/model/value.ts";
import type { Random } from "../intent/random.ts";
import { ed25519 } from "../intent/trust/public-keys.ts";
import {
  blob,
  clusterNames,
  commit,
  digest,
  hex,
  instant,
  keysOf,
  many,
  maybe,
  sequence,
  text,
} from "../yaml/random-values.ts";

/** A usable trust file of that version, with comments and blanks that only a copy word for word keeps. */
export const trustText = (version: number): string => `# who may approve  
apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: ${version}
${version === 1 ? "" : `  previous: ${"cd".repeat(32)}\n`}  expires:   "2027-10-01T00:00:00Z"
  threshold: 1
  roots: [ann]
  principals:
    ann: {human: true, keys: ["${ed25519(1)}"]}
  approvals:
    - {placements: ["*"], stages: ["*"], principals: [ann]}
`;

const trusts: readonly (readonly [string, Trust])[] = [1, 2, 3].map((version) => {
  const it = trustText(version);
  return [it, known(readTrust(it).trust, "it is usable")];
});

/** Any trust record, with a text that says what its trust says. */
export function randomTrust(random: Random): TrustRecord {
  const [it, trust] = random.pick(trusts);
  return {
    trust,
    text: it,
    since: sequence(random),
    from: commit(random),
    first: commit(random),
    by: random.pick(["anchor", ["ann"], ["ann", "no"]] as const),
  };
}

/** An armored signature of one line. */
export const armoredSignature = "-----BEGIN SSH SIGNATURE-----\nU1NIU0lH\n-----END SSH SIGNATURE-----\n";

const proofs = (random: Random): readonly Proof[] => [
  { evidence: random.pick(["commit", "detached", "forge"]), key: random.pick(["SHA256:abc", "github 1"]) },
  ...many(random, 1, () => ({ evidence: "detached" as const, key: "AB".repeat(20) })),
  ...many(random, 1, () => ({ evidence: "forge" as const, key: "github:1", source: "review 9 of pull request: 4" })),
];

/** A request in any state: with and without rules and authors, open and approved, signed and not. */
export const randomRequest = (random: Random): Request => ({
  requestedAt: instant(random),
  nonce: hex(random, 32),
  digest: digest(random),
  rules: maybe(random, () => digest(random)),
  authors: { principals: many(random, 2, (at) => `author${at}`), unknown: random.pick([0, 0, 3]) },
  approval: maybe(random, () => randomApproval(random)),
});

const randomApproval = (random: Random): Approval => ({
  at: instant(random),
  by: Array.from({ length: random.below(3) + 1 }, (_, at) => ({
    principal: `${at}${text(random)}`,
    path: `approvals/v${at}.yaml`,
    blob: blob(random),
    commit: maybe(random, () => commit(random)),
    proofs: random.pick([[], proofs(random)]),
  })),
});

/** A change with any number of clusters, some of which the placement leaves; asked for or not yet. */
export const randomChange = (random: Random): ChangeRequest => ({
  clusters: new Map(
    keysOf(random, clusterNames).map((it): [ClusterName, Digest | null] => [
      it as ClusterName,
      maybe(random, () => digest(random)),
    ]),
  ),
  leaves: new Map(
    keysOf(random, clusterNames).map((it): [ClusterName, readonly ObjectFate[]] => [
      it as ClusterName,
      randomLeaves(random),
    ]),
  ),
  others: many(random, 2, () => ({
    placement: "web" as PlacementKey,
    cluster: "tokyo" as ClusterName,
    id: objectIdOf("/Namespace//web" as ObjectKey),
    objects: [{ ...objectIdOf("/Secret/web/theirs" as ObjectKey), uid: "u1" }],
  })),
  since: many(random, 2, () => commit(random)),
  request: maybe(random, () => randomRequest(random)),
});

type Becomes = { readonly fate: Fate } | { readonly fate: "handOver"; readonly to: PlacementKey };

/** At least one object, in the order of their keys. */
const randomLeaves = (random: Random): readonly ObjectFate[] =>
  ["/ConfigMap/web/a", "/Namespace//web", "apps/Deployment/web/b"].slice(random.below(3)).map((key) => ({
    object: objectIdOf(key as ObjectKey),
    ...random.pick<Becomes>([
      { fate: "delete" },
      { fate: "release" },
      { fate: "handOver", to: "next" as PlacementKey },
      { fate: "handOver", to: "shop/other" as PlacementKey },
    ]),
  }));

const answerPaths = ["approvals/a b.yaml", "approvals/a/1.yml", "approvals/no.yaml", "approvals/v1.yaml"];

/** Answers that count and that do not, by path. */
export const randomAnswers = (random: Random): ReadonlyMap<string, AnswerRecord> =>
  new Map(keysOf(random, answerPaths).map((it) => [it, randomAnswer(random, it)]));

function randomAnswer(random: Random, path: string): AnswerRecord {
  const at = instant(random);
  return {
    order: random.below(3),
    file: {
      path,
      blob: blob(random),
      digest: digest(random),
      decision: random.pick(["Approve", "Reject", "Revoke"]),
      principal: text(random),
      comment: text(random),
      signature: maybe(random, () => armoredSignature),
    },
    judgement: random.pick<Judgement>([
      { kind: "counts", principal: "ann", proofs: proofs(random), at },
      { kind: "counts", principal: "no", proofs: proofs(random), at: instant(random) },
      { kind: "denied", code: "FLT1202", because: text(random) },
    ]),
    commit: maybe(random, () => commit(random)),
    at,
  };
}
