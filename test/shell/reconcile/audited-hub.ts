// A repository on disk with people's keys, a reconciler that signs, members in memory, and somebody who forges its record.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { digestOfText } from "../../../src/core/model/json.ts";
import { type Commit, type Digest, type PlacementKey, type RunKey, seconds } from "../../../src/core/model/value.ts";
import { decisionVersion } from "../../../src/core/plan/decision.ts";
import { openRepository } from "../../../src/shell/git/open.ts";
import { systemEntropy } from "../../../src/shell/host/system.ts";
import { type Memory, newMemory } from "../../../src/shell/reconcile/memory.ts";
import { type PassResult, pass } from "../../../src/shell/reconcile/pass.ts";
import type { Forge, Ports, StateSigning } from "../../../src/shell/reconcile/ports.ts";
import { readStateBranch } from "../../../src/shell/reconcile/state.ts";
import { type AuditQuestion, auditState } from "../../../src/shell/reconcile/verify/verify.ts";
import { type SigningKey, signingKeyOf } from "../../../src/shell/signature/ssh-sign.ts";
import { verifier } from "../../../src/shell/signature/verifier.ts";
import { Member } from "../../member.ts";
import { openWorkshop, type Signer, sshSigner, type Workshop } from "../signature/workshop.ts";
import { type HandClock, handClock } from "./hand-clock.ts";
import { once } from "./stage.ts";

export interface AuditedHub {
  readonly workshop: Workshop;
  readonly ann: Signer;
  readonly bob: Signer;
  readonly robot: Signer;
  readonly key: SigningKey;
  /** Somebody's key, to forge with. */
  readonly keyOf: (signer: Signer) => SigningKey;
  readonly clock: HandClock;
  /** By which passes are made: signed by the robot where that was asked for. */
  readonly ports: Ports;
  readonly anchor: Digest;
  push(signer: Signer | null, files: Readonly<Record<string, string | null>>): Commit;
  /** Passes until nothing changes. */
  settle(memory?: Memory): Promise<void>;
  onePass(seal?: StateSigning): Promise<PassResult>;
  /** The file that answers the gate of the run, as somebody would write it. */
  answer(principal: string, decision?: string): Promise<Readonly<Record<string, string>>>;
  /** The same for the change of the placement. */
  answerChange(principal: string): Promise<Readonly<Record<string, string>>>;
  /** A version of the trust file after the one that stands there, and the signature of a root under it. */
  nextTrust(signer: Signer | null): Readonly<Record<string, string>>;
  readonly head: (branch?: string) => Commit;
  /** A file of the state branch, at its tip or elsewhere. */
  readonly stateFile: (path: string, at?: string) => string;
  /** Puts a commit on the state branch that no reconciler wrote, under the next sequence. */
  forge(how: Forgery): Commit;
  readonly verify: (more?: Partial<AuditQuestion>) => ReturnType<typeof auditState>;
  close(): Promise<void>;
}

export interface Forgery {
  /** On which commit; its tip where nothing is said. */
  readonly on?: string;
  /** Instead of that commit, and with all that it changed. */
  readonly like?: Commit;
  readonly files?: Readonly<Record<string, string | ((text: string) => string) | null>>;
  /** By how much the sequence grows, and whether the trailers say so. */
  readonly step?: number;
  readonly signer?: SigningKey | null;
  /** What its writer says it decided by; ours where nothing is said. */
  readonly version?: number;
}

const state = "refs/heads/fleet/state";

/** How a hub is set up. */
export interface HubChoices {
  /** The reconciler signs. */
  readonly signed?: boolean;
  /** The member's namespace web changes only with an approval. */
  readonly guarded?: boolean;
  /** Its word is taken, and is asked for: Bob's account there has number 7. */
  readonly forge?: Forge;
}

