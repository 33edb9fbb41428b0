import { Agent, get } from "node:https";
import { type JsonObject, member, memberAt, textOf } from "../../src/core/model/json.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";

/** Everything that may stand in a namespace of these tests. */
const contents = ["configmaps", "serviceaccounts"];

/**
 * Empties and ends namespaces of an API server that has no controllers, as soon as somebody deletes them: Kubernetes' own
 * controller would do the same, five seconds later. Runs until it is stopped.
 */
export function endNamespaces(server: ApiServer): { stop(): void } {
  const agent = new Agent({ ca: server.certificate });
  const headers = { authorization: `Bearer ${server.token()}` };
  const busy = new Set<string>();
  let rest = "";
  const take = (text: string): void => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const namespace: JsonObject = member(JSON.parse(line), "object") as JsonObject;
      const uid = textOf(memberAt(namespace, "metadata", "uid")) ?? "";
      if (memberAt(namespace, "metadata", "deletionTimestamp") === null || busy.has(uid)) continue;
      busy.add(uid);
      // A server that is being stopped answers nothing any more.
      end(server, namespace).catch(() => {});
    }
  };
  const watching = get(`${server.url}/api/v1/namespaces?watch=true`, { agent, headers }, (response) => {
    response.setEncoding("utf8").on("data", take);
    response.on("error", () => {});
  });
  watching.on("error", () => {});
  return {
    stop: () => {
      watching.destroy();
      agent.destroy();
    },
  };
}

async function end(server: ApiServer, namespace: JsonObject): Promise<void> {
  const path = `/api/v1/namespaces/${textOf(memberAt(namespace, "metadata", "name"))}`;
  await Promise.all(contents.map((it) => server.request({ method: "DELETE", path: `${path}/${it}` })));
  const body = { ...namespace, apiVersion: "v1", kind: "Namespace", spec: { finalizers: [] } };
  await server.request({ method: "PUT", path: `${path}/finalize`, body });
}
