import { reasonText } from "../../src/core/report/reason-text.ts";
import type { Outcome } from "./simulation.ts";
import { type Call, effects } from "./world/call.ts";

/** One line of what happened. */
export type Line =
  | { readonly kind: "step"; readonly text: string }
  | { readonly kind: "call"; readonly writer: string; readonly call: Call; readonly outcome: string }
  /** How a pass ended; the texts are made when somebody reads them. */
  | { readonly kind: "outcome"; readonly outcome: Outcome }
  | { readonly kind: "note"; readonly text: string };

/** Notes how a pass ended. */
export const tell = (lines: Line[], outcome: Outcome): void => void lines.push({ kind: "outcome", outcome });

/** What happened, for people: steps with `>`, effects and faults indented, then how passes ended. */
export const transcriptOf = (lines: readonly Line[]): string => lines.flatMap(textsOf).join("\n");

function textsOf(line: Line): readonly string[] {
  switch (line.kind) {
    case "step":
      return ["", `> ${line.text}`];
    case "call":
      return isNews(line.call, line.outcome) ? [`    ${line.writer} ${whereOf(line.call)}: ${line.outcome}`] : [];
    case "outcome":
      return outcomeTexts(line.outcome).map((it) => `  ${it}`);
    case "note":
      return [`  ${line.text}`];
  }
}

const isNews = ({ kind }: Call, outcome: string): boolean => effects.has(kind) || !/^(200|404|done)$/.test(outcome);

const whereOf = ({ text, member }: Call): string => (member === null ? text : `${text} on ${member}`);

function outcomeTexts(outcome: Outcome): readonly string[] {
  if (outcome.kind === "fault")
    return [`fault ${outcome.fault.code} ${outcome.fault.during}: ${outcome.fault.message}`];
  if (outcome.kind !== "result") return [`(${outcome.kind})`];
  const { result } = outcome;
  switch (result.kind) {
    case "superseded":
      return ["superseded"];
    case "unsound":
      return result.faults.map((it) => `unsound: ${it.code}: ${it.message}`);
    case "passed": {
      const { plan, lines, receipts, deferred } = result;
      return [
        ...(plan.refusal === null ? [] : [`refused: ${plan.refusal.code}: ${plan.refusal.message}`]),
        ...lines.map((it) => `* ${it}`),
        ...plan.reasons.map((it) => `- ${reasonText(it)}`),
        ...receipts.flatMap((it) => (it.interrupted === null ? [] : [`! ${it.cluster}: ${it.interrupted}`])),
        ...(deferred ? ["(news waits)"] : []),
      ];
    }
  }
}
