import { expect, test } from "vitest";
import { unsignedStateLine } from "../../src/cmd/commands/reconcile/state-signing.ts";
import { inForce } from "./asked-ledger.ts";

const key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIBv0ZVrm1rKkS6Lg9uH7Vp0pZ0e9dFVhXl9Yk8m4fJtR";
const text = (principals: string): string => `apiVersion: flotilla.dev/v1alpha1
kind: Trust
metadata: {name: root}
spec:
  version: 1
  expires: "2027-10-01T00:00:00Z"
  threshold: 1
  roots: [ada]
  principals: {ada: {human: true, keys: ["${key}"]}${principals}}
`;
const other = key.replace("fJtR", "fJtS");
const none = { trust: null, hasTrust: false };
const hub = { hub: "/srv/the fleet", stateBranch: "fleet/state" };
const line = (ledger: Parameters<typeof unsignedStateLine>[0]["ledger"], isAnchored = false): string | null =>
  unsignedStateLine({ ledger, isAnchored, ...hub });
const again =
  "this command with --signing-key KEY, the first time with " +
  `--accept-state "$(git ls-remote '/srv/the fleet' refs/heads/fleet/state | cut -f1)", after you have reviewed it`;

test("T-60: a reconciler without a key is told what that means wherever somebody is said to approve, and nowhere else", () => {
  expect(line(none)).toBeNull();
  for (const said of [
    line({ trust: inForce(text("")), hasTrust: true }),
    line({ ...none, hasTrust: true }),
    line(none, true),
  ])
    expect(said).toBe(
      "warning: fleet/state is not signed: anybody who may write it can add an approval that nobody gave; " +
        'create a key (ssh-keygen -t ed25519 -N "" -f KEY), run flotilla trust add reconciler --machine --key KEY.pub --push in a clone, ' +
        `then ${again}`,
    );
});

test("where a machine is listed, or the name is taken, the line says so", () => {
  expect(line({ trust: inForce(text(`, bot: {human: false, keys: ["${other}"]}`)), hasTrust: true })).toMatch(
    /nobody gave; run this command with --signing-key KEY/,
  );
  const taken = text(`, reconciler: {human: true, keys: ["${other}"]}`);
  expect(line({ trust: inForce(taken), hasTrust: true })).toContain("trust add reconciler-2 --machine");
});
