import type { Reason } from "../../src/core/model/reason.ts";

/** Kinds of what happens to approvals and to what is trusted that a storm has to meet. */
export const trustKinds: readonly string[] = [
  "trust file accepted",
  "trust file renewed",
  "trust file refused",
  "trust file restored",
  "gate approved by signature",
  "change approved by signature",
  "protected change",
  "protected delete",
  "protected release",
  "fate edited while asked",
  "protection waited",
  "answer denied",
  "approval revoked",
  "approval removed",
  "approval taken back",
  "approval taken back after it opened",
  "approval put back by a stranger",
  "run approved by a stolen key",
  "run held for a stolen key",
  "change approved by a stolen key",
];

/** Names what a pass says of answers and of what is trusted. */
export function* strikesOnTrust(reasons: readonly Reason[]): Generator<string> {
  for (const it of reasons) {
    if (it.kind === "trustRefused") yield "trust file refused";
    if (it.kind === "protected") yield "protection waited";
    const { wait } = it.kind === "run" ? it : { wait: null };
    if (wait?.kind === "held" && wait.because.startsWith("ApproverKeyCompromised")) yield "run held for a stolen key";
    if (it.kind === "answerDenied") {
      yield "answer denied";
      yield `answer denied: ${it.code}`;
    }
  }
}
