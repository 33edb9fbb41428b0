import { parseOpenPgpKey } from "../../core/intent/trust/openpgp-key.ts";
import { parseSshKey } from "../../core/intent/trust/ssh-key.ts";
import { normalizedFingerprint } from "../../core/intent/trust/trust-rules.ts";
import type { Json } from "../../core/model/json.ts";
import type { Principal, Revocation, Trust } from "../../core/model/trust.ts";
import { type Instant, instantText } from "../../core/model/value.ts";
import { editedText, type YamlEdit, yamlLines } from "./edited-text.ts";

/** A change to a trust file. Keys to be revoked are named by their fingerprints. */
export type TrustChange =
  | {
      readonly kind: "add";
      readonly name: string;
      readonly isMachine: boolean;
      readonly keys: readonly string[];
      readonly openpgp: readonly string[];
      readonly github: string | null;
      readonly asRoot: boolean;
      readonly asApprover: boolean;
    }
  | {
      readonly kind: "rotate";
      readonly name: string;
      readonly keys: readonly string[];
      readonly openpgp: readonly string[];
      /** Null: the only one that they have. */
      readonly old: string | null;
      readonly as: Revocation["kind"];
    }
  /** A key, or everything that a principal of this name signs with. */
  | { readonly kind: "revoke"; readonly what: string; readonly as: Revocation["kind"] };

/** The edits that make the change, none where it is made already; or why it cannot be made, and what to do. */
type TrustEdits =
  | { readonly kind: "edits"; readonly edits: readonly YamlEdit[] }
  | { readonly kind: "declined"; readonly message: string; readonly fix: string };

/** Says what has to be edited in a trust file. What the edited file then may not say is for `readTrust`. */
export function trustEdits(trust: Trust, change: TrustChange): TrustEdits {
  switch (change.kind) {
    case "add":
      return added(trust, change);
    case "rotate":
      return rotated(trust, change);
    case "revoke":
      return revoked(trust, change);
  }
}

const edits = (...all: readonly YamlEdit[]): TrustEdits => ({ kind: "edits", edits: all });
const declined = (message: string, fix: string): TrustEdits => ({ kind: "declined", message, fix });

function added(trust: Trust, change: TrustChange & { readonly kind: "add" }): TrustEdits {
  const { name, isMachine, keys, openpgp, github, asRoot, asApprover } = change;
  const there = trust.principals.get(name) ?? null;
  if (there?.isHuman === true && isMachine)
    return declined(`${name} is a person in the trust file`, "leave --machine out, or choose another name");
  if (there === null && keys.length + openpgp.length === 0 && github === null)
    return declined(`${name} would have nothing to sign with`, "give --key FILE.pub, --openpgp FILE or --github ID");
  if (asApprover && trust.approvals.length === 0)
    return declined("there is no approval rule", "write one under spec.approvals, and increment spec.version");
  const own =
    there === null
      ? [newPrincipal(name, principalOf({ isHuman: !isMachine, keys, openpgp, github }))]
      : [...newKeys(there, { keys, openpgp }), ...newAccount(there, github)];
  const roots = asRoot && !trust.roots.principals.includes(name) ? [item(["spec"], "roots", name)] : [];
  const rules = trust.approvals.flatMap(({ principals }, at) =>
    asApprover && !principals.includes(name) ? [item(["spec", "approvals", at], "principals", name)] : [],
  );
  return edits(...own, ...roots, ...rules);
}

const newPrincipal = (name: string, value: Json): YamlEdit => ({
  kind: "set",
  under: ["spec", "principals"],
  key: name,
  value,
});

const item = (under: readonly (string | number)[], key: string, it: Json): YamlEdit => ({
  kind: "append",
  under,
  key,
  item: it,
});

interface Keys {
  readonly keys: readonly string[];
  readonly openpgp: readonly string[];
}

/** Those that they have not got yet. */
function newKeys({ name, sshKeys, openPgp }: Principal, { keys, openpgp }: Keys): readonly YamlEdit[] {
  const under = ["spec", "principals", name];
  return [
    ...keys.filter((it) => !sshKeys.includes(keyFingerprint(it))).map((it) => item(under, "keys", it)),
    ...openpgp.filter((it) => !openPgp.has(keyFingerprint(it))).map((it) => item(under, "openpgp", it)),
  ];
}

function newAccount({ name, forgeIds }: Principal, github: string | null): readonly YamlEdit[] {
  if (github === null || forgeIds.get("github") === github) return [];
  const under = ["spec", "principals", name];
  if (forgeIds.size === 0) return [{ kind: "set", under, key: "forge", value: { github } }];
  return [{ kind: "set", under: [...under, "forge"], key: "github", value: github }];
}

/** The fingerprint of a key line or an armored certificate; of what cannot be used, one that nothing has. */
function keyFingerprint(key: string): string {
  const read = key.startsWith("-----") ? parseOpenPgpKey(key) : parseSshKey(key);
  return read.kind === "key" ? read.fingerprint : "";
}

