// What Flotilla writes to a real API server is what the server makes of the same files from anybody: compared with a
// second server, where kubectl creates what the state branch shows as rendered.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parse, parseAllDocuments, stringify } from "yaml";
import { isObject, type Json, type JsonObject, member as memberOf } from "../../src/core/model/json.ts";
import {
  apiVersionOf,
  groupVersionOf,
  idOf,
  kindKey,
  objectText,
  type VersionedId,
} from "../../src/core/model/manifest.ts";
import { type ApiServer, startApiServer } from "../kubernetes/api-server.ts";
import { describeKubernetes } from "../kubernetes/describe-kubernetes.ts";
import { projectFolder } from "./bundle.ts";
import { contentsOf, objectAt } from "./member.ts";
import { realMember } from "./real.ts";
import { type SmallStage, setSmallStage } from "./rollouts.ts";
import { configMap, deployment, file, namespace, serviceAccount } from "./small-fleet.ts";

const cluster = "prod-eu-2";

const examplesFolder = join(projectFolder, "examples-repo");

/** Files of examples-repo with every placement on one cluster, two envelopes, and a team's placement in its namespace. */
function files(): Readonly<Record<string, string>> {
  const found: Record<string, string> = {};
  for (const path of readdirSync(examplesFolder, { recursive: true, encoding: "utf8" })) {
    if (!path.endsWith(".yaml") || /^(?:runs|strategies|budgets)\//.test(path)) continue;
    if (path.startsWith("clusters/") && path !== `clusters/${cluster}.yaml`) continue;
    const text = readFileSync(join(examplesFolder, path), "utf8");
    found[path] = path.startsWith("placements/") ? onOneCluster(text) : text;
  }
  const services = { "web-2": service("web-2", { type: "NodePort", ports: [{ port: 80, nodePort: 30_123 }] }) };
  const contents = { settings: configMap("shop/wrapped", { MODE: "one", LINES: "a\nb\n" }), secret, job, ...services };
  const roles = { role, classes: { ...priorityClass } };
  return {
    ...found,
    "resources/shop/wrapped.yaml": file(envelope("ResourceEnvelope", contents)),
    "resources/cluster/wrapped.yaml": file(envelope("ClusterResourceEnvelope", roles)),
    "placements/wrapped.yaml": file(ofEnvelope),
    "placements/team.yaml": file(ofNamespace),
    "resources/team.yaml": file(namespace("team")),
    "teams/team/placement.yaml": file(ofTeam),
    "teams/team/web.yaml": file(
      configMap("team/settings", { MODE: "one", LINES: "a\nb\n" }),
      serviceAccount("team/web"),
      deployment("team/web", "registry.example/web:1"),
    ),
    "teams/team/wrapped.yaml": file(
      envelope("ResourceEnvelope", { notes: configMap("team/notes", { A: "b" }) }, "team"),
    ),
  };
}

function onOneCluster(text: string): string {
  const { spec, ...rest } = parse(text);
  const policy = { placementType: "PickFixed", clusterNames: [cluster] };
  return stringify({ ...rest, spec: { resourceSelectors: spec.resourceSelectors, policy } });
}

const envelope = (kind: string, data: JsonObject, inside = "shop"): JsonObject => ({
  apiVersion: "placement.kubernetes-fleet.io/v1beta1",
  kind,
  metadata: { name: "wrapped", ...(kind === "ResourceEnvelope" ? { namespace: inside } : {}) },
  data,
});

const inShop = (name: string): JsonObject => ({ name, namespace: "shop", labels: { app: name } });

const service = (name: string, spec: JsonObject): JsonObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: inShop(name),
  spec: { selector: { app: name }, ...spec },
});

const secret: JsonObject = {
  apiVersion: "v1",
  kind: "Secret",
  metadata: inShop("wrapped-keys"),
  stringData: { token: "not a real one" },
};

const job: JsonObject = {
  apiVersion: "batch/v1",
  kind: "Job",
  metadata: inShop("prepare"),
  spec: {
    template: {
      metadata: { labels: { app: "prepare" } },
      spec: { restartPolicy: "Never", containers: [{ name: "prepare", image: "prepare:1" }] },
    },
  },
};

