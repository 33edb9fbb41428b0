import { Buffer } from "node:buffer";
import fs, { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import git from "isomorphic-git";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parseOpenPgpKey } from "../../../src/core/intent/trust/openpgp-key.ts";
import { parseSshKey } from "../../../src/core/intent/trust/ssh-key.ts";
import type { SignatureFact } from "../../../src/core/model/commit.ts";
import type { Instant } from "../../../src/core/model/value.ts";
import { commitBytes, commitId } from "../../../src/shell/signature/commit-bytes.ts";
import { detachedSignature } from "../../../src/shell/signature/verifier.ts";
import { type Corpus, makeCorpus, type Specimen } from "./corpus.ts";
import {
  certificateOf,
  certified,
  gpgSigner,
  hasGpg,
  hasSshKeygen,
  type Signer,
  signatureOf,
  sshSigner,
} from "./workshop.ts";

const now = Date.now() as Instant;
const dayMs = 86_400_000;
let corpus: Corpus;
beforeAll(() => {
  corpus = makeCorpus("all");
});
afterAll(() => corpus?.workshop.close());

const factOf = (raw: Uint8Array): Promise<SignatureFact> => signatureOf(raw, corpus.certificates, now);
const verdictOn = async (raw: Uint8Array): Promise<string> => {
  const fact = await factOf(raw);
  return fact.kind === "rejected" ? fact.code : fact.kind;
};
const isGood = (verdict: string): boolean => verdict === "ssh" || verdict === "openpgp";
const changed = (raw: Buffer, from: RegExp, to: string): Buffer =>
  Buffer.from(raw.toString("latin1").replace(from, to), "latin1");
const specimen = (signer: string, name = "plain"): Specimen => {
  const found = corpus.specimens.find((it) => it.signer.name === signer && it.name === name);
  if (found === undefined) throw new Error(`no ${name} by ${signer}`);
  return found;
};
/** Of the key that signs, as ssh-keygen and gpg print it. */
function fingerprintOf({ format, key }: Signer): string {
  if (format === "openpgp") return key;
  const file = key.endsWith(".pub") ? key : `${key}.pub`;
  return corpus.workshop.run("ssh-keygen", ["-lf", file]).toString("utf8").split(" ")[1] ?? "";
}

describe.skipIf(!hasSshKeygen && !hasGpg)("commits that git signed", () => {
  test("are accepted, all of them, and by the key that signed", async () => {
    const seen = [];
    const want = [];
    for (const { name, signer, raw } of corpus.specimens) {
      const fact = await factOf(raw);
      const row = { signer: signer.name, name };
      seen.push({ ...row, kind: fact.kind, by: "fingerprint" in fact ? fact.fingerprint : null, git: gitAccepts(raw) });
      want.push({ ...row, kind: signer.format, by: fingerprintOf(signer), git: true });
    }
    expect(seen).toEqual(want);
    expect(seen.length).toBeGreaterThanOrEqual(hasSshKeygen && hasGpg ? 50 : 10);
  });

  test("are refused once anything in them changes, by git and by us", async () => {
    const changes: readonly (readonly [RegExp, string])[] = [
      [/^tree [0-9a-f]{2}/, "tree 00"],
      [/\nauthor A/, "\nauthor B"],
      [/> (\d+) /, "> 1 "],
      [/\ncommitter .*/, "\ncommitter Bo <bo@example.com> 1 +0000"],
      [/\nparent [0-9a-f]{40}/, ""],
      [/$/, "\n"],
      [/\n\n/, "\n\nNot "],
      [/(\n )([A-Za-z0-9+/]{20})([A-Za-z0-9+/]{20})/, "$1$3$2"],
      [/-----END/, "----END"],
    ];
    const accepted: string[] = [];
    for (const { signer, name, raw } of corpus.specimens.filter((it) => it.name === "plain")) {
      for (const [from, to] of changes) {
        const other = changed(raw, from, to);
        expect(other.equals(raw), `${from} changes ${signer.name}`).toBe(false);
        if (isGood(await verdictOn(other))) accepted.push(`${signer.name} ${name} ${from}`);
      }
    }
    expect(accepted).toEqual([]);
    const { raw } = corpus.specimens[0] ?? { raw: Buffer.alloc(0) };
    expect(changes.map(([from, to]) => gitAccepts(changed(raw, from, to)))).toEqual(changes.map(() => false));
  });

  test("do not lend their signature to each other", async () => {
    const header = /gpgsig (.*\n(?: .*\n)*)/;
    const [one, two] = [corpus.specimens[0], corpus.specimens.at(-1)];
    if (one === undefined || two === undefined) return;
    const theirs = header.exec(two.raw.toString("latin1"))?.[0] ?? "";
    expect(await verdictOn(changed(one.raw, header, theirs))).toBe("Mismatch");
  });
});

