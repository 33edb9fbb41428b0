import { homedir } from "node:os";
import { join } from "node:path";
import type { SignatureFact } from "../../core/model/commit.ts";
import type { BlobId, DurationMs, Instant } from "../../core/model/value.ts";
import { type ForgeAddress, forgeAddressOf, gitHubOf } from "../../shell/forge/address.ts";
import { openForge } from "../../shell/forge/forge.ts";
import { identityAt, openAuthor, pastTexts, signingKeyAt } from "../../shell/git/author/author.ts";
import { blobIdOf } from "../../shell/git/author/worktree.ts";
import { fetchedBranch, localGitDir, openRepository, originOf } from "../../shell/git/open.ts";
import { watchRepository } from "../../shell/git/watch.ts";
import { systemClock, systemEntropy } from "../../shell/host/system.ts";
import { kubeFleet } from "../../shell/kube/fleet.ts";
import type { Author, Clock, Fleet, Ports, Repository } from "../../shell/reconcile/ports.ts";
import { signingKeyOf } from "../../shell/signature/ssh-sign.ts";
import { detachedSignature, verifier } from "../../shell/signature/verifier.ts";
import type { Terminal } from "../terminal/terminal.ts";

/** Options that every command which reads the hub has. */
export interface HubOptions {
  /** A path or URL; null: the remote `origin` of the repository that the command runs in. */
  readonly repo: string | null;
  readonly branch: string;
  readonly stateBranch: string;
  readonly git: "auto" | "iso" | "program";
  /** Where mirrors of remote repositories are kept; null: the user's cache folder. */
  readonly cache: string | null;
  /** The repository's page on its forge, where reviews are; null: GitHub, for a hub there; absent: nowhere. */
  readonly forge?: string | null;
  /** Signs what is committed to the state branch; absent: nobody does. */
  readonly sign?: (payload: Uint8Array) => string;
  /** In a clone, a branch that it does not have is the one last fetched from `origin`; see {@link readableHub}. */
  readonly tracked?: boolean;
}

