import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { walksAreFull } from "../long-walks.ts";
import { type ApiServer, startApiServer } from "./api-server.ts";
import { describeKubernetes } from "./describe-kubernetes.ts";
import { eventually } from "./eventually.ts";
import { mergeKubeconfigs } from "./kubeconfig.ts";
import { countMutations } from "./mutations.ts";
import { request } from "./request.ts";
import { isRunning } from "./supervise.ts";

await describeKubernetes("an API server", "API servers", () => {
  let server: ApiServer;
  beforeAll(async () => {
    server = await startApiServer({ name: "one", users: { reader: ["people"] } });
  }, 200_000);
  afterAll(() => server?.stop());

  const configMap = (name: string) => ({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { a: "1" } });
  const configMaps = "/api/v1/namespaces/default/configmaps";

  test("says which Kubernetes it is", async () => {
    const { text } = await server.request({ path: "/version" });
    expect(JSON.parse(text)).toMatchObject({ major: "1", minor: "36", gitVersion: expect.stringMatching(/^v1\.36\./) });
  });

  test("is trusted by its own certificate and by no other", async () => {
    const door = { url: server.url, certificate: server.certificate, token: server.token() };
    expect((await request(door, { path: "/readyz" })).status).toBe(200);
    const otherwise = request({ ...door, certificate: "" }, { path: "/readyz" });
    await expect(otherwise).rejects.toThrow(/certificate|unable to verify/);
  });

  test("lets nobody in without a token, and refuses a user to whom nobody gave a role", async () => {
    const stranger = { url: server.url, certificate: server.certificate, token: "none" };
    expect((await request(stranger, { path: configMaps })).status).toBe(401);
    expect((await server.request({ path: configMaps }, "reader")).status).toBe(403);
    await server.kubectl(["create", "clusterrole", "look", "--verb=get,list", "--resource=configmaps"]);
    await server.kubectl(["create", "clusterrolebinding", "people-look", "--clusterrole=look", "--group=people"]);
    // The authorizer learns of the binding a moment later.
    const status = await eventually("the binding is in force", async () => {
      const answer = await server.request({ path: configMaps }, "reader");
      return answer.status === 403 ? null : answer.status;
    });
    expect(status).toBe(200);
    const write = { method: "POST", path: configMaps, body: configMap("forbidden") };
    expect((await server.request(write, "reader")).status).toBe(403);
  });

  test("counts what changed something, and no dry run", async () => {
    const before = await countMutations(server, ["configmaps"]);
    const body = configMap("counted");
    await server.request({ method: "POST", path: `${configMaps}?dryRun=All`, body });
    expect(await countMutations(server, ["configmaps"])).toBe(before);
    await server.request({ method: "POST", path: configMaps, body });
    const contentType = "application/apply-patch+yaml";
    const path = `${configMaps}/counted?fieldManager=test&force=true`;
    await server.request({ method: "PATCH", path, body, contentType });
    await server.request({ method: "DELETE", path: `${configMaps}/counted` });
    expect(await countMutations(server, ["configmaps"])).toBe(before + 3);
  });

  test("can be one context of several in a kubeconfig", async () => {
    const both = mergeKubeconfigs([server.kubeconfig("east"), server.kubeconfig("west", "reader")]);
    expect(both.contexts.map((it) => it.name)).toEqual(["east", "west"]);
    expect(both["current-context"]).toBe("east");
    expect(() => mergeKubeconfigs([both, server.kubeconfig("west")])).toThrow("two of the kubeconfigs");
  });
});

await describeKubernetes("several API servers", "API servers", () => {
  test.runIf(walksAreFull)(
    "start together, are strangers to each other, and leave nothing behind",
    async () => {
      const servers = await Promise.all(["a", "b"].map((name) => startApiServer({ name })));
      const uids = await Promise.all(
        servers.map((it) => it.kubectl(["get", "ns", "kube-system", "-o", "jsonpath={.metadata.uid}"])),
      );
      expect(new Set(uids).size).toBe(2);
      await Promise.all(servers.map((it) => it.stop()));
      expect(servers.flatMap((it) => it.pids).filter(isRunning)).toEqual([]);
      expect(servers.filter((it) => existsSync(it.folder))).toEqual([]);
    },
    200_000,
  );
});
