import { generateKeyPairSync } from "node:crypto";
import { join } from "node:path";
import { digestOfText } from "../../src/core/model/json.ts";
import { openRepository } from "../../src/shell/git/open.ts";
import { systemClock, systemEntropy } from "../../src/shell/host/system.ts";
import { newMemory } from "../../src/shell/reconcile/memory.ts";
import { pass } from "../../src/shell/reconcile/pass.ts";
import type { Ports, Repository, Settings } from "../../src/shell/reconcile/ports.ts";
import type { Audit } from "../../src/shell/reconcile/verify/findings.ts";
import { auditState } from "../../src/shell/reconcile/verify/verify.ts";
import { type SigningKey, signingKeyOf } from "../../src/shell/signature/ssh-sign.ts";
import { verifier } from "../../src/shell/signature/verifier.ts";
import { type Hub, makeHub } from "./hub.ts";
import { perfectFleet } from "./perfect-fleet.ts";
import { endProfile, startProfile } from "./profile.ts";
import { cpuOfEndedChildren, forgetPeak, peakMemory } from "./usage.ts";
import { changeOf, editOf, type File, type Size, workloadOf } from "./workload.ts";

/** What `verify --full` of a state branch cost. */
export interface AuditOutcome {
  readonly commits: number;
  /** Seconds by the clock, and on a core. */
  readonly took: number;
  readonly cpu: number;
  readonly peakMemory: number;
  readonly looked: Audit["looked"];
  readonly faults: number;
}

interface Orders {
  readonly size: Size;
  readonly commits: number;
  readonly profiles: string | null;
  readonly say: (text: string) => void;
}

/** Has a reconciler write so many signed commits about a fleet that changes all the time, and audits all of them. */
export async function measureAudit(folder: string, { size, commits, profiles, say }: Orders): Promise<AuditOutcome> {
  const hub = makeHub(folder);
  const key = newKey();
  const open = (cache: string): Promise<Repository> =>
    openRepository({
      ...{ repo: hub.path, branch: "main", stateBranch: "fleet/state", engine: "program", token: null },
      ...{ cacheFolder: join(folder, cache), sign: key.sign },
    });
  const writer = await open("writer");
  const ports: Ports = {
    ...{ repository: writer, fleet: perfectFleet(size.members), clock: systemClock, verifier, entropy: systemEntropy },
  };
  const trust = trustText(newKey(), key);
  const anchor = digestOfText(trust);
  hub.push("main", [...workloadOf(size), ["trust/root.yaml", trust]]);
  const settings = { ...others, trustAnchor: anchor, stateSigning: { fingerprint: key.fingerprint, accepted: null } };
  await write({ hub, ports, settings, size, commits, say });
  await writer.close();
  say(`auditing ${hub.commitsSince(null)} commits`);
  const repository = await open("reader");
  forgetPeak();
  if (profiles !== null) await startProfile();
  const [spent, children, from] = [process.cpuUsage(), cpuOfEndedChildren(), performance.now()];
  const audit = await auditState({ repository, verifier }, { full: true, anchor });
  await repository.close();
  const took = (performance.now() - from) / 1000;
  const { user, system } = process.cpuUsage(spent);
  if (profiles !== null) await endProfile(join(profiles, "audit.cpuprofile"));
  const cpu = (user + system) / 1e6 + cpuOfEndedChildren() - children;
  const { looked, faults, more } = audit;
  for (const it of faults.slice(0, 3)) say(`${it.check}: ${it.what}`);
  return { commits: audit.commits, took, cpu, peakMemory: peakMemory(), looked, faults: faults.length + more };
}

interface Writing {
  readonly hub: Hub;
  readonly ports: Ports;
  readonly settings: Settings;
  readonly size: Size;
  readonly commits: number;
  readonly say: (text: string) => void;
}

/** Pushes edits of contents, and now and then of what is scheduled, until there are so many commits about them. */
async function write({ hub, ports, settings, size, commits, say }: Writing): Promise<void> {
  const memory = newMemory();
  for (let [made, change] = [0, 0]; made < commits; change += 1) {
    if (change > 0) hub.push("main", changesAt(change, size));
    for (let isMoving = true; isMoving; ) {
      const result = await pass(ports, settings, memory, true);
      if (result.kind !== "passed") throw new Error(JSON.stringify(result));
      if (result.committed !== null) made += 1;
      isMoving = result.committed !== null || result.receipts.length > 0;
    }
    if (change % 50 === 0) say(`${made} of ${commits} commits`);
  }
}

function changesAt(change: number, size: Size): readonly File[] {
  const edits = [0, 1, 2, 3].flatMap((it) => editOf((change * 4 + it) % size.placements, `change ${change}`));
  if (change % 10 !== 0) return edits;
  return [...edits, ...(change % 20 === 0 ? changeOf("policy", size) : workloadOf(size).filter(isScheduled))];
}

/** The placement whose policy {@link changeOf} edits, as it was. */
const isScheduled = ([path]: File): boolean => path.startsWith("placements/");

const others = { members: "ask", patience: "none", acceptRewrite: null } as const;

function newKey(): SigningKey {
  const key = signingKeyOf(String(generateKeyPairSync("ed25519").privateKey.export({ format: "pem", type: "pkcs8" })));
  if (key.kind === "unusable") throw new Error(`the key ${key.message}`);
  return key;
}

const trustText = (ann: SigningKey, robot: SigningKey): string => `apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: 1
  expires: "2028-01-01T00:00:00Z"
  threshold: 1
  roots: [ann]
  principals:
    ann: {human: true, keys: ["${ann.publicKey}"]}
    robot: {human: false, keys: ["${robot.publicKey}"]}
  approvals:
    - {placements: ["*"], stages: ["*"], principals: [ann]}
`;