/** Options of the commands that contact members. */
interface MemberOptions {
  /** Null: `KUBECONFIG`, or `~/.kube/config`. */
  readonly kubeconfig: string | null;
  /** How long one member may take to answer. */
  readonly deadline: DurationMs | null;
  /** Watches members, and rings when one changes; `heartbeat` is how often their presence is checked. */
  readonly watch?: { readonly ring: () => void; readonly heartbeat: DurationMs };
  /** A program that says properties of members. */
  readonly propertyCommand?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

/** The one place that knows every adapter: turns what the command line says into ports. */
export async function openPorts(
  hub: HubOptions,
  fleet: MemberOptions | null,
  environment: Environment,
): Promise<Ports> {
  const repository = await openHub(hub, environment);
  try {
    return {
      repository,
      fleet: fleet === null ? noFleet : await openFleet(fleet),
      clock: systemClock,
      verifier,
      ...(await forgeOf(hub, environment)),
      entropy: systemEntropy,
    };
  } catch (error) {
    await repository.close();
    throw error;
  }
}

/** What {@link openPorts} gives, closed again once `use` is done with it. */
export const withPorts = async <T>(
  hub: HubOptions,
  fleet: MemberOptions | null,
  environment: Environment,
  use: (ports: Ports) => Promise<T>,
): Promise<T> => {
  const ports = await openPorts(hub, fleet, environment);
  return closing(ports.repository, () => closing(ports.fleet, () => use(ports)));
};

/** Closes what was opened once `use` is done with it, however that ends. */
export async function closing<R extends { close(): Promise<void> }, T>(
  opened: R,
  use: (it: R) => Promise<T>,
): Promise<T> {
  try {
    return await use(opened);
  } finally {
    await opened.close();
  }
}

/** What is wrong with what `--forge` was given; null when nothing is. */
export function forgeProblem(at: string | null): string | null {
  const address = at === null ? null : forgeAddressOf(at);
  return typeof address === "string" ? address : null;
}

/** The forge on which reviews of the hub are looked up, where one is asked. */
async function forgeOf(hub: HubOptions, environment: Environment): Promise<Pick<Ports, "forge">> {
  const { forge: at, branch } = hub;
  if (at === undefined) return {};
  const repo = await repoOf(hub);
  const address = at === null ? await gitHubAt(repo) : forgeAddressOf(at);
  if (address === null || typeof address === "string") return {};
  // The hub's token is sent to no other host.
  const own = isAtHub(address, repo) ? environment["FLOTILLA_GIT_TOKEN"] : undefined;
  const token = environment["FLOTILLA_FORGE_TOKEN"] || own || null;
  return { forge: openForge({ address, branch, token }) };
}

/** Whether a forge is on the host that the URL of a hub names. */
const isAtHub = ({ name }: ForgeAddress, repo: string): boolean =>
  URL.canParse(repo) && new URL(repo).host === name.split("/")[0];

/** A hub on GitHub, or a clone of one. */
async function gitHubAt(repo: string): Promise<ForgeAddress | null> {
  const isRemote = /^[\w+.-]+:\/\/|^[^/]+@[^/]+:/.test(repo);
  const remote = isRemote ? repo : await originOf(repo);
  return remote === null ? null : gitHubOf(remote);
}

/** Opens the hub alone, for commands that only read what is recorded. */
export async function openHub(hub: HubOptions, environment: Environment): Promise<Repository> {
  const { branch, stateBranch, git, cache, sign, tracked } = hub;
  return openRepository({
    repo: await repoOf(hub),
    branch,
    stateBranch,
    engine: git,
    cacheFolder: cache ?? join(environment["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "flotilla"),
    token: environment["FLOTILLA_GIT_TOKEN"] ?? null,
    ...(sign === undefined ? {} : { sign }),
    ...(tracked === undefined ? {} : { tracked }),
  });
}

/** The hub to read from: a clone without the state branch reads what was last fetched of it, and a note says so. */
export async function readableHub<T extends HubOptions>(hub: T, { err }: Pick<Terminal, "err">): Promise<T> {
  const { stateBranch } = hub;
  const fetched = hub.repo === null ? null : await fetchedBranch(hub.repo, stateBranch);
  if (fetched === null) return hub;
  err(`note: ${stateBranch} is read from ${fetched}, as of the last git fetch\n`);
  return { ...hub, tracked: true };
}

/** A private key that signs commits of the state branch, or what is wrong with its file. */
export const signingKey = (text: string): ReturnType<typeof signingKeyOf> => signingKeyOf(text);

/** Opens the work tree at `--repo`, or the current one. */
export const openWorkTree = ({ repo }: Pick<HubOptions, "repo">): Promise<Author> => openAuthor(repo ?? ".");

/** Opens the record of a work tree's fleet: there, or at its remote `origin` if the state branch is not there. */
export async function openRecord(hub: HubOptions, environment: Environment): Promise<Repository> {
  const here = await openHub(hub, environment);
  if (hub.repo === null) return here;
  const origin = (await here.heads()).state === null ? await originOf(hub.repo) : null;
  if (origin === null) return here;
  await here.close();
  return openHub({ ...hub, repo: origin }, environment);
}

/** Opens the record that a work tree's reconciler writes: at its remote `origin`, or there if it has none. */
export async function openReconcilerRecord(hub: HubOptions, environment: Environment): Promise<Repository> {
  const origin = hub.repo === null ? null : await originOf(hub.repo);
  return openHub(origin === null ? hub : { ...hub, repo: origin }, environment);
}

export const clockOf = ({ clock }: Pick<Terminal, "clock">): Clock => clock ?? systemClock;

/** Where the remote `origin` of a work tree is; null where it has none. */
export const originUrl = ({ repo }: Pick<HubOptions, "repo">): Promise<string | null> => originOf(repo ?? ".");

/** How git calls whoever runs us; null when it does not know. */
export const gitIdentity = ({ repo }: Pick<HubOptions, "repo">): Promise<string | null> => identityAt(repo ?? ".");

/** The public half of what git here signs with; null where it is not set up to sign. */
export const gitSigningKey = ({ repo }: Pick<HubOptions, "repo">) => signingKeyAt(repo ?? ".");

/** What a file said in earlier commits of the work tree, the newest first. */
export const committedVersions = ({ repo }: Pick<HubOptions, "repo">, path: string): Promise<readonly string[]> =>
  pastTexts(repo ?? ".", path);

/** The id under which git stores a text. */
export const blobIdOfText = (text: string): BlobId => blobIdOf(new TextEncoder().encode(text));

/** The time, for commands that have no ports. */
export const now = (): Instant => systemClock.now();

/** What an armored signature says about a text, by what is known now. `certificates`: armored, of OpenPGP. */
export const detachedSignatureFact = (
  text: string,
  armored: string,
  certificates: readonly string[],
): Promise<SignatureFact> => detachedSignature(new TextEncoder().encode(text), armored, certificates, now());

/** Rings when a hub on this machine changes. A hub elsewhere has nothing to watch: it is polled. */
export async function watchHub(hub: HubOptions, ring: () => void, signal: AbortSignal): Promise<void> {
  const folder = await localGitDir(await repoOf(hub));
  if (folder !== null) await watchRepository(folder, ring, signal);
}

const repoOf = async ({ repo }: HubOptions): Promise<string> => repo ?? (await originOf(".")) ?? ".";

const openFleet = ({ kubeconfig, deadline, watch, propertyCommand }: MemberOptions): Promise<Fleet> =>
  kubeFleet({
    kubeconfig,
    clock: systemClock,
    ...(deadline === null ? {} : { deadlineMs: deadline }),
    ...(watch === undefined ? {} : { watch: { onChange: watch.ring, heartbeatMs: watch.heartbeat } }),
    ...(propertyCommand === undefined ? {} : { propertyCommand }),
  });

/** For commands that contact no member. */
const noFleet: Fleet = {
  observe: async () => ({ kind: "unreachable", code: "NoConnection", message: "this command contacts no member" }),
  act: async ({ name }) => ({
    cluster: name,
    created: 0,
    configured: 0,
    deleted: 0,
    released: 0,
    failed: 0,
    interrupted: "this command contacts no member",
  }),
  clockOffsets: () => [],
  close: async () => {},
};