const role: JsonObject = {
  apiVersion: "rbac.authorization.k8s.io/v1",
  kind: "ClusterRole",
  metadata: { name: "wrapped" },
  rules: [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list"] }],
};

const priorityClass: JsonObject = {
  apiVersion: "scheduling.k8s.io/v1",
  kind: "PriorityClass",
  metadata: { name: "wrapped" },
  value: 1000,
};

const ofEnvelope: JsonObject = {
  apiVersion: "placement.kubernetes-fleet.io/v1beta1",
  kind: "ClusterResourcePlacement",
  metadata: { name: "wrapped" },
  spec: {
    resourceSelectors: [
      {
        group: "placement.kubernetes-fleet.io",
        version: "v1beta1",
        kind: "ClusterResourceEnvelope",
        name: "wrapped",
      },
    ],
    policy: { placementType: "PickFixed", clusterNames: [cluster] },
  },
};

const policy = { placementType: "PickFixed", clusterNames: [cluster] };

/** A Namespace alone: what is in it is its team's. */
const ofNamespace: JsonObject = {
  apiVersion: "placement.kubernetes-fleet.io/v1beta1",
  kind: "ClusterResourcePlacement",
  metadata: { name: "team" },
  spec: {
    resourceSelectors: [{ group: "", version: "v1", kind: "Namespace", name: "team", selectionScope: "NamespaceOnly" }],
    policy,
  },
};

const ofTeam: JsonObject = {
  apiVersion: "placement.kubernetes-fleet.io/v1beta1",
  kind: "ResourcePlacement",
  metadata: { name: "web", namespace: "team" },
  spec: {
    resourceSelectors: [
      { group: "", version: "v1", kind: "ConfigMap", name: "settings" },
      { group: "", version: "v1", kind: "ServiceAccount", name: "web" },
      { group: "apps", version: "v1", kind: "Deployment", name: "web" },
      { group: "placement.kubernetes-fleet.io", version: "v1beta1", kind: "ResourceEnvelope", name: "wrapped" },
    ],
    policy,
  },
};

/** What is no part of what was asked for: the server's own, what it hands out by chance, and our mark. */
function comparable(object: JsonObject | null): Json {
  if (object === null) return null;
  const { status: _, metadata, spec, ...rest } = object;
  const {
    uid: __,
    resourceVersion: ___,
    creationTimestamp: ____,
    managedFields: _____,
    generation: ______,
    ...named
  } = isObject(metadata ?? null) ? (metadata as JsonObject) : {};
  return {
    ...rest,
    metadata: { ...named, labels: withoutMark(named["labels"]), annotations: withoutMark(named["annotations"]) },
    ...(spec === undefined ? {} : { spec: withoutChance(spec) }),
  };
}

const withoutMark = (map: Json | undefined): Json =>
  Object.fromEntries(
    Object.entries(map ?? {}).filter(([key]) => !/^flotilla\.dev\/|^kubectl\.kubernetes\.io\//.test(key)),
  );

/** Addresses are handed out, and the labels that a Job's pods are found by are its uid. */
function withoutChance(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutChance);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([key]) => !/^clusterIPs?$|controller-uid$/.test(key));
  return Object.fromEntries(kept.map(([key, it]) => [key, withoutChance(it)]));
}

