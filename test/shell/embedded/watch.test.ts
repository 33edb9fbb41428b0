import { describe, expect, test } from "vitest";
import { memberAt } from "../../../src/core/model/json.ts";
import { configMap, embeddedScene, place, told, until } from "./scene.ts";

const scene = embeddedScene();

describe("a watch", () => {
  const path = "/api/v1/namespaces/shop/configmaps";

  test("tells what was missed, then what happens, as its selector sees it", async () => {
    const from = scene.cluster.resourceVersion;
    scene.cluster.create("test", configMap("a", { labels: { on: "yes" } }));
    scene.cluster.create("test", configMap("b"));
    const events = scene.watch(path, from, "&labelSelector=on%3Dyes");
    await until(
      () => told(events),
      (it) => it.length === 1,
    );
    scene.cluster.patch("test", place("", "ConfigMap", "a"), { data: { x: "1" } });
    scene.cluster.patch("test", place("", "ConfigMap", "a"), { metadata: { labels: { on: "no" } } });
    scene.cluster.patch("test", place("", "ConfigMap", "b"), { metadata: { labels: { on: "yes" } } });
    scene.cluster.remove(place("", "ConfigMap", "b"));
    const want = ["ADDED a", "MODIFIED a", "DELETED a", "ADDED b", "DELETED b"];
    expect(
      await until(
        () => told(events),
        (it) => it.length === want.length,
      ),
    ).toEqual(want);
    // What leaves the selection is told as it was, under the version in which it left.
    const [, modified, left] = events.all;
    expect(left?.object).toMatchObject({ metadata: { labels: { on: "yes" } }, data: { x: "1" } });
    const versions = [modified, left].map((it) => Number(memberAt(it?.object ?? null, "metadata", "resourceVersion")));
    expect(versions[1]).toBeGreaterThan(versions[0] ?? 0);
    events.stop();
  });

  test("that asks for what is there gets it, and a mark where it ends", async () => {
    scene.cluster.create("test", configMap("a"));
    const events = scene.watch(
      path,
      0,
      "&sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan",
    );
    const seen = await until(
      () => events.all,
      (it) => it.at(-1)?.type === "BOOKMARK",
    );
    expect(told(events).slice(0, -1)).toContain("ADDED a");
    expect(memberAt(seen.at(-1)?.object, "metadata", "annotations")).toEqual({ "k8s.io/initial-events-end": "true" });
    events.stop();
  });

  test("from a version that is forgotten is told to list again", async () => {
    const from = scene.cluster.resourceVersion;
    for (let at = 0; at < 600; at++) scene.cluster.apply("test", configMap("a", { labels: { at: String(at) } }));
    const events = scene.watch(path, from);
    const [only] = await until(
      () => events.all,
      (it) => it.length === 1,
    );
    expect(only).toMatchObject({ type: "ERROR", object: { kind: "Status", code: 410, reason: "Expired" } });
    expect(
      (
        await scene.get(
          `${path}?limit=1&continue=${Buffer.from(JSON.stringify({ rv: from, start: "" })).toString("base64url")}`,
        )
      ).code,
    ).toBe(410);
  });

  test("ends with its time, and with its cluster", async () => {
    const timed = scene.watch(path, 0, "&timeoutSeconds=1");
    const open = scene.watch(path, 0);
    await until(() => timed.ended, Boolean);
    expect(open.ended).toBe(false);
    scene.cluster.control({ faults: { down: true } });
    await until(() => open.ended, Boolean);
  });
});
