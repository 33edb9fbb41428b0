import type { Trust as WrittenTrust } from "#schemas/trust";
import schema from "../../../../schemas/trust.json" with { type: "json" };
import { flotillaGroup } from "../../model/names.ts";
import { error } from "../../yaml/problems.ts";
import { type ContentOf, everythingMayChange, type ReadKind, selectsNothing } from "./kind.ts";

/** The trust file. It is read by `intent/trust`, from its own path, and never as an object among others. */
export const trustKind: ReadKind<WrittenTrust, ContentOf<"later">> = {
  names: [{ group: flotillaGroup, kind: "Trust", scope: "Cluster", versions: ["v1alpha1"] }],
  schema,
  ownPlace: null,
  rules: () => [error("FLT1350", ["kind"], "a Trust is read from trust/root.yaml only", "move it there")],
  content: () => ({ kind: "later" }),
  updateRules: everythingMayChange,
  selectionRules: selectsNothing,
};
