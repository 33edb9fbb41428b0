// Commits that real programs signed, with keys of all kinds, in all shapes.
import { Buffer } from "node:buffer";
import {
  certificateOf,
  certified,
  gpgSigner,
  hasGpg,
  hasSshKeygen,
  openWorkshop,
  type Signer,
  sshSigner,
  type Workshop,
} from "./workshop.ts";

export interface Specimen {
  readonly name: string;
  readonly signer: Signer;
  readonly raw: Buffer;
}

export interface Corpus {
  readonly workshop: Workshop;
  readonly specimens: readonly Specimen[];
  /** Armored, of everybody who signs with gpg. */
  readonly certificates: readonly string[];
}

/** More than 50 commits with `all` kinds of keys; a few kinds are made in a second. */
export function makeCorpus(kinds: "all" | "few"): Corpus {
  const workshop = openWorkshop();
  try {
    return corpusIn(workshop, kinds);
  } catch (error) {
    workshop.close();
    throw error;
  }
}

function corpusIn(workshop: Workshop, kinds: "all" | "few"): Corpus {
  workshop.git("commit", "-q", "--allow-empty", "-m", "Before");
  const isAll = kinds === "all";
  const ssh = hasSshKeygen ? (isAll ? sshSigners : fewSshSigners)(workshop) : [];
  const gpg = hasGpg ? (isAll ? gpgSigners : fewGpgSigners)(workshop) : [];
  const specimens = [...ssh, ...gpg].flatMap((signer) => shapesBy(workshop, signer));
  const odd = [ssh[0], gpg[0]].flatMap((signer) => (signer === undefined ? [] : oddShapesBy(workshop, signer)));
  const certificates = gpg.map((signer) => certificateOf(workshop, signer));
  return { workshop, specimens: [...specimens, ...odd], certificates };
}

function sshSigners(workshop: Workshop): readonly Signer[] {
  const ed25519 = sshSigner(workshop, "ed25519", "-t", "ed25519");
  const ecdsa = ["256", "384", "521"].map((bits) => sshSigner(workshop, `ecdsa${bits}`, "-t", "ecdsa", "-b", bits));
  const rsa = ["2048", "3072"].map((bits) => sshSigner(workshop, `rsa${bits}`, "-t", "rsa", "-b", bits));
  const authority = sshSigner(workshop, "authority", "-t", "ed25519");
  const principals = ["-n", "anna@example.com,ops", "-V", "-1d:+52w"];
  return [
    ...[ed25519, ...ecdsa, ...rsa],
    certified(workshop, ed25519, authority, ...principals),
    certified(workshop, ecdsa[0]!, authority, "-n", "anna@example.com"), // Three are made above.
    certified(workshop, rsa[0]!, ecdsa[1]!, ...principals), // Two are made above.
    certified(workshop, ecdsa[2]!, rsa[1]!, ...principals),
  ];
}

function fewSshSigners(workshop: Workshop): readonly Signer[] {
  const ed25519 = sshSigner(workshop, "ed25519", "-t", "ed25519");
  const ecdsa = sshSigner(workshop, "ecdsa256", "-t", "ecdsa");
  return [ed25519, ecdsa, certified(workshop, ed25519, ecdsa, "-n", "anna@example.com")];
}

const fewGpgSigners = (workshop: Workshop): readonly Signer[] => [
  gpgSigner(workshop, "ed25519"),
  gpgSigner(workshop, "nistp256", "ed25519"),
];

const gpgSigners = (workshop: Workshop): readonly Signer[] => [
  gpgSigner(workshop, "ed25519"),
  gpgSigner(workshop, "rsa2048"),
  gpgSigner(workshop, "nistp256"),
  gpgSigner(workshop, "ed25519", "ed25519"),
  gpgSigner(workshop, "rsa2048", "nistp384/ecdsa", "2y"),
];

const shapesBy = (workshop: Workshop, signer: Signer): readonly Specimen[] => [
  { name: "plain", signer, raw: workshop.commit(signer, "Approve web 8\n") },
  { name: "crlf", signer, raw: workshop.commit(signer, "Approve\r\n\r\ntree 0\r\n gpgsig -----BEGIN\r\n") },
  { name: "unicode", signer, raw: workshop.commit(signer, `Zażółć gęślą jaźń\n\n${"Because. ".repeat(200)}`) },
];

function oddShapesBy(workshop: Workshop, signer: Signer): readonly Specimen[] {
  const { git, run, contentOf, signingAs } = workshop;
  const made = (name: string, raw: Buffer): Specimen => ({ name, signer, raw });
  const tree = git("rev-parse", "HEAD^{tree}");
  const by = signingAs(signer);
  const tip = (...args: string[]): Buffer => contentOf(git(...by, "commit-tree", "-S", tree, ...args));
  const start = git("rev-parse", "HEAD");
  const aside = git("commit-tree", tree, "-p", start, "-m", `aside of ${signer.name}`);
  git(...by, "tag", "-s", "-m", "Version", `v-${signer.format}`, aside);
  run("git", [...by, "merge", "-q", "-S", "--no-ff", "-m", "Merge a tag", `v-${signer.format}`]);
  return [
    made("a tag merged", contentOf("HEAD")),
    made("root", tip("-m", "First")),
    made("merge", tip("-m", "Merge", "-p", start, "-p", aside)),
    made("no message", workshop.commit(signer, "", "-c", "core.editor=true")),
    made("latin-1", workshop.commit(signer, Buffer.from("Größe\n", "latin1"), "-c", "i18n.commitEncoding=ISO-8859-1")),
    made("no line break", workshop.commit(signer, "done")),
  ];
}