/** Sets it up: what is asked for needs one approval, which nobody has given yet. */
export async function auditedHub({ signed = true, guarded = false, forge }: HubChoices = {}): Promise<AuditedHub> {
  const workshop = openWorkshop();
  const { root, repository: folder, git } = workshop;
  const [ann, bob, robot] = ["ann", "bob", "robot"].map((it) => sshSigner(workshop, it, "-t", "ed25519")) as [
    Signer,
    Signer,
    Signer,
  ];
  const keyOf = (signer: Signer): SigningKey => {
    const read = signingKeyOf(readFileSync(signer.key, "utf8"));
    if (read.kind === "unusable") throw new Error(read.message);
    return read;
  };
  const key = keyOf(robot);
  const repository = await openRepository({
    ...{ repo: folder, branch: "main", stateBranch: "fleet/state", engine: "program", token: null },
    cacheFolder: join(root, "cache"),
    ...(signed ? { sign: key.sign } : {}),
  });
  const clock = handClock();
  const asked = forge === undefined ? {} : { forge };
  const ports: Ports = { repository, fleet: fleetOf(clock), clock, verifier, entropy: systemEntropy, ...asked };
  const reviewed = forge !== undefined;
  const trust = trustText({ ann, bob, robot: signed ? robot : null }, { guarded, reviewed });
  const anchor = digestOfText(trust);
  const ownSigning: StateSigning = { fingerprint: key.fingerprint, accepted: null };
  const head = (branch = state): Commit => git("rev-parse", branch) as Commit;
  const onePass = (stateSigning: StateSigning | null = signed ? ownSigning : null, memory = newMemory()) =>
    pass(ports, { ...once, trustAnchor: anchor, ...(stateSigning === null ? {} : { stateSigning }) }, memory, true);
  const hub: AuditedHub = {
    ...{ workshop, ann, bob, robot, key, keyOf, clock, ports, anchor, head },
    push(signer, files) {
      for (const [path, text] of Object.entries(files)) {
        mkdirSync(dirname(join(folder, path)), { recursive: true });
        if (text === null) rmSync(join(folder, path));
        else writeFileSync(join(folder, path), text);
      }
      git("add", "--all");
      if (signer === null) git("commit", "-q", "--allow-empty", "-m", "unsigned");
      else git(...workshop.signingAs(signer), "commit", "-q", "-S", "--allow-empty", "-m", "signed");
      return head("HEAD");
    },
    onePass,
    async settle(memory = newMemory()) {
      for (let count = 0; count < 12; count++) {
        const result = await onePass(signed ? ownSigning : null, memory);
        if (result.kind !== "passed") throw new Error(JSON.stringify(result));
        await clock.advance(seconds(7));
        if (result.committed === null && result.receipts.length === 0) return;
      }
    },
    async answer(principal, decision = "Approve") {
      const { ledger } = await readStateBranch(repository, head());
      const gate = ledger.runs.get("first" as RunKey)?.stages[0]?.before.Approval;
      if (gate == null) throw new Error("nothing is asked for");
      return answerFile(`first-${principal}-${decision.toLowerCase()}`, { digest: gate.digest, decision, principal });
    },
    async answerChange(principal) {
      const { ledger } = await readStateBranch(repository, head());
      const request = ledger.placements.get("web" as PlacementKey)?.change?.request;
      if (request == null) throw new Error("nothing is asked for");
      return answerFile(`web-${principal}`, { digest: request.digest, decision: "Approve", principal });
    },
    nextTrust(signer) {
      const text = trustText(
        { ann, bob, robot: signed ? robot : null },
        { version: 2, previous: anchor, guarded, reviewed },
      );
      if (signer === null) return { "trust/root.yaml": text };
      const args = ["-q", "-Y", "sign", "-n", "flotilla-trust-v1", "-f", signer.key];
      const armored = workshop.run("ssh-keygen", args, text).toString("utf8");
      return { "trust/root.yaml": text, "trust/sigs/2.ann.sig": armored };
    },
    stateFile: (path, at = state) => workshop.run("git", ["show", `${at}:${path}`]).toString("utf8"),
    forge: (how) => forged(hub, how),
    verify: (more = {}) => auditState(ports, { full: true, anchor, ...more }),
    async close() {
      await repository.close();
      workshop.close();
    },
  };
  hub.push(ann, { ...files });
  hub.push(ann, { "trust/root.yaml": trust });
  return hub;
}

function answerFile(
  name: string,
  { digest, decision, principal }: { readonly digest: string; readonly decision: string; readonly principal: string },
): Readonly<Record<string, string>> {
  const spec = `{requestDigest: ${digest}, decision: ${decision}, principal: ${principal}}`;
  return { [`approvals/${name}.yaml`]: `apiVersion: flotilla.dev/v1alpha1\nkind: Approval\nspec: ${spec}\n` };
}

function fleetOf(clock: HandClock): Ports["fleet"] {
  const member = new Member("m1");
  return {
    observe: async () => member.observe(),
    act: async (_, actions) => {
      const interrupted = member.act(actions, clock.now());
      return { cluster: actions.cluster, created: 1, configured: 0, deleted: 0, released: 0, failed: 0, interrupted };
    },
    clockOffsets: () => [],
    close: async () => {},
  };
}

