import { expect, it } from "vitest";
import type { NamespacesSeen, Observation } from "../../../src/core/model/observation.ts";
import type { MemberAddress } from "../../../src/shell/reconcile/ports.ts";
import { eventually } from "../../kubernetes/eventually.ts";
import { bodyOf, namespace, post, receipt, type Stage } from "./member-world.ts";

/** What a fleet tells of the namespaces of its members, where somebody asks. */
export function namespaceCases(stage: () => Stage): void {
  const asking = (...placed: readonly string[]): MemberAddress => ({ ...stage().admin, namespaces: new Set(placed) });
  const make = async (name: string): Promise<void> => {
    bodyOf(await post(stage().client, "/api/v1/namespaces", namespace(name)));
  };
  const drop = async (name: string): Promise<void> => {
    const path = `/api/v1/namespaces/${name}`;
    bodyOf(await stage().client.request({ method: "DELETE", path }));
  };
  const known = (seen: Observation): ReadonlyMap<string, string> => {
    const namespaces: NamespacesSeen | null = seen.kind === "reached" ? (seen.namespaces ?? null) : null;
    if (namespaces?.kind !== "listed") throw new Error("its namespaces are not listed");
    return namespaces.names;
  };
  /** As a fresh list has them, soon. */
  const seen = async (at: MemberAddress): Promise<ReadonlyMap<string, string>> => known(await stage().look(at));

  it("tells nothing of namespaces to whoever does not ask", async () => {
    const told = await stage().see();
    expect("namespaces" in told).toBe(false);
  });

  it("lists all namespaces by name, ours with our mark, as soon as somebody asks", async () => {
    expect(await stage().act({ placement: "spaces", apply: [namespace("tenant-b")] })).toEqual(receipt({ created: 1 }));
    await make("tenant-a");
    const names = await seen(asking("tenant-c"));
    expect([...names.keys()]).toEqual([...names.keys()].sort());
    expect(["kube-system", "tenant-a", "tenant-b", "tenant-c"].map((it) => names.get(it))).toEqual([
      "",
      "",
      "spaces",
      undefined,
    ]);
    expect("namespaces" in (await stage().see())).toBe(false);
  });

  it("tells of one that placements live in when it comes, and when it begins to go", async () => {
    const at = asking("tenant-c");
    const isThere = async (): Promise<boolean> => known(await stage().fleet.observe(at)).has("tenant-c");
    expect(await isThere()).toBe(false);
    await make("tenant-c");
    await eventually("it came", async () => ((await isThere()) ? true : null), 60_000);
    await drop("tenant-c");
    await eventually("it went", async () => ((await isThere()) ? null : true), 60_000);
  });

  it("tells of all others in their time, and of the same with the same object", async () => {
    const at = asking("tenant-c");
    await make("tenant-d");
    expect((await seen(at)).has("tenant-d")).toBe(true);
    const [one, other] = [await stage().look(at), await stage().look(at)];
    expect(known(one)).toBe(known(other));
    await drop("tenant-d");
    expect((await seen(at)).has("tenant-d")).toBe(false);
  });
}
