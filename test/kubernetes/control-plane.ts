import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
  type ApiServer,
  type ApiServerOptions,
  assertRunning,
  programsFor,
  start,
  startApiServer,
} from "./api-server.ts";
import { controlPlanePrograms, stagesOf } from "./assets.ts";
import { eventually } from "./eventually.ts";

/** What a cluster is to be like. */
export interface ControlPlaneOptions extends ApiServerOptions {
  /** Names of its nodes; one, `node-1`, when nothing is said. */
  readonly nodes?: readonly string[];
}

/**
 * Starts a cluster in which workloads become available by themselves: controllers make pods, the scheduler binds them to nodes,
 * and kwok says of both that they are ready. Namespaces really go away in it, and owners really take what they own with them.
 */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ApiServer> {
  const programs = await programsFor(controlPlanePrograms);
  const server = await startApiServer(options);
  const folder = server.folder;
  await writeFile(join(folder, "admin.kubeconfig"), JSON.stringify(server.kubeconfig()), { mode: 0o600 });
  const started = commands(server, programs).map(([name, command]) => start({ path: folder }, name, command));
  const stop = async () => {
    await Promise.all(started.map((it) => it.stop()));
    await server.stop();
  };
  try {
    for (const node of options.nodes ?? ["node-1"]) await createNode(server, node);
    for (const node of options.nodes ?? ["node-1"]) {
      await eventually(
        `node ${node} is ready`,
        async () => {
          await assertRunning(folder, started);
          return isSchedulable(server, node);
        },
        120_000,
      );
    }
    return { ...server, programs, pids: [...server.pids, ...started.map((it) => it.pid)], stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function commands(
  server: ApiServer,
  programs: ApiServer["programs"],
): readonly (readonly [string, readonly string[]])[] {
  const { folder } = server;
  const common = [`--kubeconfig=${folder}/admin.kubeconfig`];
  // Nobody asks them anything, so they need no port; nothing but us competes for the API server, so they need not hold back.
  const controller = [
    ...common,
    "--leader-elect=false",
    "--kube-api-qps=500",
    "--kube-api-burst=1000",
    "--secure-port=0",
  ];
  return [
    [
      "kube-controller-manager",
      [
        programs["kube-controller-manager"],
        ...controller,
        "--use-service-account-credentials=false",
        // kwok says once that its nodes are ready. After 50 s of silence their pods would count as unready, and for good.
        "--node-monitor-grace-period=24h",
        `--service-account-private-key-file=${folder}/sa.key`,
      ],
    ],
    ["kube-scheduler", [programs["kube-scheduler"], ...controller]],
    [
      "kwok",
      [programs.kwok, ...common, "--manage-all-nodes=true", `--config=${stagesOf(programs)}`, "--server-address="],
    ],
  ];
}

async function createNode(server: ApiServer, name: string): Promise<void> {
  const room = { cpu: "64", memory: "256Gi", pods: "500" };
  const body = { apiVersion: "v1", kind: "Node", metadata: { name }, status: { capacity: room, allocatable: room } };
  const answer = await server.request({ method: "POST", path: "/api/v1/nodes", body });
  if (answer.status !== 201) throw new Error(`node ${name} was not created: ${answer.text}`);
}

interface NodeObject {
  readonly spec?: { readonly taints?: readonly unknown[] };
  readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] };
}

async function isSchedulable(server: ApiServer, name: string): Promise<true | null> {
  const answer = await server.request({ path: `/api/v1/nodes/${name}` });
  const node: NodeObject = JSON.parse(answer.text);
  const isReady = node.status?.conditions?.some((it) => it.type === "Ready" && it.status === "True") === true;
  return isReady && (node.spec?.taints ?? []).length === 0 ? true : null;
}
