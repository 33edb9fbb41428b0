import { signedApproval } from "../../../src/core/intent/kinds/approval.ts";
import type { Commit, Digest } from "../../../src/core/model/value.ts";
import type { SeenRequest } from "../rules/recorded-runs.ts";
import type { Document } from "./document.ts";
import type { People } from "./people.ts";
import type { Decision } from "./rollout-document.ts";
import { signatureBy } from "./signing.ts";
import { signaturesUnder, type TrustVersion, trustContentOf, trustVersion } from "./trust-content.ts";

/** How somebody answers: as he should, in two ways, or not. */
export type AnswerWay = "commit" | "detached" | "unsigned" | "forged" | "borrowed";

/**
 * How an approval is taken back: by another word of whoever gave it, in a commit or by itself, or by its removal. And how a
 * stranger puts it back: word for word, in another file.
 */
export type WithdrawalWay = "commit" | "detached" | "remove" | "copy";

/** What becomes of the trust file. */
export type TrustChange = "found" | "renew" | "few" | "skip" | "break" | "remove" | "back";

/** An answer that is what it says: its principal's own key signed it, and they wrote it on purpose. */
export interface SignedAnswer {
  readonly digest: string;
  readonly who: string;
  readonly decision: Decision;
  readonly path: string;
  readonly commit: Commit;
}

const trustPath = "trust/root.yaml";

/**
 * Who approves in a world, by what people really did: the versions of the trust file that they wrote and signed, and
 * every answer that somebody gave themselves. Nothing here comes from the record.
 */
export class Approvers {
  /** What the operator vouches for; null in worlds in which nobody signs. */
  anchor: Digest | null = null;
  readonly votes: SignedAnswer[] = [];
  readonly #people: People;
  readonly #versions = new Map<string, TrustVersion>();
  #serial = 0;

  constructor(people: People) {
    this.#people = people;
  }

  /** The version that a text is; null when nobody wrote such a one. */
  version(text: string | null): TrustVersion | null {
    return text === null ? null : (this.#versions.get(text) ?? null);
  }

  /** What stands in the trust file at a commit of the source branch. */
  textAt(commit: Commit | null): string | null {
    const document = commit === null ? undefined : this.#people.at(commit).get(trustPath);
    return document?.kind === "plain" ? document.text : null;
  }

  /** The newest version that is as it has to be. */
  get newest(): TrustVersion | null {
    return [...this.#versions.values()].filter((it) => it.isProper).at(-1) ?? null;
  }

  /** The version that the operator vouches for. */
  get first(): TrustVersion | null {
    return [...this.#versions.values()].find((it) => it.digest === this.anchor) ?? null;
  }

  /** Somebody does something to the trust file. Except at first, that is a commit of its own. */
  change(how: TrustChange, words: string): void {
    const before = this.newest;
    if (how === "found") this.#found(words);
    if (how === "found" || before === null) return;
    switch (how) {
      case "renew":
      case "few":
      case "skip": {
        const number = before.number + (how === "skip" ? 2 : 1);
        const isProper = how === "renew";
        const next = trustVersion(trustContentOf(words), { number, before: before.digest, isProper });
        this.#know(next);
        this.#commit([...this.#filesOf(next, how === "few" ? 1 : 2)]);
        return;
      }
      case "break":
        this.#commit([plain(trustPath, "kind: [unclosed\n")]);
        return;
      case "remove":
        this.#people.commitAlone([], [trustPath], "ann");
        return;
      case "back":
        this.restore(before.text);
    }
  }

  /** Somebody puts a version back, word for word. */
  restore(text: string): void {
    this.#commit([plain(trustPath, text)]);
  }

  #found(words: string): void {
    if (this.anchor !== null) return;
    const first = trustVersion(trustContentOf(words), { number: 1, before: null, isProper: true });
    this.#know(first);
    this.anchor = first.digest as Digest;
    for (const it of this.#filesOf(first, 2)) this.#people.write(it);
  }

  /** The same words again are the same file, which may have been signed in the meantime. */
  #know(version: TrustVersion): void {
    if (this.#versions.get(version.text)?.isProper === true) return;
    this.#versions.delete(version.text);
    this.#versions.set(version.text, version);
  }

  #filesOf(version: TrustVersion, signatures: number): readonly Document[] {
    return [
      plain(trustPath, version.text),
      ...[...signaturesUnder(version, signatures)].map(([path, text]) => plain(path, text)),
    ];
  }

  #commit(documents: readonly Document[]): void {
    this.#people.commitAlone(documents, [], "ann");
  }

  /** Somebody answers requests, each in a file and a commit of its own. */
  vote(who: string, decision: Decision, way: AnswerWay, requests: readonly Pick<SeenRequest, "digest">[]): void {
    for (const { digest } of requests) {
      const signature =
        way === "detached"
          ? signatureBy(
              who,
              "flotilla-approval-v1",
              signedApproval({ comment: "", decision, digest: digest as Digest, principal: who }),
            )
          : null;
      const by = { principal: who, serial: ++this.#serial, signature };
      const document: Document = { kind: "approval", digest, decision, by };
      const key = { commit: who, detached: null, unsigned: null, forged: "mallory", borrowed: "dave" }[way];
      const brought = this.#people.commitAlone([document], [], key);
      const isOwn = way === "commit" || way === "detached";
      if (brought !== null && isOwn) this.votes.push({ digest, who, decision, ...brought });
    }
  }

  /** What somebody approved last is taken back, or put back by a stranger. Gives how many approvals that concerns. */
  recant(who: string, how: WithdrawalWay): number {
    const own = this.votes.filter((it) => it.who === who && it.decision === "Approve");
    const asked = [...new Set(own.map((it) => it.digest))].slice(-2).map((digest) => ({ digest }));
    const given = own.filter((it) => asked.some(({ digest }) => digest === it.digest));
    const paths = given.map((it) => it.path);
    const copies = how === "copy" ? given.flatMap((it) => this.#copyOf(it)) : [];
    if (how === "commit" || how === "detached") this.vote(who, "Revoke", how, asked);
    else if (how === "remove" && paths.length > 0) this.#people.commitAlone([], paths, who);
    else if (copies.length > 0) this.#people.commitAlone(copies, [], "mallory");
    return how === "copy" ? copies.length : given.length;
  }

  /** The same words under another name; only a signature inside of a file comes along. */
  #copyOf({ path, commit }: SignedAnswer): readonly Document[] {
    const document = this.#people.at(commit).get(path);
    if (document?.kind !== "approval" || document.by?.signature == null) return [];
    return [{ ...document, by: { ...document.by, serial: ++this.#serial } }];
  }
}

const plain = (path: string, text: string): Document => ({ kind: "plain", path, text });