function rotated(trust: Trust, change: TrustChange & { readonly kind: "rotate" }): TrustEdits {
  const { name, keys, openpgp, as } = change;
  const principal = trust.principals.get(name);
  if (principal === undefined) return nobody(trust, name);
  const own = [...principal.sshKeys, ...principal.openPgp.keys()];
  if (change.old === null && own.length !== 1)
    return declined(
      `${name} has ${own.length} keys`,
      `choose the old one: --retire or --compromised with one of ${own.join(", ")}`,
    );
  const old = normalizedFingerprint(change.old ?? own[0] ?? "");
  if (!own.includes(old))
    return declined(
      `${old} is not a key of ${name}`,
      own.length === 0 ? "they have none" : `theirs are ${own.join(", ")}`,
    );
  const fresh = newKeys(principal, { keys, openpgp });
  if (fresh.length === 0)
    return declined(`${name} already has the new key`, `flotilla trust revoke ${old} --${as} revokes the old one`);
  const away: YamlEdit = {
    kind: "drop",
    under: ["spec", "principals", name],
    key: old.startsWith("SHA256:") ? "keys" : "openpgp",
    selects: (it) => typeof it === "string" && keyFingerprint(it) === old,
  };
  return edits(...fresh, away, ...revocations(trust, [old], as));
}

const nobody = ({ principals }: Trust, name: string): TrustEdits =>
  declined(`${name} is not in the trust file`, `known are ${[...principals.keys()].join(", ")}`);

const wholeFingerprint = /^(?:SHA256:[A-Za-z0-9+/]{43}|[0-9A-Fa-f]{40}|[0-9A-Fa-f]{64})$/;

function revoked(trust: Trust, { what, as }: TrustChange & { readonly kind: "revoke" }): TrustEdits {
  if (wholeFingerprint.test(what)) return edits(...revocations(trust, [normalizedFingerprint(what)], as));
  const principal = trust.principals.get(what);
  if (principal === undefined) {
    const known = [...trust.principals.keys()].join(", ");
    const fix = `give SHA256:… of an SSH key, all digits of an OpenPGP fingerprint, or one of ${known}`;
    return declined(`${what} is neither a full fingerprint nor a name in the trust file`, fix);
  }
  const own = [...principal.sshKeys, ...principal.openPgp.keys()];
  if (own.length === 0)
    return declined(
      `${what} has no key of their own`,
      "revoke the authority by its fingerprint, or remove the principal by hand",
    );
  return edits(...revocations(trust, own, as));
}

/** A key that is retired can still turn out to be compromised; never the other way round. */
const revocations = (trust: Trust, keys: readonly string[], as: Revocation["kind"]): readonly YamlEdit[] =>
  keys.flatMap((key): readonly YamlEdit[] => {
    const at = trust.revocations.findIndex((it) => it.key === key);
    if (at < 0) return [item(["spec"], "revocations", { key, kind: as })];
    if (as === "retired" || trust.revocations[at]?.kind === as) return [];
    return [{ kind: "set", under: ["spec", "revocations", at], key: "kind", value: as }];
  });

/**
 * The next version of a trust file: edited, counted up, and chained to the text before
 * (`trust/README.md#the-trust-file`). Every other byte stays. Null when it cannot be edited.
 */
export function nextTrustText(
  text: string,
  { version, digest }: Trust,
  changes: readonly YamlEdit[],
  expires: Instant | null,
): string | null {
  const under = ["spec"];
  const all: readonly YamlEdit[] = [
    { kind: "set", under, key: "version", value: version + 1 },
    { kind: "set", under, key: "previous", value: digest, after: "version" },
    ...(expires === null ? [] : [{ kind: "set", under, key: "expires", value: instantText(expires) } as const]),
    ...changes,
  ];
  let edited: string | null = text;
  for (const it of all) edited = edited === null ? null : editedText(edited, 0, it);
  return edited;
}

export interface FirstTrust {
  /** The one person who may change it, and approve. */
  readonly name: string;
  readonly keys: readonly string[];
  readonly openpgp: readonly string[];
  /** Which stages of which placements; none means all. */
  readonly approves: readonly { readonly placement: string; readonly stage: string }[];
  readonly expires: Instant;
}

/** The text of version 1: one root, and a rule for every approved pair. `readTrust` says whether it can be used. */
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
interface NewPrincipal {
  readonly isHuman: boolean;
  readonly keys: readonly string[];
  readonly openpgp: readonly string[];
  readonly github: string | null;
}

/** A principal as the file has it: without what there is none of. */
const principalOf = ({ isHuman, keys, openpgp, github }: NewPrincipal) => ({
  human: isHuman,
  ...(keys.length === 0 ? {} : { keys }),
  ...(openpgp.length === 0 ? {} : { openpgp }),
  ...(github === null ? {} : { forge: { github } }),
});
