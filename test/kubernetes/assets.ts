import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { absent, buildPrograms, type GoModule, go, type Missing, notWanted } from "./go-programs.ts";

/** The programs that tests start. */
export type ProgramName = keyof typeof packages;
/** Absolute path of each program; those that were not asked for may not be there. */
export type Programs = Readonly<Record<ProgramName, string>>;

const packages = {
  etcd: "go.etcd.io/etcd/server/v3",
  "kube-apiserver": "k8s.io/kubernetes/cmd/kube-apiserver",
  "kube-controller-manager": "k8s.io/kubernetes/cmd/kube-controller-manager",
  "kube-scheduler": "k8s.io/kubernetes/cmd/kube-scheduler",
  kubectl: "k8s.io/kubernetes/cmd/kubectl",
  kwok: "sigs.k8s.io/kwok/cmd/kwok",
} as const;

/** What an API server without controllers needs. */
export const apiServerPrograms: readonly ProgramName[] = ["etcd", "kube-apiserver", "kubectl"];
/** What a cluster needs in which workloads become available by themselves. */
export const controlPlanePrograms: readonly ProgramName[] = [
  ...apiServerPrograms,
  "kube-controller-manager",
  "kube-scheduler",
  "kwok",
];

/** Kept beside kwok, which does nothing without: how fast its nodes and pods become ready, finish and go away. */
const stagesFile = "kwok-stages.yaml";

const folder = fileURLToPath(new URL(".", import.meta.url));

/**
 * Finds Kubernetes' programs: in `KUBEBUILDER_ASSETS`, then in the cache folder, and builds there what neither has.
 */
export async function findPrograms(names: readonly ProgramName[]): Promise<Programs | Missing> {
  if (notWanted !== null) return notWanted;
  const assets = process.env["KUBEBUILDER_ASSETS"] ?? "";
  const absentThere = assets === "" ? names : await absent(assets, names);
  // A kwok of those assets would come without its stages.
  const elsewhere = names.filter((name) => name === "kwok" || absentThere.includes(name));
  if (elsewhere.length === 0) return locate(assets, assets, []);
  const built = await buildPrograms(await kubernetesModule(), elsewhere);
  return built.kind === "missing" ? built : locate(assets, built.folder, elsewhere);
}

/** The configuration file of a kwok that was found. */
export function stagesOf(programs: Programs): string {
  return join(programs.kwok, "..", stagesFile);
}

function locate(assets: string, cache: string, inCache: readonly ProgramName[]): Programs {
  const path = (name: ProgramName) => join(inCache.includes(name) ? cache : assets, name);
  return {
    etcd: path("etcd"),
    "kube-apiserver": path("kube-apiserver"),
    "kube-controller-manager": path("kube-controller-manager"),
    "kube-scheduler": path("kube-scheduler"),
    kubectl: path("kubectl"),
    kwok: path("kwok"),
  };
}

async function kubernetesModule(): Promise<GoModule> {
  const text = await readFile(join(folder, "go.mod"), "utf8");
  const [, version = "", major = "", minor = ""] = /k8s\.io\/kubernetes (v(\d+)\.(\d+)\.\S+)/.exec(text) ?? [];
  // Programs that are not built by Kubernetes' own scripts call themselves v0.0.0-master, and clients judge servers by that.
  const stamp = { gitVersion: version, gitMajor: major, gitMinor: minor };
  const linkerFlags = Object.entries(stamp).map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  return { folder, packages, linkerFlags, companions: async () => ({ [stagesFile]: await kwokStages() }) };
}

async function kwokStages(): Promise<string> {
  const module: { Dir: string } = JSON.parse(await go(folder, ["mod", "download", "-json", "sigs.k8s.io/kwok"]));
  const texts: string[] = [];
  for (const kind of ["node", "pod"]) {
    const stages = join(module.Dir, "kustomize/stage", kind, "fast");
    const files = (await readdir(stages)).filter((name) => name.endsWith(".yaml") && name !== "kustomization.yaml");
    for (const file of files.toSorted()) texts.push(await readFile(join(stages, file), "utf8"));
  }
  return texts.join("\n---\n");
}
