import { afterAll, beforeAll, expect, test } from "vitest";
import { walksAreFull } from "../long-walks.ts";
import type { ApiServer } from "./api-server.ts";
import { startControlPlane } from "./control-plane.ts";
import { describeKubernetes } from "./describe-kubernetes.ts";
import { eventually } from "./eventually.ts";

await describeKubernetes("a whole control plane", "control planes", () => {
  let cluster: ApiServer;
  beforeAll(async () => {
    cluster = await startControlPlane({ name: "whole" });
  }, 300_000);
  afterAll(() => cluster?.stop());

  const labels = { app: "web" };
  const template = { metadata: { labels }, spec: { containers: [{ name: "web", image: "example.com/web:1" }] } };
  const inNamespace = { name: "web", namespace: "shop" };
  const rest = { metadata: inNamespace, spec: { replicas: 3, selector: { matchLabels: labels }, template } };

  // Stories that run on whole clusters show it as well, on a short way.
  test.runIf(walksAreFull)(
    "makes a Deployment available, a Job complete, and really deletes a namespace",
    async () => {
      const job = { spec: { containers: template.spec.containers, restartPolicy: "Never" } };
      const objects = [
        { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } },
        { apiVersion: "apps/v1", kind: "Deployment", ...rest },
        { apiVersion: "batch/v1", kind: "Job", metadata: inNamespace, spec: { template: job } },
      ];
      const list = JSON.stringify({ apiVersion: "v1", kind: "List", items: objects });
      await cluster.kubectl(["apply", "-f", "-"], list);
      await cluster.kubectl(["-n", "shop", "wait", "--for=condition=Available", "deployment/web", "--timeout=60s"]);
      await cluster.kubectl(["-n", "shop", "wait", "--for=condition=Complete", "job/web", "--timeout=60s"]);
      await cluster.kubectl(["delete", "namespace", "shop", "--wait=false"]);
      const gone = await eventually("namespace shop is gone", async () => {
        const { status } = await cluster.request({ path: "/api/v1/namespaces/shop" });
        return status === 404 ? status : null;
      });
      expect(gone).toBe(404);
    },
    200_000,
  );
});
