// An approval that its author took away, and that somebody else puts there again (`trust/README.md#t-43`).
import { describe, expect, test } from "vitest";
import { known } from "../../../../src/core/model/assert.ts";
import { maxTakenAway } from "../../../../src/core/model/ledger.ts";
import type { ApprovalFile } from "../../../../src/core/model/trust.ts";
import type { BlobId } from "../../../../src/core/model/value.ts";
import { answerRecorder } from "../../../../src/core/plan/approval/answer-order.ts";
import { approvalNamespace } from "../../../../src/core/trust/judge-approval.ts";
import type { World } from "../../../world.ts";
import { ssh } from "../../trust/scene.ts";
import { asked, waiting } from "../runs/one-run.ts";
import { answer, answerOf, by, gateOf, push, settle, take, verdictOf } from "./trusted-world.ts";

/** A file that bears Ann's signature inside, wherever it stands and whoever brings it. */
function signed(world: World, more: Partial<ApprovalFile> = {}): ApprovalFile {
  const signature = "-----BEGIN SSH SIGNATURE-----\nAAAA\n-----END SSH SIGNATURE-----\n";
  const file = answerOf("ann", asked(world), { signature, ...more });
  const { detached = new Map() } = world.history;
  world.history = { detached: new Map([...detached, [file.blob, ssh("ann", approvalNamespace)] as const]) };
  return file;
}

const isOpen = (world: World): boolean => gateOf(world, "first", 0).approval !== null;
const mallory = by("mallory");

interface Row {
  readonly how: string;
  readonly back: (world: World, yes: ApprovalFile) => ApprovalFile;
}

const rows: readonly Row[] = [
  {
    how: "at another path, byte for byte",
    back: (world, { blob }) => {
      const copy = signed(world, { blob });
      push(world, [copy], mallory);
      return copy;
    },
  },
  {
    how: "at another path, in a file that looks otherwise",
    back: (world) => {
      const copy = signed(world);
      push(world, [copy], mallory);
      return copy;
    },
  },
];

test("T-43: what came and was taken away before anybody judged it does not count, byte for byte, at another path", () => {
  const world = waiting({ minimum: 2, accept: ["commit", "detached"] });
  answer(world, "carol", asked(world));
  const yes = signed(world);
  push(world, [yes], mallory);
  take(world, yes, by("ann"));
  const copy = signed(world, { blob: yes.blob });
  push(world, [copy], mallory);
  settle(world);
  expect([verdictOf(world, copy), isOpen(world)]).toEqual([expect.stringMatching(/^FLT1212: .* word for word/), false]);
});

test("T-43: what came and was taken away between two passes does not count when it is put back in a later one", () => {
  const world = waiting({ minimum: 2, accept: ["commit", "detached"] });
  const yes = signed(world);
  push(world, [yes], mallory);
  take(world, yes, by("ann"));
  answer(world, "carol", asked(world));
  settle(world);
  expect([...world.head.takenAway]).toEqual([yes.blob]);
  const copy = signed(world, { blob: yes.blob });
  push(world, [copy], mallory);
  settle(world);
  expect([verdictOf(world, copy), isOpen(world)]).toEqual([expect.stringMatching(/^FLT1212: .* word for word/), false]);
  answer(world, "bob", asked(world));
  settle(world);
  expect([isOpen(world), [...world.head.takenAway]]).toEqual([true, []]);
});

test("T-43: whatever else goes from approvals/ does not count among what is remembered", () => {
  const world = waiting({ minimum: 2, accept: ["commit", "detached"] });
  const gone = ["approvals/README.md", `approvals/deletions/${"d".repeat(64)}.yaml`, "approvals/.draft/a.yaml"];
  const blob = (at: number): BlobId => at.toString(16).padStart(40, "0") as BlobId;
  const changes = gone.map((path, at) => ({ path, before: blob(at), after: null }));
  world.commit(() => {}, { ...by("mallory"), changes });
  answer(world, "carol", asked(world));
  settle(world);
  expect([...world.head.takenAway]).toEqual([]);
});

test("T-43: an approval that goes to where none is read from was taken away", () => {
  const world = waiting({ minimum: 2, accept: ["commit", "detached"] });
  const yes = signed(world);
  push(world, [yes], mallory);
  const away = [
    { path: yes.path, before: yes.blob, after: null },
    { path: "approvals/kept.txt", before: null, after: yes.blob },
  ];
  world.commit(() => world.approvals.splice(world.approvals.indexOf(yes), 1), { ...by("ann"), changes: away });
  answer(world, "carol", asked(world));
  settle(world);
  expect([...world.head.takenAway]).toEqual([yes.blob]);
  const copy = signed(world, { blob: yes.blob });
  push(world, [copy], mallory);
  settle(world);
  expect([verdictOf(world, copy), isOpen(world)]).toEqual([expect.stringMatching(/^FLT1212: .* word for word/), false]);
});

