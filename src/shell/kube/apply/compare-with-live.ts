import jsonPatch from "fast-json-patch";
import type { Failure } from "../../../core/apply/failure.ts";
import { isObject, type JsonObject } from "../../../core/model/json.ts";
import { objectText } from "../../../core/model/manifest.ts";
import { fieldManager, flotillaGroup } from "../../../core/model/names.ts";
import type { RenderedManifest } from "../../../core/model/plan.ts";
import { applyPatch, type Client } from "../client/client.ts";
import { type ApiResource, collectionPath, objectPath } from "../client/discovery.ts";
import { failureMessage } from "./apply-context.ts";

interface Comparison {
  readonly client: Client;
  readonly resource: ApiResource;
  readonly item: RenderedManifest;
  readonly isFull: boolean;
}

/**
 * Whether the live object says what the manifest says, or where it does not, never what. Asked of the member as a dry
 * run of the apply (`apply/README.md#c-20`); the full comparison also finds what the manifest would not give it.
 */
export async function compareWithLive(comparison: Comparison): Promise<Failure | null> {
  const { client, resource, item, isFull } = comparison;
  const path = objectPath(resource, item.id);
  const [live, applied] = await Promise.all([
    client.request({ method: "GET", path }),
    client.request({
      method: "PATCH",
      path,
      query: { fieldManager, force: "true", dryRun: "All" },
      contentType: applyPatch,
      body: item.manifest,
    }),
  ]);
  const refusal = live.kind === "refused" ? live : applied.kind === "refused" ? applied : null;
  if (refusal !== null) {
    const said = failureMessage(refusal, item.id.kind);
    return { code: "FailedToTakeOver", message: `it cannot be compared with what is there: ${said}` };
  }
  if (live.kind === "refused" || applied.kind === "refused") return null;
  const here = comparable(live.body);
  const changes = jsonPatch.compare(here, comparable(applied.body)).map((it) => it.path);
  const extras = isFull ? await extrasOf(comparison, here) : [];
  const paths = [...new Set([...changes, ...extras])].sort();
  if (paths.length === 0) return null;
  const shown = paths.slice(0, 3).join(", ");
  const rest = paths.length > 3 ? ` and ${paths.length - 3} more` : "";
  const message = `${objectText(item.id)} existed before and differs at ${shown}${rest}; whenToTakeOver is IfNoDiff`;
  return { code: "FailedToTakeOver", message };
}

/** What the live object has beyond a fresh one made from the manifest: the member is asked how that would look. */
async function extrasOf({ client, resource, item }: Comparison, here: JsonObject): Promise<readonly string[]> {
  const metadata = isObject(item.manifest["metadata"]) ? item.manifest["metadata"] : {};
  const name = `${item.id.name.slice(0, 40)}-compare`;
  const fresh = await client.request({
    method: "POST",
    path: collectionPath(resource, item.id.namespace),
    query: { fieldManager, dryRun: "All" },
    body: { ...item.manifest, metadata: { ...metadata, name } },
  });
  const wanted = comparable(fresh.kind === "done" ? fresh.body : item.manifest);
  return jsonPatch
    .compare(wanted, here)
    .filter((it) => it.op === "add" && !assigned.test(it.path))
    .map((it) => it.path);
}

/** Fields that the server assigns to one object alone. */
const assigned =
  /^\/spec\/(clusterIPs?|healthCheckNodePort|volumeName|ports\/\d+\/nodePort)$|^\/metadata\/(name|namespace)$/;

/** An object without metadata, the keys of `apply/README.md#c-8`, and what the server keeps. */
function comparable(object: JsonObject): JsonObject {
  const { status: _, metadata, ...rest } = object;
  const { labels, annotations } = isObject(metadata) ? metadata : { labels: null, annotations: null };
  return { ...rest, metadata: { labels: comparableKeys(labels), annotations: comparableKeys(annotations) } };
}

const ignoredKeys: ReadonlySet<string> = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deployment.kubernetes.io/revision",
  "kubernetes.io/metadata.name",
]);

function comparableKeys(map: JsonObject[string] | undefined): JsonObject {
  if (!isObject(map)) return {};
  return Object.fromEntries(
    Object.entries(map).filter(([key]) => !ignoredKeys.has(key) && !key.startsWith(`${flotillaGroup}/`)),
  );
}
