import { expect, it } from "vitest";
import { type JsonObject, memberAt, textOf } from "../../../src/core/model/json.ts";
import { objectText } from "../../../src/core/model/manifest.ts";
import {
  bodyOf,
  configMap,
  core,
  departure,
  entriesOf,
  namespace,
  othersOf,
  post,
  receipt,
  rendered,
  type Stage,
} from "./member-world.ts";

/** What of others counts in a namespace that is to go. */
export function othersCases(stageOf: () => Stage): void {
  it("counts what others made anew under the same name as another object, and their dependents not at all", async () => {
    const space = namespace("anew");
    await stageOf().act({ placement: "anew", apply: [space] });
    const path = "/api/v1/namespaces/anew/configmaps";
    const make = async (manifest: JsonObject): Promise<string> =>
      textOf(memberAt(bodyOf(await post(stageOf().client, path, manifest)), "metadata", "uid")) ?? "";
    const owned = (name: string, owner: string, uid: string): JsonObject => {
      const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: owner, uid }];
      return { ...configMap("anew/x", {}), metadata: { name, namespace: "anew", ownerReferences } };
    };
    const first = await make(configMap("anew/theirs", { a: "1" }));
    await make(owned("child", "theirs", first));
    const remove = [departure(await stageOf().see(), "anew", space)];
    await stageOf().act({ placement: "anew", sequence: 2, remove, leaves: true });
    const shown = othersOf(await stageOf().see(), "anew", space);
    expect(shown.map((it) => [objectText(it), it.uid])).toEqual([["ConfigMap anew/theirs", first]]);
    bodyOf(await stageOf().client.request({ method: "DELETE", path: core("anew", "configmaps", "theirs") }));
    const second = await make(configMap("anew/theirs", { a: "2" }));
    await make(owned("other-child", "theirs", second));
    const confirmed = [departure(await stageOf().see(), "anew", space, { cascadesTo: shown })];
    expect(await stageOf().act({ placement: "anew", sequence: 2, remove: confirmed, leaves: true })).toEqual(
      receipt({ failed: 1 }),
    );
    const cascadesTo = othersOf(await stageOf().see(), "anew", space);
    expect(cascadesTo.map((it) => it.uid)).toEqual([second]);
    const again = [departure(await stageOf().see(), "anew", space, { cascadesTo })];
    expect(await stageOf().act({ placement: "anew", sequence: 2, remove: again, leaves: true })).toEqual(
      receipt({ deleted: 1 }),
    );
  });

  it("names fifty objects of others at most, and says that more cannot be confirmed", async () => {
    const space = namespace("full");
    await stageOf().act({ placement: "full", apply: [space] });
    for (let at = 0; at < 51; at += 1)
      bodyOf(await post(stageOf().client, "/api/v1/namespaces/full/configmaps", configMap(`full/theirs-${at}`, {})));
    const remove = [departure(await stageOf().see(), "full", space)];
    await stageOf().act({ placement: "full", sequence: 2, remove, leaves: true });
    const seen = await stageOf().see();
    const outcome = entriesOf(seen, "full").get(rendered(space).key)?.outcome;
    expect(outcome).toMatchObject({
      others: { count: 51 },
      message: expect.stringMatching(/^it holds 51 objects of others, .*empty it first/),
    });
    const cascadesTo = othersOf(seen, "full", space);
    expect(cascadesTo).toHaveLength(50);
    const listed = [departure(seen, "full", space, { cascadesTo })];
    expect(await stageOf().act({ placement: "full", sequence: 2, remove: listed, leaves: true })).toEqual(
      receipt({ failed: 1 }),
    );
  });
}
