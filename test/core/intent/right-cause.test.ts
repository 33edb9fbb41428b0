import { describe, expect, it } from "vitest";
import { type Files, placement, problemsOf, readAll } from "./reading.ts";

const map = (name: string): string => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}, namespace: web}\n`;

describe("what holds a deletion is named", () => {
  const job = "apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: run-\n  namespace: web\n";
  const gone = { "app.yaml": map("app") };
  const both = { ...gone, "app2.yaml": map("app2") };
  const placeless = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: app2}\n";
  const foreign = "apiVersion: example.com/v1\nkind: Misspelt\nmetadata: {name: app2, namespace: web}\n";
  const cases: readonly (readonly [ref: string, after: Files, want: string | undefined])[] = [
    [
      "an object with a generated name",
      { ...gone, "jobs/run.yaml": `\n${job}` },
      "Job run-… in jobs/run.yaml:2 might be it",
    ],
    [
      "a text that is not YAML",
      { ...gone, "b.yaml": "a: [\n", "c.yaml": "a: [\n" },
      "b.yaml:1 (and 1 more) might be it",
    ],
    [
      "an object without its namespace",
      { ...gone, "b.yaml": placeless },
      "ConfigMap app2 in b.yaml:1 has no namespace",
    ],
    ["a kind that nobody knows", { ...gone, "b.yaml": foreign }, "the Misspelt in b.yaml:1 has its name"],
    ["a link", { ...gone, "app2.yaml": "link" }, "app2.yaml is behind a link"],
    ["a file that says nothing", { ...gone, "app2.yaml": "# nothing\n" }, "app2.yaml is empty now"],
    ["its own file is no other", { ...both, "app2.yaml": `${map("app2")}data: {a: b, a: c}\n` }, undefined],
  ];
  it.each(cases)("%s", (_, after, want) => {
    const { holds, suspects } = readAll(both, after);
    expect(holds.map((it) => it.id.name)).toContain("app2");
    const because = suspects.get(`/ConfigMap/web/app2` as never);
    if (want === undefined) expect(because).toBe(undefined);
    else expect(because).toContain(want);
  });

  it("the object with a generated name says so itself, with what it costs", () => {
    expect(problemsOf(job)).toEqual([
      "3:1: error FLT1401: metadata.name: is missing; generateName (run-) would create a new object each time; give the object a name; until then nothing is deleted, since any missing object might be this one",
    ]);
  });
});

describe("a merge that nobody resolved is called that", () => {
  const cases: readonly (readonly [ref: string, text: string])[] = [
    ["between keys", `${map("a")}data:\n<<<<<<< HEAD\n  a: b\n=======\n  a: c\n>>>>>>> theirs\n`],
    ["around everything", `<<<<<<< HEAD\n${map("a")}=======\n${map("b")}>>>>>>> theirs\n`],
    ["in a text", `${map("a")}data:\n  a: |\n    b\n<<<<<<< HEAD\n    c\n=======\n    d\n>>>>>>> theirs\n`],
    [
      "with the lines of Windows",
      `${map("a")}data:\n<<<<<<< HEAD\n  a: b\n=======\n  a: c\n>>>>>>> theirs\n`.replaceAll("\n", "\r\n"),
    ],
  ];
  it.each(cases)("%s", (_, text) => {
    expect(problemsOf(text).map((it) => it.replace(/^\S+ /, ""))).toEqual([
      "error FLT1025: unresolved merge conflict; keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>",
    ]);
  });

  it("and a text that shows one is none", () => {
    expect(problemsOf(`${map("a")}data:\n  a: |\n    <<<<<<< HEAD\n    =======\n    >>>>>>> b\n`)).toEqual([]);
  });
});

describe("a field in the wrong place is told where it belongs", () => {
  const cases: readonly (readonly [ref: string, text: string, want: string])[] = [
    ["one of the spec at the top", `${placement("a")}policy: {placementType: PickAll}\n`, "it belongs under spec"],
    ["one of the policy in the spec", placement("a", `  numberOfClusters: 3\n`), "it belongs under spec.policy"],
    ["one of a rolling update", placement("a", `  maxSurge: 3\n`), "it belongs under spec.strategy.rollingUpdate"],
    ["a misspelt one is not misplaced", placement("a", `  polcy: {}\n`), 'did you mean "policy"?'],
    ["one that stands nowhere is to go", placement("a", `  colour: red\n`), "remove it"],
  ];
  it.each(cases)("%s", (_, text, want) => {
    const [problem] = problemsOf(text);
    expect(problem).toContain("FLT1301");
    expect(problem).toContain(want);
  });
});
