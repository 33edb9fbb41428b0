import { type Instant, instantText } from "../../core/model/value.ts";
import { yamlLines } from "./yaml-lines.ts";

/** What the first version of a trust file is to say. */
export interface FirstTrust {
  /** The one person who may change it, and approve. */
  readonly name: string;
  readonly keys: readonly string[];
  readonly openpgp: readonly string[];
  /** Which stages of which placements; none means all. */
  readonly approves: readonly { readonly placement: string; readonly stage: string }[];
  readonly expires: Instant;
}

/** The text of version 1: one root, and one rule for every pair that is approved. `readTrust` says whether it can be used. */
export function firstTrustText({ name, keys, openpgp, approves, expires }: FirstTrust): string {
  const rules = approves.length === 0 ? [{ placement: "*", stage: "*" }] : approves;
  const lines = yamlLines({
    apiVersion: "flotilla.dev/v1alpha1",
    kind: "Trust",
    metadata: { name: "root" },
    spec: {
      version: 1,
      expires: instantText(expires),
      threshold: 1,
      roots: [name],
      principals: { [name]: principalOf({ isHuman: true, keys, openpgp, github: null }) },
      approvals: rules.map((it) => ({
        placements: [it.placement],
        stages: [it.stage],
        principals: [name],
        fourEyes: true,
      })),
    },
  });
  return `${[...preamble, ...lines].join("\n")}\n`;
}

const preamble = [
  "# Who may approve what. It changes by whole versions, each signed by the roots:",
  "#   flotilla trust add | rotate | revoke | sign",
];

/** What somebody signs with. */
export interface NewPrincipal {
  readonly isHuman: boolean;
  readonly keys: readonly string[];
  readonly openpgp: readonly string[];
  readonly github: string | null;
}

/** A principal as the file has it: without what there is none of. */
export const principalOf = ({ isHuman, keys, openpgp, github }: NewPrincipal) => ({
  human: isHuman,
  ...(keys.length === 0 ? {} : { keys }),
  ...(openpgp.length === 0 ? {} : { openpgp }),
  ...(github === null ? {} : { forge: { github } }),
});