describe.skipIf(!hasSshKeygen)("with ssh-keygen", () => {
  test("a certificate is reported as it is", async () => {
    const fact = await factOf(specimen("ed25519 certified by authority").raw);
    const { workshop } = corpus;
    const printed = workshop
      .run("ssh-keygen", ["-Lf", specimen("ed25519 certified by authority").signer.key])
      .toString();
    const [, from = "", to = ""] = /Valid: from (\S+) to (\S+)/.exec(printed) ?? [];
    expect(fact).toEqual({
      kind: "ssh",
      fingerprint: fingerprintOf(specimen("ed25519").signer),
      keyType: "ssh-ed25519",
      namespace: "git",
      touched: null,
      certificate: {
        authority: fingerprintOf({ name: "", format: "ssh", key: join(workshop.root, "authority") }),
        keyId: "badge 7",
        principals: ["anna@example.com", "ops"],
        validAfter: Date.parse(`${from}Z`),
        validBefore: Date.parse(`${to}Z`),
      },
    });
    const forEver = await factOf(specimen("ecdsa256 certified by authority").raw);
    expect(forEver.kind === "ssh" && forEver.certificate?.validBefore).toBe(null);
  });

  test("files are verified as it verifies them, whatever namespace they were signed for", async () => {
    const { workshop } = corpus;
    const file = join(workshop.root, "plan.txt");
    writeFileSync(file, "what will happen\n");
    const signers = new Map(
      corpus.specimens.filter((it) => it.signer.format === "ssh").map((it) => [it.signer.key, it]),
    );
    for (const { signer } of signers.values()) {
      for (const namespace of ["file", "flotilla-approval", "git"]) {
        const armored = workshop.run(
          "ssh-keygen",
          ["-Y", "sign", "-n", namespace, "-f", signer.key],
          readFileSync(file),
        );
        const fact = await detachedSignature(readFileSync(file), armored.toString("latin1"), [], now);
        expect(fact).toMatchObject({ kind: "ssh", namespace, fingerprint: fingerprintOf(signer) });
        expect(sshKeygenAccepts(armored, namespace, readFileSync(file))).toBe(true);
        const other = Buffer.from("what will not happen\n");
        expect(await detachedSignature(other, armored.toString("latin1"), [], now)).toMatchObject({ code: "Mismatch" });
        expect(sshKeygenAccepts(armored, namespace, other)).toBe(false);
      }
    }
  });

  test("a signature that was made for something else says so, and others judge it", async () => {
    const { raw, signer } = specimen("ed25519");
    const other = resigned(signer, raw, "file");
    expect([gitAccepts(other), await factOf(other)]).toMatchObject([false, { kind: "ssh", namespace: "file" }]);
  });

  test("a public key in a trust file has the fingerprint that it prints", () => {
    const lines = ["ed25519", "ecdsa256", "ecdsa384", "ecdsa521", "rsa2048", "rsa3072"].map((name) => {
      const signer = specimen(name).signer;
      const key = parseSshKey(readFileSync(`${signer.key}.pub`, "utf8"));
      return key.kind === "key" ? key.fingerprint === fingerprintOf(signer) : key.code;
    });
    expect(lines).toEqual([true, true, true, true, "FLT1226", true]);
  });

  test("we are stricter where it says so", async () => {
    const { workshop } = corpus;
    const ed25519 = specimen("ed25519").signer;
    const weak = sshSigner(workshop, "rsa1024", "-t", "rsa", "-b", "1024");
    const narrowed = certified(workshop, { ...ed25519, name: "ed25519" }, specimen("ecdsa256").signer, ...narrowing);
    const badHeaders = (from: RegExp, to: string): Buffer =>
      resigned(ed25519, changed(specimen("ed25519").raw, from, to));
    const rows: readonly (readonly [string, Buffer, string])[] = [
      ["RSA of 1024 bits", workshop.commit(weak, "Hello\n"), "Weak"],
      ["a certificate that may do one thing only", workshop.commit(narrowed, "Hello\n"), "Unsupported"],
      ["a header that nobody knows", badHeaders(/\n\n/, "\nx-approved-by Bo\n\n"), "Malformed"],
      ["two trees", badHeaders(/^(tree .*\n)/, "$1$1"), "Malformed"],
      ["a carriage return in a name", badHeaders(/author A/, "author A\r"), "Malformed"],
      [
        "a second signature for SHA-256",
        changed(specimen("ed25519").raw, /\n\n/, "\ngpgsig-sha256 x\n\n"),
        "Unsupported",
      ],
      ["words after the armor", changed(specimen("ed25519").raw, /\n\n/, "\n and more\n\n"), "Malformed"],
    ];
    const seen = [];
    for (const [name, raw] of rows) seen.push([name, gitAccepts(raw), await verdictOn(raw)]);
    expect(seen).toEqual(rows.map(([name, , verdict]) => [name, true, verdict]));
  });

  test("a certificate for hosts is no certificate of a person", async () => {
    const host = certified(corpus.workshop, specimen("ecdsa384").signer, specimen("ed25519").signer, "-h");
    const raw = corpus.workshop.commit(host, "Hello\n");
    expect([gitAccepts(raw), await verdictOn(raw)]).toEqual([false, "Unsupported"]);
  });
});

