import { reasonText } from "../../src/core/report/reason-text.ts";
import type { Outcome } from "./processes.ts";
import { type Call, effects } from "./world/call.ts";

/** One line of what happened. */
export type Line =
  | { readonly kind: "step"; readonly text: string }
  | { readonly kind: "call"; readonly writer: string; readonly call: Call; readonly outcome: string }
  /** How a pass ended; the texts are made when somebody reads them. */
  | { readonly kind: "outcome"; readonly texts: () => readonly string[] }
  | { readonly kind: "note"; readonly text: string };

/** Notes how a pass ended. */
export const tell = (lines: Line[], outcome: Outcome): void =>
  void lines.push({ kind: "outcome", texts: outcomeTexts(outcome) });

/** Notes what came of a call; what was sent with it is not kept. */
export const tellCall = (lines: Line[], writer: string, { kind, member, text }: Call, outcome: string): void =>
  void lines.push({ kind: "call", writer, call: { kind, member, text }, outcome });

/** What happened, for people: steps with `>`, effects and faults indented, then how passes ended. */
export const transcriptOf = (lines: readonly Line[]): string => lines.flatMap(textsOf).join("\n");

function textsOf(line: Line): readonly string[] {
  switch (line.kind) {
    case "step":
      return ["", `> ${line.text}`];
    case "call":
      return isNews(line.call, line.outcome) ? [`    ${line.writer} ${whereOf(line.call)}: ${line.outcome}`] : [];
    case "outcome":
      return line.texts().map((it) => `  ${it}`);
    case "note":
      return [`  ${line.text}`];
  }
}

const isNews = ({ kind }: Call, outcome: string): boolean => effects.has(kind) || !/^(200|404|done)$/.test(outcome);

const whereOf = ({ text, member }: Call): string => (member === null ? text : `${text} on ${member}`);

/** Of a result, it keeps what the texts need: the world that it came from would be kept for the whole run otherwise. */
function outcomeTexts(outcome: Outcome): () => readonly string[] {
  if (outcome.kind === "fault") {
    const { code, during, message } = outcome.fault;
    return () => [`fault ${code} ${during}: ${message}`];
  }
  if (outcome.kind !== "result") return () => [`(${outcome.kind})`];
  const { result } = outcome;
  switch (result.kind) {
    case "superseded":
      return () => ["superseded"];
    case "unsound": {
      const { faults } = result;
      return () => faults.map((it) => `unsound: ${it.code}: ${it.message}`);
    }
    case "passed": {
      const { lines, receipts, deferred } = result;
      const { refusal, reasons } = result.plan;
      return () => [
        ...(refusal === null ? [] : [`refused: ${refusal.code}: ${refusal.message}`]),
        ...lines.map((it) => `* ${it}`),
        ...reasons.map((it) => `- ${reasonText(it)}`),
        ...receipts.flatMap((it) => (it.interrupted === null ? [] : [`! ${it.cluster}: ${it.interrupted}`])),
        ...(deferred ? ["(news waits)"] : []),
      ];
    }
  }
}
