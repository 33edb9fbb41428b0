import { execFileSync } from "node:child_process";
import { createHash, generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { deflateSync } from "node:zlib";
import { createMessage, generateKey, sign } from "openpgp";
import type { Commit } from "../../src/core/model/value.ts";
import { signingKeyOf } from "../../src/shell/signature/ssh-sign.ts";

/** Somebody who signs, by one of the two formats. */
export interface BenchSigner {
  readonly format: "SSH" | "OpenPGP";
  /** His line among the principals of a trust file. */
  readonly principal: string;
  /** The armored signature of a commit over its content. */
  readonly sign: (payload: Uint8Array) => Promise<string>;
}

/** Ann, with a fresh key for each format: both Ed25519, as most people's are. */
export async function makeSigners(): Promise<readonly BenchSigner[]> {
  const pem = generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" });
  const ssh = signingKeyOf(String(pem));
  if (ssh.kind === "unusable") throw new Error(`the key ${ssh.message}`);
  const userIDs = [{ name: "Ann", email: "ann@example.com" }];
  const { privateKey, publicKey } = await generateKey({ userIDs, format: "object", date: new Date("2026-01-01") });
  const certificate = publicKey.armor().replaceAll("\r\n", "\n");
  return [
    {
      format: "SSH",
      principal: JSON.stringify({ human: true, keys: [ssh.publicKey] }),
      sign: async (payload) => ssh.sign(payload),
    },
    {
      format: "OpenPGP",
      principal: JSON.stringify({ human: true, openpgp: [certificate] }),
      sign: async (payload) => {
        const message = await createMessage({ binary: Uint8Array.from(payload) });
        const armored = await sign({ message, signingKeys: privateKey, detached: true, format: "armored" });
        return String(armored).replaceAll("\r\n", "\n");
      },
    },
  ];
}

/** The bytes of a commit, signed. */
export async function signedCommit(
  signer: BenchSigner,
  { tree, parent, message }: { readonly tree: string; readonly parent: string | null; readonly message: string },
): Promise<Buffer> {
  const who = "Ann <ann@example.com> 1800000000 +0000";
  const above = [`tree ${tree}`, ...(parent === null ? [] : [`parent ${parent}`]), `author ${who}`, `committer ${who}`];
  const below = `\n\n${message}\n`;
  const signature = await signer.sign(Buffer.from(above.join("\n") + below));
  const header = `gpgsig ${signature.trimEnd().replaceAll("\n", "\n ")}`;
  return Buffer.from([...above, header].join("\n") + below);
}

/** The id that git gives to such an object. */
export const objectId = (kind: "commit", bytes: Buffer): string =>
  createHash("sha1").update(`${kind} ${bytes.length}\0`).update(bytes).digest("hex");

/** A repository whose `main` has so many commits, all of them signed, each of which changes one of 200 files. */
export async function signedHistory(
  path: string,
  signer: BenchSigner,
  count: number,
): Promise<{ readonly root: Commit; readonly head: Commit }> {
  const git = (args: readonly string[], input = ""): string =>
    execFileSync("git", ["--git-dir", path, ...args], { input, encoding: "utf8", maxBuffer: 1 << 30 });
  execFileSync("git", ["init", "--quiet", "--bare", "--initial-branch=main", path]);
  git(["fast-import", "--quiet"], Array.from({ length: count + 1 }, (_, at) => change(at)).join(""));
  const ids: string[] = [];
  for (const tree of git(["log", "--reverse", "--format=%T", "main"]).trim().split("\n")) {
    const commit = { tree, parent: ids.at(-1) ?? null, message: `change ${ids.length}` };
    const bytes = await signedCommit(signer, commit);
    ids.push(plant(path, bytes));
  }
  const [root = "", head = ""] = [ids[0], ids.at(-1)];
  git(["update-ref", "refs/heads/main", head]);
  git(["repack", "-a", "-d", "--quiet"]);
  return { root: root as Commit, head: head as Commit };
}

function change(at: number): string {
  const name = `app-${at % 200}`;
  const text = `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: ${name}\n  namespace: web\ndata:\n  value: "${at}"\n`;
  const path = `resources/${name}.yaml`;
  const message = `change ${at}`;
  const head = `commit refs/heads/main\ncommitter ann <ann@example.com> ${1_800_000_000 + at} +0000\n`;
  return `${head}data ${message.length}\n${message}\nM 100644 inline ${path}\ndata ${text.length}\n${text}\n`;
}

function plant(path: string, bytes: Buffer): string {
  const id = objectId("commit", bytes);
  const file = join(path, "objects", id.slice(0, 2), id.slice(2));
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, deflateSync(Buffer.concat([Buffer.from(`commit ${bytes.length}\0`), bytes])));
  return id;
}
