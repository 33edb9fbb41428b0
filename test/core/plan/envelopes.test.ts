import { beforeEach, describe, expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { ResourceSnapshot } from "../../../src/core/model/ledger.ts";
import { objectKey, type SourcedManifest } from "../../../src/core/model/manifest.ts";
import { placementGroup } from "../../../src/core/model/names.ts";
import type { Plan, World as Seen } from "../../../src/core/model/plan.ts";
import type { PlacementKey } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { selectedResources } from "../../../src/core/status/per-cluster-rows.ts";
import { envelopeOf, keyOf, objectOf, placementOf, policyOf } from "../../intent.ts";
import { holdOf, type World, write } from "../../world.ts";
import { m1, m2, settle as settleWorld, web, webPlacement, webRecord, webWorld } from "./web.ts";

const config = (value: string): SourcedManifest => objectOf("ConfigMap", "web/config", value);
const inner = (value: string): SourcedManifest => objectOf("ConfigMap", "web/inner", value);

let world: World;
beforeEach(() => {
  world = webWorld(config("one"), envelopeOf("web/e", [inner("one")]));
});
const settle = (): void => settleWorld(world);
const record = () => webRecord(world);

const carried = (): readonly (readonly string[])[] => [m1, m2].map((it) => world.carried(it));
const both = <T>(it: T): readonly T[] => [it, it];
const all = (configs: string, wrapped: string): readonly string[] => [
  `ConfigMap web/config ${configs}`,
  `ConfigMap web/inner ${wrapped}`,
  "Namespace web -",
];

describe("what an envelope wraps reaches clusters as if it stood there by itself", () => {
  test("applied unwrapped, and the envelope itself nowhere; selectedResources show the envelope alone", () => {
    expect(carried()).toEqual(both(all("one", "one")));
    expect(selectedResources(record())).toEqual([
      { version: "v1", kind: "Namespace", name: "web" },
      { version: "v1", kind: "ConfigMap", name: "config", namespace: "web" },
      { group: placementGroup, version: "v1beta1", kind: "ResourceEnvelope", name: "e", namespace: "web" },
    ]);
  });

  test("another content in it is another version", () => {
    world.commit(() => write(world, envelopeOf("web/e", [inner("two")])));
    settle();
    expect(carried()).toEqual(both(all("one", "two")));
    expect(record().resourceSnapshots.map((it) => it.index)).toEqual([0, 1]);
  });

  test("R-08 without the envelope its contents go", () => {
    world.commit(() => world.objects.delete(objectKey(envelopeOf("web/e", []).id)));
    settle();
    expect(carried()).toEqual(both(["ConfigMap web/config one", "Namespace web -"]));
  });

  test("an object that moves into it, or out of it, stays the same object", () => {
    const uids = () => [m1, m2].map((it) => world.member(it).objects.get(keyOf("ConfigMap", "web/config"))?.uid);
    const before = uids();
    world.commit(() => {
      world.objects.delete(keyOf("ConfigMap", "web/config"));
      write(world, envelopeOf("web/e", [inner("one"), config("one")]));
    });
    settle();
    expect([carried(), uids()]).toEqual([both(all("one", "one")), before]);
    expect(record().resourceSnapshots).toHaveLength(2);
    world.commit(() => {
      write(world, config("one"));
      write(world, envelopeOf("web/e", [inner("one")]));
    });
    settle();
    expect([carried(), uids()]).toEqual([both(all("one", "one")), before]);
  });

  test("a cluster that is held back keeps what its version wraps, which this commit has no more", () => {
    world.member(m1).silence = { code: "Unreachable", message: "no answer" };
    world.commit(() => {
      write(world, envelopeOf("web/e", [inner("two")]));
      world.placements.set(web, webPlacement("unavailable=1", "surge=0"));
    });
    settle();
    world.member(m2).objects.delete(keyOf("ConfigMap", "web/inner"));
    settle();
    expect(world.carried(m2)).toEqual(all("one", "one"));
  });
});

describe("R-05 half a version is worse than none", () => {
  test("an envelope that is not sound stops all of its placement's new version; what runs stays", () => {
    world.commit(() => {
      write(world, config("two"));
      write(world, envelopeOf("web/e", [inner("two")], "data.k0: no"));
    });
    settle();
    expect(carried()).toEqual(both(all("one", "one")));
    expect(record().resourceSnapshots).toHaveLength(1);
    expect(record().selectionError).toContain(
      "ResourceEnvelope web/e (resources/ResourceEnvelope-e.yaml:1) cannot be unwrapped: data.k0: no",
    );
    world.commit(() => write(world, envelopeOf("web/e", [inner("two")])));
    settle();
    expect(carried()).toEqual(both(all("two", "two")));
  });

  test("so does an object that stands in it and by itself: A-32", () => {
    world.commit(() => write(world, envelopeOf("web/e", [inner("two"), config("two")])));
    settle();
    expect(carried()).toEqual(both(all("one", "one")));
  });

  test("other placements go on", () => {
    world.commit(() => {
      write(world, envelopeOf("web/e", [inner("two")], "data.k0: no"));
      write(world, objectOf("Namespace", "shop", "-"));
      const shop = placementOf({ name: "shop", policy: policyOf("PickAll", undefined), options: [] });
      world.placements.set(shop.key, shop);
    });
    settle();
    expect(world.carried(m1)).toContain("Namespace shop -");
  });

  test("what the placement picks is deleted by nobody else meanwhile, and handed over once it can be placed", () => {
    const shop = (spaces: string) =>
      placementOf({
        name: "shop",
        policy: policyOf("PickAll", undefined),
        options: [`ns=${spaces}`, "unavailable=100%"],
      });
    world.commit(() => {
      write(world, objectOf("Namespace", "shop", "-"));
      world.placements.set(shop("shop").key, shop("shop"));
    });
    settle();
    const before = world.carried(m1);
    const uidOf = () => world.member(m1).objects.get(keyOf("ConfigMap", "web/inner"))?.uid;
    const uid = uidOf();
    world.commit(() => {
      world.placements.delete(web);
      world.placements.set(shop("shop").key, shop("shop,web"));
      write(world, envelopeOf("web/e", [inner("two")], "data.k0: no"));
    });
    settle();
    expect(world.carried(m1)).toEqual(before);
    world.commit(() => write(world, envelopeOf("web/e", [inner("two")])));
    settle();
    expect(world.carried(m1)).toEqual([
      "ConfigMap web/config one",
      "ConfigMap web/inner two",
      "Namespace shop -",
      "Namespace web -",
    ]);
    expect([uid, world.head.placements.has(web)]).toEqual([uidOf(), false]);
  });

  test.each([
    ["from the beginning", true],
    ["as soon as there is one", false],
  ])("what leaves another one is handed over to a placement that can place it, %s", (_, isThere) => {
    const picking = (name: string, spaces: string) =>
      placementOf({ name, policy: policyOf("PickAll", undefined), options: [`ns=${spaces}`, "unavailable=100%"] });
    const put = (name: string, spaces: string) => world.placements.set(name as PlacementKey, picking(name, spaces));
    world.commit(() => {
      for (const it of ["shop", "zoo"]) write(world, objectOf("Namespace", it, "-"));
      for (const it of ["shop", "zoo"]) put(it, it);
    });
    settle();
    const uidOf = () => world.member(m1).objects.get(keyOf("ConfigMap", "web/config"))?.uid;
    const uid = uidOf();
    world.commit(() => {
      world.placements.delete(web);
      write(world, envelopeOf("shop/e", [objectOf("ConfigMap", "shop/inner", "one")], "data.k0: no"));
      put("shop", "shop,web");
      if (isThere) put("zoo", "zoo,web");
    });
    settle();
    if (!isThere) {
      expect(world.head.placements.has(web)).toBe(true);
      world.commit(() => put("zoo", "zoo,web"));
      settle();
    }
    const { objects } = world.member(m1);
    expect(objects.get(keyOf("ConfigMap", "web/config"))?.mark?.label).toBe("zoo");
    expect([uid, world.head.placements.has(web)]).toEqual([uidOf(), false]);
  });

  test("one that was accepted and is unusable now, with nothing to hold, is not deselected", () => {
    const { id } = envelopeOf("web/e", []);
    world.commit(() => {
      world.objects.delete(objectKey(id));
      world.unusable = new Set([objectKey(id)]);
      write(world, config("two"));
    });
    settle();
    expect(carried()).toEqual(both(all("one", "one")));
  });

  test("one that is held at an earlier version is recorded with the blob of that version", () => {
    const held = envelopeOf("web/e", [inner("zero")]);
    world.commit(() => {
      write(world, held);
      world.holds = [holdOf(held.id, "c1")];
    });
    settle();
    const wrapped = record()
      .resourceSnapshots.at(-1)
      ?.resources.find((it) => it.envelope !== undefined);
    expect([wrapped?.id.name, wrapped?.blob]).toEqual(["inner", "held-e"]);
  });
});

describe("the second opinion refuses a plan that", () => {
  const seen = (): { seen: Seen; planned: Plan } => {
    world.commit(() => write(world, envelopeOf("web/e", [inner("two"), objectOf("ConfigMap", "web/more", "two")])));
    const now = world.look();
    return { seen: now, planned: plan(now) };
  };

  function codes(change: (snapshot: ResourceSnapshot) => ResourceSnapshot): readonly string[] {
    const { seen: now, planned } = seen();
    const own = planned.ledger.placements.get(web);
    if (own === undefined) throw new Error("it is on record");
    const resourceSnapshots = own.resourceSnapshots.map((it, at) =>
      at === own.resourceSnapshots.length - 1 ? change(it) : it,
    );
    const placements = new Map(planned.ledger.placements).set(web, { ...own, resourceSnapshots });
    return check({ ...planned, ledger: { ...planned.ledger, placements } }, now).map((it) => it.code);
  }

  test("leaves out a part of an envelope", () => {
    const found = codes((it) => ({ ...it, resources: it.resources.filter(({ id }) => id.name !== "more") }));
    expect(found).toContain("EnvelopeIncomplete");
  });

  test("says of another object that the envelope wraps it", () => {
    const found = codes((it) => ({
      ...it,
      resources: it.resources.map((own) =>
        own.id.name === "more" ? { ...own, id: { ...own.id, name: "other" } } : own,
      ),
    }));
    expect(found).toContain("EnvelopeIncomplete");
  });

  test("brings something of another namespace out of it", () => {
    const found = codes((it) => ({
      ...it,
      resources: it.resources.map((own) =>
        own.id.name === "more" ? { ...own, id: { ...own.id, namespace: "db" } } : own,
      ),
    }));
    expect(found).toContain("EnvelopeIncomplete");
  });

  test("has an object twice", () => {
    const found = codes((it) => ({
      ...it,
      resources: it.resources.flatMap(({ envelope, ...own }) =>
        envelope === undefined ? [own] : own.id.name === "more" ? [{ ...own, envelope }, own] : [{ ...own, envelope }],
      ),
    }));
    expect(found).toContain("ObjectSelectedTwice");
  });

  test("applies an envelope as it is", () => {
    const { seen: now, planned } = seen();
    const { id, manifest, digest } = envelopeOf("web/e", [inner("two")]);
    const actions = planned.actions.map((it) => ({
      ...it,
      placements: it.placements.map((work) => ({
        ...work,
        apply: [...work.apply, { ...work.apply[0], id, manifest, digest, key: objectKey(id) }],
      })),
    }));
    expect(actions.length).toBeGreaterThan(0);
    expect(check({ ...planned, actions } as Plan, now).map((it) => it.code)).toContain("EnvelopePlaced");
  });

  test("and nothing of a sound one", () => {
    expect(codes((it) => it)).toEqual([]);
  });
});
