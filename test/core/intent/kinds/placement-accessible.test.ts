import { describe, expect, it } from "vitest";
import { errorsOf, placement, problemsOf, read, readAll } from "../reading.ts";

const accessible = "  statusReportingScope: NamespaceAccessible\n";
const namespaceNamed = (name: string): string => `{group: "", version: v1, kind: Namespace, name: ${name}}`;
const reader = "{group: rbac.authorization.k8s.io, version: v1, kind: ClusterRole, name: reader}";

/** A placement of these selectors, by default one whose status is shown in the namespace that it selects. */
const selecting = (selectors: readonly string[], rest: string = accessible): string =>
  placement("demo", rest).replace(/resourceSelectors: .*/, `resourceSelectors: [${selectors.join(", ")}]`);

const one = selecting([namespaceNamed("web")]);

describe("a placement that is NamespaceAccessible selects the one Namespace where its status is shown", () => {
  const cases: readonly (readonly [id: string, claim: string, text: string, want: readonly unknown[]])[] = [
    ["V-CRP-03, V-PL-73", "one, by name", one, []],
    ["V-CRP-03", "others may accompany it", selecting([reader, namespaceNamed("web")]), []],
    [
      "V-CRP-03",
      "none",
      selecting([reader]),
      [
        expect.stringMatching(
          /^6:25: error FLT1307: spec\.statusReportingScope: .* and none is; select exactly one Namespace, by name$/,
        ),
      ],
    ],
    [
      "V-CRP-03",
      "two",
      selecting([namespaceNamed("web"), namespaceNamed("db")]),
      [
        expect.stringMatching(
          /^5:\d+: error FLT1307: spec\.resourceSelectors\[1\]: NamespaceAccessible allows one .* there are 2; make it/,
        ),
      ],
    ],
    [
      "V-CRP-03",
      "by labels",
      selecting([namespaceNamed("web").replace("name: web", "labelSelector: {matchLabels: {team: web}}")]),
      [expect.stringMatching(/^5:\d+: error FLT1307: spec\.resourceSelectors\[0\]: .*; select it by name$/)],
    ],
    [
      "V-PL-73",
      "another scope",
      selecting([namespaceNamed("web")], "  statusReportingScope: Hidden\n"),
      [expect.stringMatching(/^6:25: error FLT1302: /)],
    ],
  ];
  it.each(cases)("%s %s", (_id, _claim, text, want) => {
    expect(problemsOf(text).filter((it) => it.includes("error"))).toEqual(want);
  });

  it("what is written is what is read, and the default is no change", () => {
    const specOf = (text: string) => read({ "a.yaml": text }).placements.get("demo" as never)?.spec;
    expect(specOf(one)).toHaveProperty("statusReportingScope", "NamespaceAccessible");
    const byDefault = selecting([namespaceNamed("web")], "  statusReportingScope: ClusterScopeOnly\n");
    expect(specOf(byDefault)).toEqual(specOf(selecting([namespaceNamed("web")], "")));
  });
});

describe("what an update of it may not change stays as it was accepted", () => {
  const cases: readonly (readonly [
    id: string,
    claim: string,
    before: string,
    after: string,
    want: readonly string[],
  ])[] = [
    [
      "V-CRP-04",
      "to NamespaceAccessible",
      selecting([namespaceNamed("web")], ""),
      one,
      [
        "a.yaml:6:25: error FLT1315: spec.statusReportingScope: cannot change from ClusterScopeOnly to NamespaceAccessible",
      ],
    ],
    [
      "V-CRP-04",
      "and back",
      one,
      selecting([namespaceNamed("web")], "  statusReportingScope: ClusterScopeOnly\n"),
      [
        "a.yaml:6:25: error FLT1315: spec.statusReportingScope: cannot change from NamespaceAccessible to ClusterScopeOnly",
      ],
    ],
    [
      "V-CRP-06",
      "the namespace",
      one,
      selecting([reader, namespaceNamed("db")]),
      [
        "a.yaml:5:153: error FLT1315: spec.resourceSelectors[1].name: cannot change from web to db while the status is NamespaceAccessible",
      ],
    ],
    ["V-CRP-06", "what accompanies it may come", one, selecting([reader, namespaceNamed("web")]), []],
    [
      "V-CRP-06",
      "a placement that is not may change it",
      selecting([namespaceNamed("web")], ""),
      selecting([namespaceNamed("db")], ""),
      [],
    ],
  ];
  it.each(cases)("%s %s", (_id, _claim, before, after, want) => {
    const intent = readAll({ "a.yaml": before }, { "a.yaml": after });
    expect(errorsOf(intent)).toEqual(want);
  });
});
