import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/core/model/json.ts";
import type { Scope } from "../../../src/core/model/manifest.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import {
  bodyOf,
  departure,
  entriesOf,
  get,
  namespace,
  outcomesOf,
  post,
  receipt,
  rendered,
  type Stage,
} from "./member-world.ts";

const group = "scopes.flotilla.dev";

const definition = (scope: Scope, plural: string): JsonObject => ({
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: `${plural}.${group}` },
  spec: {
    group,
    scope,
    names: { plural, singular: plural.slice(0, -1), kind: kindOf(plural), listKind: `${kindOf(plural)}List` },
    versions: [
      {
        name: "v1",
        served: true,
        storage: true,
        schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
      },
    ],
  },
});

const kindOf = (plural: string): string => `${plural[0]?.toUpperCase()}${plural.slice(1, -1)}`;

const object = (plural: string, name: string, space: string | null): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: kindOf(plural),
  metadata: { name, ...(space === null ? {} : { namespace: space }) },
  spec: { n: 1 },
});

/** The half of the contract in which a member takes a kind for another one than the repository does (T-42). */
export function scopeCases(stage: () => Stage): void {
  /** Somebody defines a kind on the member, and it is served. */
  async function defined(scope: Scope, plural: string): Promise<void> {
    const path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
    bodyOf(await post(stage().client, path, definition(scope, plural)));
    const served = async () => (await get(stage().client, `/apis/${group}/v1/${plural}`)).kind === "done" || null;
    await eventually(`${plural} are served`, served);
  }

  const rows: readonly (readonly [theirs: Scope, plural: string, space: string | null, path: string])[] = [
    ["Cluster", "tenants", "tenants", `/apis/${group}/v1/tenants/t`],
    ["Namespaced", "realms", null, `/apis/${group}/v1/namespaces/default/realms/t`],
  ];
  for (const [theirs, plural, space, path] of rows)
    it(`refuses a kind that is ${theirs} there and not in the repository, and rests (A-43)`, async () => {
      await defined(theirs, plural);
      const ours: Scope = space === null ? "Cluster" : "Namespaced";
      const wanted = object(plural, "t", space);
      const apply = [namespace(plural), wanted];
      expect(await stage().act({ placement: plural, apply })).toMatchObject({ failed: 1, interrupted: null });
      expect(await get(stage().client, path)).toMatchObject({ kind: "refused", status: 404 });
      const seen = await stage().see();
      expect(outcomesOf(seen, plural)).toContain(
        `${kindOf(plural)} ${space === null ? "" : `${space}/`}t: failed ScopeDiffers`,
      );
      const said = `${kindOf(plural)} is ${ours} in the repository and ${theirs} on this member`;
      const entry = entriesOf(seen, plural).get(rendered(wanted).key);
      expect(entry).toMatchObject({ uid: null, outcome: { message: expect.stringContaining(said), attempts: 1 } });
      // What stands there under that name is somebody else's, and is left alone, also when the object goes.
      const other = bodyOf(
        await post(stage().client, path.slice(0, -2), object(plural, "t", space === null ? "default" : null)),
      );
      await stage().see();
      expect(await stage().act({ placement: plural, sequence: 2, apply: [wanted] })).toMatchObject({ failed: 1 });
      const remove = [departure(await stage().see(), plural, wanted)];
      await stage().act({ placement: plural, sequence: 3, remove });
      expect(bodyOf(await get(stage().client, path))).toEqual(other);
      expect(outcomesOf(await stage().see(), plural).filter((it) => it.startsWith(kindOf(plural)))).toEqual([]);
    });

  it("takes a kind as the repository does where the member does as well", async () => {
    await defined("Namespaced", "shops");
    const apply = [namespace("shops"), object("shops", "t", "shops")];
    expect(await stage().act({ placement: "shops", apply })).toEqual(receipt({ created: 2 }));
    expect(await stage().act({ placement: "shops", apply })).toEqual(receipt({}));
  });
}
