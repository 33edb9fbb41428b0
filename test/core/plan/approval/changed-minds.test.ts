// Somebody approves, takes it back and approves again: of what a person said, the newest word counts.
import { describe, expect, test } from "vitest";
import type { ApprovalFile } from "../../../../src/core/model/trust.ts";
import type { BlobId } from "../../../../src/core/model/value.ts";
import { approvalNamespace } from "../../../../src/core/trust/judge-approval.ts";
import type { World } from "../../../world.ts";
import { ssh } from "../../trust/scene.ts";
import { all, asked, none, outcome, waiting } from "../runs/one-run.ts";
import { answer, answerOf, by, carries, gateOf, push, settle, verdictOf } from "./trusted-world.ts";

const two = { minimum: 2 };

/** Ann approves and takes it back; what she gave first. */
function takenBack(world: World): ApprovalFile {
  const yes = answer(world, "ann", asked(world));
  settle(world);
  answer(world, "ann", asked(world), { decision: "Revoke" });
  settle(world);
  return yes;
}

const isOpen = (world: World): boolean => gateOf(world, "first", 0).approval !== null;

describe("what was taken back", () => {
  test("is given again by a new answer of the same person", () => {
    const world = waiting(two);
    takenBack(world);
    answer(world, "carol", asked(world));
    settle(world);
    expect(isOpen(world)).toBe(false);
    answer(world, "ann", asked(world));
    expect(outcome(world)).toBe("open");
    expect(carries(world)).toEqual(all);
  });

  test("and may be taken back again", () => {
    const world = waiting(two);
    takenBack(world);
    answer(world, "ann", asked(world));
    settle(world);
    answer(world, "ann", asked(world), { decision: "Revoke" });
    answer(world, "carol", asked(world));
    settle(world);
    expect([isOpen(world), carries(world)]).toEqual([false, none]);
  });

  test("in one pass, in the order of the commits", () => {
    const world = waiting();
    for (const decision of ["Approve", "Revoke", "Approve"] as const) answer(world, "ann", asked(world), { decision });
    expect(outcome(world)).toBe("open");
  });

  test("and in one commit it is taken back", () => {
    const world = waiting();
    const both = (["Revoke", "Approve"] as const).map((decision) => answerOf("ann", asked(world), { decision }));
    push(world, both, by("ann"));
    settle(world);
    expect(isOpen(world)).toBe(false);
  });
});

describe("nobody else brings it back", () => {
  /** Carol approves; Ann did, and took it back: one of two is missing. */
  const torn = (more: Parameters<typeof waiting>[0] = {}): { readonly world: World; readonly yes: ApprovalFile } => {
    const world = waiting({ ...two, ...more });
    const yes = takenBack(world);
    answer(world, "carol", asked(world));
    settle(world);
    return { world, yes };
  };

  test("by touching the first approval, or putting it there again", () => {
    const { world, yes } = torn();
    world.commit(() => world.approvals.splice(world.approvals.indexOf(yes), 1), by("mallory"));
    settle(world);
    push(world, [yes], by("mallory"));
    settle(world);
    expect(isOpen(world)).toBe(false);
  });

  test.each(["taking away", "changing"])("by %s the file that took it back", (how) => {
    const { world } = torn();
    const at = world.approvals.findIndex((it) => it.decision === "Revoke");
    const [no] = world.approvals.slice(at, at + 1);
    world.commit(() => world.approvals.splice(at, 1), by("mallory"));
    if (how === "changing" && no !== undefined)
      push(world, [{ ...no, blob: "changed" as BlobId, decision: "Approve" }], by("mallory"));
    settle(world);
    expect(isOpen(world)).toBe(false);
  });

  test("by approving in the other's name", () => {
    const { world } = torn();
    push(world, [answerOf("ann", asked(world))], by("bob"));
    settle(world);
    expect(isOpen(world)).toBe(false);
  });

  test("by copying an approval that was signed inside, whatever its name", () => {
    const world = waiting({ ...two, accept: ["commit", "detached"] });
    const signature = "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n";
    const signed = (more: Partial<ApprovalFile>): ApprovalFile => {
      const file = answerOf("ann", asked(world), { signature, ...more });
      const detached = new Map([
        ...(world.history.detached ?? []),
        [file.blob, ssh("ann", approvalNamespace)] as const,
      ]);
      world.history = { detached };
      return file;
    };
    const blob = "signed" as BlobId;
    push(world, [signed({ blob })], by("mallory"));
    settle(world);
    for (const [who, decision] of [
      ["ann", "Revoke"],
      ["carol", "Approve"],
    ] as const)
      answer(world, who, asked(world), { decision });
    settle(world);
    const copy = signed({ blob });
    push(world, [copy], by("mallory"));
    settle(world);
    expect(verdictOf(world, copy)).toMatch(/^FLT1211: .* word for word/);
    expect(isOpen(world)).toBe(false);
    // Other words, signed by herself, are new ones.
    push(world, [signed({ comment: "now I am sure" })], by("mallory"));
    settle(world);
    expect(isOpen(world)).toBe(true);
  });
});