const narrowing = ["-n", "anna@example.com", "-O", "force-command=/bin/true"];

describe.skipIf(!hasGpg)("with gpg", () => {
  test("a certificate in a trust file has the fingerprint that it prints", () => {
    const signers = ["gpg ed25519-never", "gpg nistp256-never", "gpg ed25519-ed25519-never"].map(
      (it) => specimen(it).signer,
    );
    const keys = signers.map((it) => parseOpenPgpKey(certificateOf(corpus.workshop, it)));
    expect(keys).toMatchObject(signers.map((it) => ({ kind: "key", fingerprint: it.key })));
  });

  test("an expired key signs nothing any more, whenever it says that it signed", async () => {
    const { raw } = specimen("gpg rsa2048-nistp384/ecdsa-2y");
    const verdicts = [now, (now + 700 * dayMs) as Instant, (now + 800 * dayMs) as Instant].map((at) =>
      signatureOf(raw, corpus.certificates, at),
    );
    expect((await Promise.all(verdicts)).map((it) => ("code" in it ? it.code : it.kind))).toEqual([
      "openpgp",
      "openpgp",
      "Expired",
    ]);
  });

  test("an empty line after the armor, as GitHub leaves it, is all right", async () => {
    const raw = changed(specimen("gpg ed25519-never").raw, /(-----END PGP SIGNATURE-----\n)/, "$1 \n");
    expect([gitAccepts(raw), await verdictOn(raw)]).toEqual([true, "openpgp"]);
  });

  test("a signature that was made to expire does", async () => {
    const { workshop } = corpus;
    writeFileSync(join(workshop.root, "gnupg", "gpg.conf"), "default-sig-expire 30d\n");
    const raw = workshop.commit(specimen("gpg ed25519-never").signer, "Hello\n");
    writeFileSync(join(workshop.root, "gnupg", "gpg.conf"), "");
    const later = await signatureOf(raw, corpus.certificates, (now + 40 * dayMs) as Instant);
    expect([gitAccepts(raw), await verdictOn(raw), later]).toMatchObject([true, "openpgp", { code: "Expired" }]);
  });

  test("a revoked key signs nothing any more, and neither does one that is not in the list", async () => {
    const { workshop } = corpus;
    const signer = gpgSigner(workshop, "ed25519", null, "1y");
    const raw = workshop.commit(signer, "Hello\n");
    const before = [certificateOf(workshop, signer)];
    const revocation = readFileSync(join(workshop.root, "gnupg", "openpgp-revocs.d", `${signer.key}.rev`), "utf8");
    const good = [gitAccepts(raw), (await signatureOf(raw, before, now)).kind];
    workshop.run("gpg", ["--batch", "--quiet", "--import"], revocation.replace(":-----BEGIN", "-----BEGIN"));
    const after = await signatureOf(raw, [certificateOf(workshop, signer)], now);
    expect([...good, gitAccepts(raw), after, await verdictOn(raw)]).toEqual([
      ...[true, "openpgp", false],
      { kind: "rejected", code: "Revoked", message: `the key ${signer.key} is revoked` },
      "UnknownKey",
    ]);
  });

  test("SHA-1 is refused, which gpg takes", async () => {
    const { workshop } = corpus;
    const { signer } = specimen("gpg rsa2048-never");
    writeFileSync(join(workshop.root, "gnupg", "gpg.conf"), "digest-algo SHA1\n");
    const raw = workshop.commit(signer, "Hello\n");
    writeFileSync(join(workshop.root, "gnupg", "gpg.conf"), "");
    expect([gitAccepts(raw), await verdictOn(raw)]).toEqual([true, "Weak"]);
  });

  test("SHA-1 is refused in what a certificate says about its keys, too", async () => {
    const { workshop } = corpus;
    writeFileSync(join(workshop.root, "gnupg", "gpg.conf"), "cert-digest-algo SHA1\n");
    const signer = gpgSigner(workshop, "rsa2048", null, "2y");
    writeFileSync(join(workshop.root, "gnupg", "gpg.conf"), "");
    const raw = workshop.commit(signer, "Hello\n");
    const fact = await signatureOf(raw, [certificateOf(workshop, signer)], now);
    expect([gitAccepts(raw), fact]).toMatchObject([true, { code: "Unsupported" }]);
  });

  test("a signed commit wrapped in another message is refused, though isomorphic-git gives what was signed", async () => {
    const { raw } = specimen("gpg ed25519-never");
    const text = raw.toString("latin1");
    const end = " -----END PGP SIGNATURE-----";
    const [headers = "", message = ""] = text.split(`${end}\n\n`);
    // Their payload goes on after the first end of an armor that closes its line; here that is in the message.
    const spoof = `${headers}${end} \n\nApprove everything\n${end.trim()}\n\n${message}`;
    const planted = corpus.workshop.plant(Buffer.from(spoof, "latin1"));
    const { payload } = await git.readCommit({ fs, dir: corpus.workshop.repository, oid: planted });
    const ours = commitBytes(raw);
    expect(payload).toBe(ours.kind === "commit" && Buffer.from(ours.payload).toString("utf8"));
    expect([gitAccepts(Buffer.from(spoof, "latin1")), await verdictOn(Buffer.from(spoof, "latin1"))]).toEqual([
      false,
      "Malformed",
    ]);
    const closed = Buffer.from(spoof.replace(`${end} \n`, `${end}\n`), "latin1");
    expect([gitAccepts(closed), await verdictOn(closed)]).toEqual([false, "Mismatch"]);
  });
});

