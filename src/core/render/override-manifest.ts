import { type Json, memberAt, member as memberOf, sameJson } from "../model/json.ts";
import { type Manifest, objectText, type VersionedId } from "../model/manifest.ts";
import type { OverrideSnapshot, PatchOperation } from "../model/override.ts";
import { matchesRule } from "./applicable-overrides.ts";
import { applyOperations } from "./json-patch.ts";
import { overrideSnapshotKey } from "./override-snapshot.ts";
import { substitute, type VariableValues } from "./variables.ts";

/** One manifest after its overrides on one cluster. */
type Overridden =
  | { readonly kind: "manifest"; readonly manifest: Manifest }
  | { readonly kind: "deleted" }
  | { readonly kind: "failed"; readonly message: string };

/**
 * Applies overrides to a manifest, in the order given.
 *
 * Within an override, rules apply in order and see the result of earlier ones. `Delete` is final: patches after it do
 * nothing and cannot fail (`render/README.md#how-an-override-acts`, `#o-07`, `#o-08`, `#o-17` to `#o-19`). A failure
 * names the override, the target, the operation and the reason (`#c-23`).
 */
export function overrideManifest(
  id: VersionedId,
  manifest: Manifest,
  overrides: readonly OverrideSnapshot[],
  member: VariableValues,
): Overridden {
  let here = manifest;
  for (const override of overrides)
    for (const [at, { clusters, action }] of override.spec.rules.entries()) {
      if (!matchesRule(clusters, member.labels)) continue;
      if (action.kind === "Delete") return { kind: "deleted" };
      const patched = patch(here, action.operations, member);
      if (patched.kind === "failed")
        return failed(`override ${overrideSnapshotKey(override)}, rule ${at + 1}, ${patched.message}`, id);
      here = patched.manifest;
    }
  // Such paths are refused when overrides are read; a rendering must never place what nobody selected.
  if (!sameJson(identityOf(here), identityOf(manifest))) return failed("the overrides change which object it is", id);
  return { kind: "manifest", manifest: here };
}

/** One rule's operations, all of them or none, with the variables in their values replaced. */
function patch(
  manifest: Manifest,
  written: readonly PatchOperation[],
  member: VariableValues,
): Exclude<Overridden, { kind: "deleted" }> {
  const operations: PatchOperation[] = [];
  for (const [at, operation] of written.entries()) {
    const value = substitute(operation.value, member);
    if (value.kind === "unknown") return { kind: "failed", message: operationText(operation, at, value.reason) };
    operations.push({ ...operation, value: value.value });
  }
  const patched = applyOperations(manifest, operations);
  if (patched.kind === "patched") return { kind: "manifest", manifest: patched.document };
  const culprit = operations[patched.operation];
  return {
    kind: "failed",
    message: culprit === undefined ? patched.reason : operationText(culprit, patched.operation, patched.reason),
  };
}

const identityOf = (manifest: Manifest): Json => [
  memberOf(manifest, "apiVersion"),
  memberOf(manifest, "kind"),
  memberAt(manifest, "metadata", "name"),
  memberAt(manifest, "metadata", "namespace"),
];

const operationText = ({ op, path }: PatchOperation, at: number, reason: string): string =>
  `operation ${at + 1} (${op} ${path}): ${reason}`;

// Paths can be long; messages are bounded.
const messageLimit = 1024;

const failed = (what: string, id: VersionedId): { readonly kind: "failed"; readonly message: string } => ({
  kind: "failed",
  message: `${objectText(id)} cannot be overridden: ${what}`.slice(0, messageLimit),
});