test("T-43: where more was taken away unread than is remembered, only what people commit themselves counts", () => {
  const world = waiting({ minimum: 2, accept: ["commit", "detached"] });
  const blobs = Array.from({ length: maxTakenAway }, (_, at) => at.toString(16).padStart(40, "0") as BlobId);
  world.head = { ...world.head, takenAway: new Set(blobs) };
  const yes = signed(world);
  push(world, [yes], mallory);
  answer(world, "carol", asked(world));
  settle(world);
  expect([verdictOf(world, yes), isOpen(world)]).toEqual([expect.stringMatching(/^FLT1212: /), false]);
  answer(world, "bob", asked(world));
  settle(world);
  expect(isOpen(world)).toBe(true);
});

describe("T-43: what was judged and then taken away", () => {
  /** Two of three stand, and Ann's is one of them. */
  function judged(): { readonly world: World; readonly yes: ApprovalFile } {
    const world = waiting({ minimum: 3, accept: ["commit", "detached"] });
    const yes = signed(world);
    push(world, [yes], mallory);
    settle(world);
    expect(verdictOf(world, yes)).toBe("counts");
    return { world, yes };
  }

  /** The two others say yes. */
  function others(world: World): void {
    for (const who of ["bob", "carol"]) answer(world, who, asked(world));
    settle(world);
  }

  test.each([true, false])("is gone where a merge drops it, seen before somebody copies it: %s", (isSeen) => {
    const { world, yes } = judged();
    // Nothing is in such a merge that one of its parents has not.
    take(world, yes, { ...by("ann"), changes: [], merge: "unclean" });
    if (isSeen) settle(world);
    const copy = signed(world, { blob: yes.blob });
    push(world, [copy], mallory);
    others(world);
    expect([verdictOf(world, copy), isOpen(world)]).toEqual([expect.stringMatching(/^FLT1212: /), false]);
  });

  test.each(rows)("does not count $how", ({ back }) => {
    const { world, yes } = judged();
    take(world, yes, by("ann"));
    settle(world);
    const copy = back(world, yes);
    others(world);
    expect([verdictOf(world, copy), isOpen(world)]).toEqual([
      expect.stringMatching(/^FLT1212: .* word for word/),
      false,
    ]);
  });

  test.each(rows)("does not count $how, all in one push", ({ back }) => {
    const { world, yes } = judged();
    take(world, yes, by("ann"));
    const copy = back(world, yes);
    others(world);
    expect([verdictOf(world, copy), isOpen(world)]).toEqual([
      expect.stringMatching(/^FLT1212: .* word for word/),
      false,
    ]);
  });

  test.each(rows)("does not count where somebody kept it $how", ({ back }) => {
    const { world, yes } = judged();
    const copy = back(world, yes);
    settle(world);
    expect(verdictOf(world, copy)).toBe("counts");
    take(world, yes, by("ann"));
    others(world);
    expect([verdictOf(world, copy), isOpen(world)]).toEqual([
      expect.stringMatching(/^FLT1212: .* word for word/),
      false,
    ]);
  });

  test("does not count when its author wrote over it, and somebody keeps what it said", () => {
    const { world, yes } = judged();
    world.commit(
      () => world.approvals.splice(world.approvals.indexOf(yes), 1, { ...yes, blob: "other" as BlobId, comment: "?" }),
      by("ann"),
    );
    settle(world);
    const copy = rows[1]?.back(world, yes) ?? yes;
    others(world);
    expect([verdictOf(world, copy).slice(0, 7), isOpen(world)]).toEqual(["FLT1212", false]);
  });

  test("and whoever is about to give it again in a file alone is told so before", () => {
    const { world, yes } = judged();
    take(world, yes, by("ann"));
    settle(world);
    const record = known(world.head.answers.get(yes.path), "her answer is on record");
    const judgement = {
      kind: "counts",
      principal: "ann",
      proofs: [{ evidence: "detached", key: "k" }],
      at: world.now,
    } as const;
    const again = answerRecorder(world.head.answers.values())({ ...record, file: signed(world), judgement });
    expect(again.judgement).toMatchObject({ kind: "denied", code: "FLT1212" });
  });

  describe("and counts again", () => {
    test("when the same person says so in a commit of their own", () => {
      const { world, yes } = judged();
      take(world, yes, by("ann"));
      settle(world);
      push(world, [signed(world, { blob: yes.blob })], by("ann"));
      others(world);
      expect(isOpen(world)).toBe(true);
    });

    test("when the same person signs other words, whoever brings them", () => {
      const { world, yes } = judged();
      take(world, yes, by("ann"));
      settle(world);
      push(world, [signed(world, { comment: "on second thought, yes" })], mallory);
      others(world);
      expect(isOpen(world)).toBe(true);
    });

    test("where somebody moved it, in one commit", () => {
      const { world, yes } = judged();
      const moved = signed(world, { blob: yes.blob });
      world.commit(() => world.approvals.splice(world.approvals.indexOf(yes), 1, moved), mallory);
      others(world);
      expect([verdictOf(world, moved), isOpen(world)]).toEqual(["counts", true]);
    });

    test("where somebody copied it, and nobody took it away", () => {
      const { world, yes } = judged();
      push(world, [signed(world, { blob: yes.blob })], mallory);
      others(world);
      expect(isOpen(world)).toBe(true);
    });
  });
});