test("a commit has the id that git gives it", () => {
  const raw = corpus.specimens[0]?.raw ?? Buffer.from("tree");
  const id = corpus.workshop.run("git", ["hash-object", "-t", "commit", "--literally", "--stdin"], raw);
  expect(commitId(raw)).toBe(id.toString("utf8").trim());
});

const gitAccepts = (raw: Uint8Array): boolean => corpus.workshop.gitAccepts(raw);

function sshKeygenAccepts(armored: Buffer, namespace: string, file: Uint8Array): boolean {
  const { root, attempt } = corpus.workshop;
  writeFileSync(join(root, "detached"), armored);
  const who = ["-f", join(root, "allowed"), "-I", "anna@example.com"];
  return (
    attempt("ssh-keygen", ["-Y", "verify", ...who, "-n", namespace, "-s", join(root, "detached")], file).code === 0
  );
}

/** A commit as it is, signed anew. */
function resigned({ key }: Signer, raw: Buffer, namespace = "git"): Buffer {
  const text = raw.toString("latin1").replace(/gpgsig .*\n(?: .*\n)*/, "");
  const payload = Buffer.from(text, "latin1");
  const armored = corpus.workshop
    .run("ssh-keygen", ["-Y", "sign", "-n", namespace, "-f", key], payload)
    .toString("latin1");
  const header = `gpgsig ${armored.trimEnd().replaceAll("\n", "\n ")}`;
  return Buffer.from(
    text.replace("\n\n", () => `\n${header}\n\n`),
    "latin1",
  );
}
