// Approvals without a signature, and a folder trust/ that says who may approve: from then on none of them is used, for good.
import { expect, test } from "vitest";
import { seconds } from "../../../src/core/model/value.ts";
import { newMemory } from "../../../src/shell/reconcile/memory.ts";
import { pass } from "../../../src/shell/reconcile/pass.ts";
import { acceptedIntent, exactText, maxTrustBytes, readSource } from "../../../src/shell/reconcile/source.ts";
import { readStateBranch } from "../../../src/shell/reconcile/state.ts";
import { ed25519 } from "../../core/intent/trust/public-keys.ts";
import { once } from "./stage.ts";
import { type StagedFleet, stagedFleet } from "./staged-fleet.ts";

/** A run that waits to be let in, with the file that lets it in. */
async function asking(): Promise<StagedFleet & { readonly answer: Readonly<Record<string, string>> }> {
  const fleet = stagedFleet(new Map([["m1", "canary"]]), { canary: "beforeStageTasks: [{type: Approval}]" });
  await passes(fleet);
  const { digest } = (await fleet.recorded()).stages[0]?.before.Approval ?? expect.fail("nothing is asked for");
  const spec = `{requestDigest: ${digest}, decision: Approve, principal: ann}`;
  const text = `apiVersion: flotilla.dev/v1alpha1\nkind: Approval\nspec: ${spec}\n`;
  return { ...fleet, answer: { "approvals/first.yaml": text } };
}

/** Some passes of one process. */
async function passes({ ports, clock }: StagedFleet, memory = newMemory()): Promise<void> {
  for (let count = 0; count < 4; count++) {
    expect((await pass(ports, once, memory, true)).kind).toBe("passed");
    await clock.advance(seconds(7));
  }
}

const trustOf = async ({ ports }: StagedFleet): Promise<boolean> =>
  (await readStateBranch(ports.repository, (await ports.repository.heads()).state)).ledger.hasTrust;

test("where fleet.yaml allows it, an approval without a signature lets the run in", async () => {
  const fleet = await asking();
  fleet.push(fleet.answer);
  await passes(fleet);
  expect((await fleet.recorded()).stages[0]?.before.Approval?.approval).toMatchObject({ by: [{ principal: "ann" }] });
  expect([await trustOf(fleet), fleet.begun.has("m1")]).toEqual([false, true]);
});

test("once there was a folder trust/ it does not, in the same commit or after the folder is gone", async () => {
  const fleet = await asking();
  const memory = newMemory();
  fleet.push({ ...fleet.answer, "trust/allowed_signers": "ann ssh-ed25519 AAAA\n" });
  await passes(fleet, memory);
  expect([await trustOf(fleet), fleet.begun.has("m1")]).toEqual([true, false]);
  fleet.push({ "trust/allowed_signers": null });
  await passes(fleet, memory);
  await passes(fleet);
  expect([await trustOf(fleet), fleet.begun.has("m1")]).toEqual([true, false]);
  expect((await fleet.recorded()).stages[0]?.before.Approval?.approval).toBeNull();
});

test("a folder that comes alone, with nothing else changed, is remembered", async () => {
  const fleet = await asking();
  const memory = newMemory();
  await passes(fleet, memory);
  fleet.push({ "trust/allowed_signers": "ann ssh-ed25519 AAAA\n" });
  await passes(fleet, memory);
  expect(await trustOf(fleet)).toBe(true);
});

test("the text of a trust file is what its bytes are, and no other bytes have it", () => {
  const cases: readonly (readonly [string, Uint8Array, string | null])[] = [
    ["plain", Buffer.from("a: \u0142\r\n"), "a: \u0142\r\n"],
    ["with a mark of the byte order", Buffer.from("\ufeffa"), "\ufeffa"],
    ["no UTF-8", Buffer.from([0x61, 0xff]), null],
    ["as long as it may be", Buffer.alloc(maxTrustBytes, "a"), "a".repeat(maxTrustBytes)],
    ["too long", Buffer.alloc(maxTrustBytes + 1, "a"), null],
  ];
  for (const [what, bytes, text] of cases) expect([what, exactText(bytes)]).toEqual([what, text]);
});

test("a trust file is read with its text, and read again from what was accepted", async () => {
  const fleet = await asking();
  const text = `# Ł
apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: 1
  expires: "2027-10-01T00:00:00Z"
  threshold: 1
  roots: [ann]
  principals:
    ann: {human: true, keys: ["${ed25519(1)}"]}
`;
  fleet.push({ "trust/root.yaml": text, "trust/sigs/1.a.sig": "junk" });
  await passes(fleet);
  const { repository } = fleet.ports;
  const { source, state } = await repository.heads();
  const recorded = await readStateBranch(repository, state);
  const read = async (memory = newMemory()) =>
    (await readSource(repository, source ?? expect.fail(), recorded, { memory, settings: once })).intent;
  const accepted = await acceptedIntent(repository, recorded, newMemory());
  for (const { trust, hasTrust, files } of [await read(), accepted]) {
    expect([hasTrust, trust?.text, files.has("trust/sigs/1.a.sig")]).toEqual([true, text, true]);
    expect(trust?.trust?.version).toBe(1);
  }
});
