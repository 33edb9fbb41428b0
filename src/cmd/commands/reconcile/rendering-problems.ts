import type { DecodedDocument } from "../../../core/intent/documents.ts";
import type { Intent, Problem } from "../../../core/model/intent.ts";
import type { SourcePosition } from "../../../core/model/manifest.ts";
import type { OverrideFinding } from "../../../core/render/override-findings.ts";
import { selectResources } from "../../../core/render/select.ts";
import { locateProblem } from "../../../core/yaml/locate.ts";
import { error, type FieldProblem, type JsonPath, note, warning } from "../../../core/yaml/problems.ts";

/**
 * What trying overrides has shown, as problems of their documents; one that is the same on many clusters is one problem
 * (`render/README.md#trying-overrides`).
 */
export function problemsOfOverrides(
  findings: readonly OverrideFinding[],
  documentAt: (source: SourcePosition) => DecodedDocument | null,
): readonly Problem[] {
  return findings.flatMap((it) => {
    const { source } = it.override;
    const document = documentAt(source);
    return document === null ? [] : [{ ...locateProblem(document, problemWith(it)), path: source.path }];
  });
}

/**
 * Placements of which nothing new is placed for what envelopes hold: one that is not sound, or an object that is selected
 * twice (`render/README.md#envelopes`).
 */
export function problemsOfEnvelopes(
  intent: Pick<Intent, "placements" | "objects" | "scopes">,
  documentAt: (source: SourcePosition) => DecodedDocument | null,
): readonly Problem[] {
  return [...intent.placements.values()].flatMap((placement) => {
    const selection = selectResources(placement, intent);
    const document = documentAt(placement.source);
    if (selection.kind !== "refused" || selection.because !== "contents" || document === null) return [];
    const problem = error("FLT1345", ["spec", "resourceSelectors"], selection.message, nothingNew);
    return [{ ...locateProblem(document, problem), path: placement.source.path }];
  });
}

const nothingNew = "correct it: until then nothing new of this placement reaches any cluster";

function problemWith(finding: OverrideFinding): FieldProblem {
  switch (finding.kind) {
    case "fails": {
      const { rule, operation, reason, objects } = finding;
      const at = [...rules, rule, ...(operation === null ? [] : ["jsonPatchOverrides", operation])];
      return error("FLT1343", at, `fails on ${placeText(finding)}, for ${andMore(objects)}: ${reason}`, mend);
    }
    case "idle": {
      const message = `changes nothing on ${placeText(finding)}: what it selects is so already, or left out there`;
      return warning("FLT1333", ["spec", "policy"], message, "correct it, or keep these clusters out of its selectors");
    }
    case "more": {
      const message = `fails for more reasons, which are not listed: ${finding.reasons}`;
      return note("FLT1024", ["spec", "policy"], message, "fix these first");
    }
    case "cut": {
      const message = `is tried ${finding.tries} times and no more: on some clusters or objects it may fail unseen`;
      return note("FLT1344", ["spec", "policy"], message, "let it select less, or look at what plan says of it");
    }
  }
}

const rules: JsonPath = ["spec", "policy", "overrideRules"];

const mend =
  "correct the operation, or the clusterSelector of its rule: until then nothing new of the placement reaches such a cluster";

type Places = Pick<Extract<OverrideFinding, { kind: "idle" }>, "clusters" | "placements">;

const placeText = ({ clusters, placements }: Places): string =>
  `the cluster ${andMore(clusters)} (placement ${andMore(placements)})`;

const andMore = ([first = "", ...more]: readonly string[]): string =>
  more.length === 0 ? first : `${first} and ${more.length} more`;
