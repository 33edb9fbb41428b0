import { describe, expect, test } from "vitest";
import { cordoned, uncordoned } from "../../../src/cmd/edits/drain.ts";
import { editedText } from "../../../src/cmd/edits/edited-text.ts";

const lines = (...all: readonly string[]): string => `${all.join("\n")}\n`;

describe("a taint is added and everything else stays as it was written", () => {
  const rows: readonly (readonly [name: string, before: string, after: string])[] = [
    [
      "where there are no taints",
      lines("kind: MemberCluster", "spec: # why", "    identity: {kind: User,   name: a}  # who", "", "status: {}"),
      lines(
        "kind: MemberCluster",
        "spec: # why",
        "    identity: {kind: User,   name: a}  # who",
        "    taints:",
        "      - key: cordon-key",
        "        value: cordon-value",
        "        effect: NoSchedule",
        "",
        "status: {}",
      ),
    ],
    [
      "behind others",
      lines(
        "spec:",
        "  taints:",
        "  # edge",
        "  - key: workload",
        "    effect: NoSchedule   # always",
        "  # rest",
        "  a: 1",
      ),
      lines(
        "spec:",
        "  taints:",
        "  # edge",
        "  - key: workload",
        "    effect: NoSchedule   # always",
        "  - key: cordon-key",
        "    value: cordon-value",
        "    effect: NoSchedule",
        "  # rest",
        "  a: 1",
      ),
    ],
    [
      "without an end of line at the end",
      "spec:\n  a: 1",
      "spec:\n  a: 1\n  taints:\n    - key: cordon-key\n      value: cordon-value\n      effect: NoSchedule",
    ],
    [
      "with the line ends of Windows",
      "spec:\r\n  a: 1\r\nb: 2\r\n",
      "spec:\r\n  a: 1\r\n  taints:\r\n    - key: cordon-key\r\n      value: cordon-value\r\n      effect: NoSchedule\r\nb: 2\r\n",
    ],
    [
      "in a list between brackets, where the document is laid out anew and keeps its comments",
      lines("# top", "spec:", "  taints: [{key: a, effect: NoSchedule}] # why"),
      lines(
        "# top",
        "spec:",
        "  taints: [{key: a, effect: NoSchedule}, {key: cordon-key, value: cordon-value, effect: NoSchedule}] # why",
      ),
    ],
    [
      "in an empty list",
      lines("spec:", "  taints: []", "  a: 1"),
      lines("spec:", "  taints: [{key: cordon-key, value: cordon-value, effect: NoSchedule}]", "  a: 1"),
    ],
  ];
  test.each(rows)("%s", (_, text, after) => {
    const tainted = cordoned({ path: "a.yaml", text, document: 0 });
    expect(tainted).toEqual({ kind: "edited", text: after });
    expect(cordoned({ path: "a.yaml", text: after, document: 0 })).toEqual({ kind: "unchanged" });
  });

  test.each(rows.filter(([name]) => !/without|list/.test(name)))("and is taken away again: %s", (_, before, text) => {
    expect(uncordoned({ path: "a.yaml", text, document: 0 })).toEqual({ kind: "edited", text: before });
    expect(uncordoned({ path: "a.yaml", text: before, document: 0 })).toEqual({ kind: "unchanged" });
  });

  test("of several documents the others keep every byte", () => {
    const text = lines("# first", "a:   1", "---", "spec:", "  a: 1", "---", "b:   2  # x");
    const after = lines("# first", "a:   1", "---", "spec:", "  a: 1", "  s: Run", "---", "b:   2  # x");
    expect(editedText(text, 1, { kind: "set", under: ["spec"], key: "s", value: "Run" })).toBe(after);
    const flow = text.replace("spec:\n  a: 1", "spec: {a: 1}");
    expect(editedText(flow, 1, { kind: "set", under: ["spec"], key: "s", value: "Run" })).toBe(
      after.replace("spec:\n  a: 1\n  s: Run", "spec: {a: 1, s: Run}"),
    );
  });
});

describe("a value is set where it stands", () => {
  test.each([
    ["plain", "spec:\n  state: Run # now\n  x: 1\n", "spec:\n  state: Stop # now\n  x: 1\n"],
    ["quoted", "spec:\n  state: 'Run'\n", "spec:\n  state: Stop\n"],
    ["in a flow mapping", "spec: {state: Run,  x: 1}\n", "spec: {state: Stop,  x: 1}\n"],
    ["absent", "spec:\n  x: |\n    y\n\nz: 1\n", "spec:\n  x: |\n    y\n  state: Stop\n\nz: 1\n"],
    ["null", "spec:\n  state:\n  x: 1\n", "spec:\n  state: Stop\n  x: 1\n"],
  ])("%s", (_, before, after) => {
    expect(editedText(before, 0, { kind: "set", under: ["spec"], key: "state", value: "Stop" })).toBe(after);
  });

  test("a text that cannot be read is left alone", () => {
    expect(editedText("a: [\n", 0, { kind: "set", under: [], key: "a", value: "b" })).toBeNull();
  });
});
