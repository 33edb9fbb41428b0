import type { Intent } from "../../src/core/model/intent.ts";
import type { Draft } from "./people.ts";

/** What of a commit is not understood, though nobody broke it: a world that asks for that tests nothing. */
export function* unusableIn({ problems }: Intent, said: Draft): Generator<string> {
  for (const { severity, code, path, message } of problems) {
    const isRefused = path !== "." && (severity === "error" || code === "FLT1900");
    const kind = said.get(path)?.kind;
    // What a run or an eviction is about may be gone by now, and some states of a run lead nowhere: it says so.
    const isMeant = code === "FLT1314" || (code === "FLT1315" && kind === "run");
    if (isRefused && !isMeant && kind !== "broken" && !isBrokenTrust(path, said))
      yield `${path} is meant to be usable: ${code} ${message}`;
  }
}

/** Somebody broke the trust file, or it is not there while signatures under it are. */
function isBrokenTrust(path: string, said: Draft): boolean {
  const document = said.get("trust/root.yaml");
  return path.startsWith("trust/") && (document?.kind !== "plain" || !document.text.startsWith("apiVersion"));
}
