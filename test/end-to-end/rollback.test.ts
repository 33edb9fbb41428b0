// What a version consisted of comes back with it, by a new process each time: from the blobs that the state branch keeps.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { memberAt } from "../../src/core/model/json.ts";
import { objectAt } from "./member.ts";
import {
  conditionsAt,
  externalPlacement,
  type SmallStage,
  setSmallStage,
  updateRun,
  updateStrategy,
} from "./rollouts.ts";
import { configMap, file, memberCluster, namespace, openFleet } from "./small-fleet.ts";

const names = ["east", "west"];
const settings = "resources/settings.yaml";
const extra = "resources/extra.yaml";

const files = {
  "fleet.yaml": file(openFleet),
  ...Object.fromEntries(names.map((it) => [`clusters/${it}.yaml`, file(memberCluster(it, { env: it }))])),
  "placements/shop.yaml": file(externalPlacement("shop")),
  "strategies/rings.yaml": file(updateStrategy("rings", { east: {}, west: {} })),
  "resources/namespace.yaml": file(namespace("shop")),
  [settings]: file(configMap("shop/settings", { version: "0" })),
  [extra]: file(configMap("shop/only-in-0", { version: "0" })),
};

describe("versions of an External placement", () => {
  let stage: SmallStage;
  beforeAll(async () => {
    stage = await setSmallStage(files, { servers: [], embedded: names });
  });
  afterAll(() => stage?.stop());

  const path = (name: string): string => `/api/v1/namespaces/shop/configmaps/${name}`;
  /** What each member has of the two: `0 0`, or `1 -`. */
  const carried = () =>
    Promise.all(
      names.map(async (member) => {
        const objects = ["settings", "only-in-0"].map((it) => objectAt(stage.member(member), path(it)));
        return (await Promise.all(objects)).map((it) => memberAt(it, "data", "version") ?? "-").join(" ");
      }),
    );
  const roll = async (name: string, index?: string): Promise<void> => {
    const how = index === undefined ? {} : { index };
    await stage.hub.write(`runs/${name}.yaml`, file(updateRun(name, "shop", "rings", how)));
    stage.hub.push(`Run ${name}`);
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    const said = conditionsAt(stage.hub, `runs/${name}/run.yaml`);
    expect(said.find((it) => it.type === "Succeeded")).toMatchObject({ status: "True" });
  };

  test("move by runs alone, and come back whole", async () => {
    await roll("first");
    expect(await carried()).toEqual(["0 0", "0 0"]);
    await stage.hub.write(settings, file(configMap("shop/settings", { version: "1" })));
    await stage.hub.remove(extra);
    stage.hub.push("Version 1, with less");
    expect(await stage.reconcile()).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toEqual(["0 0", "0 0"]);
    await roll("second");
    expect(await carried()).toEqual(["1 -", "1 -"]);
    await roll("back", "0");
    expect(await carried()).toEqual(["0 0", "0 0"]);
    await roll("again", "1");
    expect(await carried()).toEqual(["1 -", "1 -"]);
  });

  test("are kept up where they are, although the repository has gone on", async () => {
    await roll("back-again", "0");
    await stage.member("west").request("DELETE", path("only-in-0"));
    await stage.member("west").request("DELETE", path("settings"));
    expect(await stage.reconcile("--wait", "5m")).toMatchObject({ code: 0, err: "" });
    expect(await carried()).toEqual(["0 0", "0 0"]);
    const commits = stage.hub.stateCommits();
    expect((await stage.reconcile()).out).toContain("0 commits");
    expect(stage.hub.stateCommits()).toBe(commits);
  });
});