await describeKubernetes("a real API server", "API servers", () => {
  let stage: SmallStage;
  let beside: ApiServer;
  beforeAll(async () => {
    const [member, other] = await Promise.all([cluster, "beside"].map((name) => startApiServer({ name })));
    if (member === undefined || other === undefined) throw new Error("there are two servers");
    beside = other;
    stage = await setSmallStage(files(), { servers: [member], embedded: [] });
  }, 400_000);
  afterAll(async () => {
    await Promise.all([stage?.stop(), beside?.stop()]);
  });

  /** Where objects of a kind are found, as the server says it. */
  const pathsOf = async (): Promise<(id: VersionedId) => string> => {
    const table = await beside.kubectl(["api-resources", "--no-headers", "-o", "wide"]);
    const plurals = new Map<string, string>();
    for (const line of table.split("\n")) {
      const [, plural, apiVersion, kind] = /^(\S+)\s+(?:\S+\s+)?(\S*v\d\S*)\s+(?:true|false)\s+(\S+)/.exec(line) ?? [];
      if (plural === undefined || apiVersion === undefined || kind === undefined) continue;
      plurals.set(kindKey({ ...groupVersionOf(apiVersion), kind }), plural);
    }
    return (id) => {
      const root = id.group === "" ? "/api/v1" : `/apis/${apiVersionOf(id)}`;
      const inside = id.namespace === null ? "" : `/namespaces/${id.namespace}`;
      return `${root}${inside}/${plurals.get(kindKey(id))}/${id.name}`;
    };
  };

  /** What the state branch shows as rendered for the cluster, namespaces first. */
  const rendered = (): readonly JsonObject[] => {
    const paths = stage.hub.statePaths().filter((it) => it.startsWith(`rendered/${cluster}/`));
    const all = paths.flatMap((it) =>
      parseAllDocuments(stage.hub.stateFile(it) ?? "").map((document) => document.toJS() as JsonObject),
    );
    return all.sort((a, b) => Number(b["kind"] === "Namespace") - Number(a["kind"] === "Namespace"));
  };

  test("holds what was rendered of examples-repo and of what envelopes wrap, and nothing else of ours", async () => {
    // The team's placement comes to a cluster that is known to have its namespace.
    const runs = [await stage.reconcile(), await stage.reconcile()];
    for (const run of runs) expect(run.err).not.toContain(": error ");
    const written = rendered();
    const ids = written.flatMap((it) => idOf(it) ?? []);
    const names = ids.map(objectText);
    expect(written.length).toBeGreaterThan(25);
    expect(names).toEqual(
      expect.arrayContaining([
        ...["ConfigMap shop/wrapped", "Secret shop/wrapped-keys", "Job shop/prepare", "Service shop/web-2"],
        ...["ClusterRole wrapped", "PriorityClass.scheduling.k8s.io wrapped"],
        ...["Namespace team", "ConfigMap team/settings", "ServiceAccount team/web", "Deployment team/web"],
        "ConfigMap team/notes",
      ]),
    );
    expect(names.filter((it) => it.includes("Envelope"))).toEqual([]);
    await beside.kubectl(["create", "-f", "-"], stringifyAll(written));
    const pathOf = await pathsOf();
    const [here, there] = [stage.member(cluster), realMember(beside)];
    for (const id of ids) {
      const [ours, theirs] = [await objectAt(here, pathOf(id)), await objectAt(there, pathOf(id))];
      expect(comparable(ours), objectText(id)).toEqual(comparable(theirs));
      expect(ours, objectText(id)).not.toBeNull();
    }
    const [held, created] = [await contentsOf(here), await contentsOf(there)];
    expect([...held.keys()].sort()).toEqual([...created.keys()].sort());
  });

  test("reads back every field that was written, as it was written", async () => {
    const pathOf = await pathsOf();
    for (const manifest of rendered()) {
      const id = idOf(manifest);
      if (id === null) throw new Error("it has an identity");
      const live = await objectAt(stage.member(cluster), pathOf(id));
      expect(missingFrom(live ?? {}, manifest, []), objectText(id)).toEqual([]);
    }
  });

  test("is not written to again by another pass", async () => {
    const versions = async () => [...(await contentsOf(stage.member(cluster)))];
    const before = await versions();
    await stage.reconcile();
    expect(await versions()).toEqual(before);
  });
});

const stringifyAll = (objects: readonly JsonObject[]): string => objects.map((it) => stringify(it)).join("---\n");

/** Paths of what was written and reads otherwise. A server leaves out what is false, as it is without a word. */
function missingFrom(live: Json, written: Json, at: readonly string[]): readonly string[] {
  if (Array.isArray(written))
    return written.flatMap((it, index) =>
      missingFrom(Array.isArray(live) ? (live[index] ?? null) : null, it, [...at, String(index)]),
    );
  if (isObject(written))
    return Object.entries(written).flatMap(([key, it]) => missingFrom(memberOf(live, key), it, [...at, key]));
  return live === written || (live === null && written === false)
    ? []
    : [`${at.join(".")}: ${JSON.stringify(live)}, not ${JSON.stringify(written)}`];
}
