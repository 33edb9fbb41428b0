import { type Json, memberAt, member as memberOf, sameJson } from "../model/json.ts";
import { type Manifest, placedText } from "../model/manifest.ts";
import type { OverrideSnapshot, PatchOperation } from "../model/override.ts";
import { matchesRule } from "./applicable-overrides.ts";
import { applyOperations } from "./json-patch.ts";
import { overrideSnapshotKey } from "./override-snapshot.ts";
import type { RenderSource } from "./resource-snapshot.ts";
import { substitute, type VariableValues } from "./variables.ts";

/** One manifest after its overrides on one cluster. */
type Overridden =
  | { readonly kind: "manifest"; readonly manifest: Manifest }
  | { readonly kind: "deleted" }
  | OverrideFailure;

type OverriddenSource = Pick<RenderSource, "id" | "envelope">;

interface OverrideFailure extends FailedPatch {
  readonly override: OverrideSnapshot;
  /** From 0. */
  readonly rule: number;
  /** All of it in words, for people. */
  readonly message: string;
}

interface FailedPatch {
  readonly kind: "failed";
  /** From 0; null for all of the rule. */
  readonly operation: number | null;
  /** Holds paths and keys of labels, never values. */
  readonly reason: string;
}

/**
 * Applies overrides to a manifest, in the order given.
 *
 * Within an override, rules apply in order and see the result of earlier ones. `Delete` is final: patches after it do
 * nothing and cannot fail (`render/README.md#how-an-override-acts`, `#o-07`, `#o-08`, `#o-17` to `#o-19`). A failure
 * names the override, the target, the operation and the reason (`#c-23`).
 */
export function overrideManifest(
  source: OverriddenSource,
  manifest: Manifest,
  overrides: readonly OverrideSnapshot[],
  member: VariableValues,
): Overridden {
  let here = manifest;
  for (const override of overrides)
    for (const [at, { clusters, action }] of override.spec.rules.entries()) {
      if (!matchesRule(clusters, member.labels)) continue;
      if (action.kind === "Delete") return { kind: "deleted" };
      const patched = withIdentity(patch(here, action.operations, member), manifest);
      if (patched.kind === "failed") return failed(source, override, at, patched);
      here = patched.manifest;
    }
  return { kind: "manifest", manifest: here };
}

type Patched = Extract<Overridden, { kind: "manifest" }> | FailedPatch;

/** One rule's operations, all of them or none, with the variables in their values replaced. */
function patch(manifest: Manifest, written: readonly PatchOperation[], member: VariableValues): Patched {
  const operations: PatchOperation[] = [];
  for (const [at, operation] of written.entries()) {
    const value = substitute(operation.value, member);
    if (value.kind === "unknown") return { kind: "failed", operation: at, reason: value.reason };
    operations.push({ ...operation, value: value.value });
  }
  const patched = applyOperations(manifest, operations);
  return patched.kind === "patched" ? { kind: "manifest", manifest: patched.document } : patched;
}

/** Such paths are refused when overrides are read; a rendering must never place what nobody selected. */
const withIdentity = (patched: Patched, before: Manifest): Patched =>
  patched.kind === "failed" || sameJson(identityOf(patched.manifest), identityOf(before))
    ? patched
    : { kind: "failed", operation: null, reason: "it changes which object this is" };

const identityOf = (manifest: Manifest): Json => [
  memberOf(manifest, "apiVersion"),
  memberOf(manifest, "kind"),
  memberAt(manifest, "metadata", "name"),
  memberAt(manifest, "metadata", "namespace"),
];

// Paths can be long; messages are bounded.
const messageLimit = 1024;

function failed(
  source: OverriddenSource,
  override: OverrideSnapshot,
  rule: number,
  patched: FailedPatch,
): OverrideFailure {
  const place = `override ${overrideSnapshotKey(override)}, rule ${rule + 1}${operationText(override, rule, patched)}`;
  const message = `${placedText(source)} cannot be overridden: ${place}: ${patched.reason}`.slice(0, messageLimit);
  return { ...patched, override, rule, message };
}

function operationText({ spec }: OverrideSnapshot, rule: number, { operation }: FailedPatch): string {
  const action = spec.rules[rule]?.action;
  const culprit = operation !== null && action?.kind === "JSONPatch" ? action.operations[operation] : undefined;
  return operation === null || culprit === undefined
    ? ""
    : `, operation ${operation + 1} (${culprit.op} ${culprit.path})`;
}
