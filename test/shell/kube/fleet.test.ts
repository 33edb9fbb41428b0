import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startApiServer } from "../../kubernetes/api-server.ts";
import { describeKubernetes } from "../../kubernetes/describe-kubernetes.ts";
import { kubeconfigOf, mergeKubeconfigs } from "../../kubernetes/kubeconfig.ts";
import { walksAreFull } from "../../long-walks.ts";
import { fleetContract } from "./fleet.contract.ts";
import type { TestCluster } from "./member-world.ts";

await describeKubernetes("with real servers", "API servers", () => {
  // Who watches begins with a list: the short way is left to `embedded-fleet.test.ts` for the fleet that only lists.
  if (walksAreFull) fleetContract("kube-apiserver", startReal);
  fleetContract("kube-apiserver, watched", startReal, "watches");
});

async function startReal(): Promise<TestCluster> {
  const server = await startApiServer({ name: "admin", users: { limited: [] } });
  const folder = await mkdtemp(join(tmpdir(), "flotilla-fleet-"));
  const kubeconfig = join(folder, "kubeconfig");
  const everybody = mergeKubeconfigs([
    server.kubeconfig("admin"),
    server.kubeconfig("limited", "limited"),
    kubeconfigOf("stranger", server.url, server.certificate, "nobody-knows-this-token"),
    kubeconfigOf("dead", "https://127.0.0.1:1", server.certificate, "token"),
  ]);
  await writeFile(kubeconfig, JSON.stringify(everybody), { mode: 0o600 });
  return {
    kubeconfig,
    contexts: { admin: "admin", limited: "limited", stranger: "stranger", dead: "dead" },
    close: async () => {
      await server.stop();
      await rm(folder, { recursive: true });
    },
  };
}