function forged(
  { workshop, stateFile, head, clock }: AuditedHub,
  {
    like,
    on = like === undefined ? state : `${like}~1`,
    files: changed = {},
    step = 1,
    signer = null,
    version = decisionVersion,
  }: Forgery,
): Commit {
  const { git, run } = workshop;
  const taken = like === undefined ? [] : git("diff", "--name-only", "--diff-filter=d", on, like).split("\n");
  const base = head(on);
  const sequence = Number(
    /^ {2}?sequence: (\d+)$|^sequence: (\d+)$/m.exec(stateFile("ledger.yaml", base))?.slice(1).find(Boolean),
  );
  const next = sequence + step;
  const all: Forgery["files"] = {
    "ledger.yaml": (it) => it,
    ...Object.fromEntries(taken.map((it) => [it, stateFile(it, like)])),
    ...changed,
  };
  const texts = Object.entries(all).map(([path, change]) => {
    const text = typeof change === "function" ? change(stateFile(path, base)) : change;
    const isLedger = path === "ledger.yaml" && text !== null;
    return [path, isLedger ? text.replace(/sequence: \d+/, `sequence: ${next}`) : text] as const;
  });
  const ledger = texts.find(([path]) => path === "ledger.yaml")?.[1] ?? "";
  const source = /sourceCommit: "?([0-9a-f]{40})/.exec(ledger)?.[1];
  const trailers = [`Source-Commit: ${source}`, `Ledger-Sequence: ${next}`, `Decision-Version: ${version}`];
  const message = `Decide\n\n${trailers.join("\n")}\nWriter: mallory\n`;
  // Forged at the time of the hub, whatever day it is: requests do not stay open for ever.
  const who = `mallory <mallory@example.com> ${Math.floor(clock.now() / 1000)} +0000`;
  const stream = [
    `commit refs/forged\nmark :1\nauthor ${who}\ncommitter ${who}\n${dataOf(message)}from ${base}\n`,
    ...texts.map(([path, text]) => (text === null ? `D ${path}\n` : `M 100644 inline ${path}\n${dataOf(text)}`)),
    "get-mark :1\n",
  ];
  const plain = run("git", ["fast-import", "--quiet", "--force"], stream.join("")).toString().trim();
  const commit = signer === null ? plain : resigned(workshop, plain, signer);
  git("update-ref", state, commit);
  return commit as Commit;
}

const dataOf = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;

export function resigned({ contentOf, run }: Workshop, commit: string, { sign }: SigningKey): string {
  const raw = contentOf(commit);
  const end = raw.indexOf("\n\n") + 1;
  const header = `gpgsig ${sign(raw).trimEnd().replaceAll("\n", "\n ")}\n`;
  const signed = Buffer.concat([raw.subarray(0, end), Buffer.from(header), raw.subarray(end)]);
  return run("git", ["hash-object", "-t", "commit", "-w", "--stdin"], signed).toString().trim();
}

const publicKey = ({ key }: Signer): string => readFileSync(`${key}.pub`, "utf8").trim();

interface TrustVersion {
  readonly version?: number;
  readonly previous?: string;
  readonly guarded?: boolean;
  readonly reviewed?: boolean;
}

/** A trust file: Ann may change it, Bob may approve, and the robot writes the record where it is listed. */
export function trustText(
  { ann, bob, robot }: { readonly ann: Signer; readonly bob: Signer; readonly robot: Signer | null },
  { version = 1, previous = "", guarded = false, reviewed = false }: TrustVersion = {},
): string {
  const machine = robot === null ? "" : `    robot: {human: false, keys: ["${publicKey(robot)}"]}\n`;
  const accept = reviewed ? ", accept: [commit, forge]" : "";
  return `apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: ${version}
${previous === "" ? "" : `  previous: ${previous}\n`}  expires: "2027-10-01T00:00:00Z"
  threshold: 1
  roots: [ann]
  principals:
    ann: {human: true, keys: ["${publicKey(ann)}"]}
    bob: {human: true, keys: ["${publicKey(bob)}"]${reviewed ? ', forge: {github: "7"}' : ""}}
${machine}  approvals:
    - {placements: ["*"], stages: ["*"], principals: [ann, bob], minimum: 1, fourEyes: true, unsignedChanges: oneMore${accept}}
${guarded ? "  protectedTargets:\n    - {clusters: [m1], namespaces: [web], principals: [bob], minimum: 1}\n" : ""}`;
}

const api = "placement.kubernetes-fleet.io/v1";

const files: Readonly<Record<string, string>> = {
  "clusters/m1.yaml": `apiVersion: cluster.kubernetes-fleet.io/v1
kind: MemberCluster
metadata: {name: m1, labels: {env: canary}}
spec: {identity: {kind: ServiceAccount, name: member, namespace: fleet-system}}
`,
  "web/space.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: web}\n",
  "web/config.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: web}\ndata: {value: one}\n",
  "placements/web.yaml": `apiVersion: ${api}
kind: ClusterResourcePlacement
metadata: {name: web}
spec:
  resourceSelectors: [{group: "", version: v1, kind: Namespace, name: web}]
  strategy: {type: External}
`,
  "strategies/rings.yaml": `apiVersion: ${api}
kind: ClusterStagedUpdateStrategy
metadata: {name: rings}
spec:
  stages:
    - {name: canary, labelSelector: {matchLabels: {env: canary}}, beforeStageTasks: [{type: Approval}]}
`,
  "runs/first.yaml": `apiVersion: ${api}
kind: ClusterStagedUpdateRun
metadata: {name: first}
spec: {placementName: web, stagedRolloutStrategyName: rings, state: Run}
`,
};
