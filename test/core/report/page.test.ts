import { describe, expect, test } from "vitest";
import { known } from "../../../src/core/model/assert.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import { emptyLedger, type Ledger, nothingCollected, type PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Reason } from "../../../src/core/model/reason.ts";
import type {
  ClusterName,
  Commit,
  Digest,
  Epoch,
  Instant,
  PlacementKey,
  Sequence,
} from "../../../src/core/model/value.ts";
import { statePage } from "../../../src/core/report/page.ts";
import { planOf, run } from "../../cmd/rollout-ledger.ts";
import { randomLedger } from "../ledger/ledgers.ts";

const words = {
  explain: (reason: Reason): string =>
    "message" in reason && "placement" in reason ? `${reason.placement}: ${reason.message}` : reason.kind,
  confirmation: (digest: Digest) => ({ path: `approvals/deletions/${digest}.yaml`, text: `digest: ${digest}\n` }),
  whyHeld: (because: string) => because,
};
const at = Date.parse("2026-11-21T03:00:00Z") as Instant;
const since = "2026-11-21T03:00:00Z";

const [first] = randomLedger(2).placements.values();
const settled = known(first, "seed 2 has placements");
const record = (name: string, more: Partial<PlacementRecord>): [PlacementKey, PlacementRecord] => [
  name as PlacementKey,
  {
    ...settled,
    key: name as PlacementKey,
    name,
    scope: "Cluster",
    namespace: null,
    deleting: null,
    selectionError: null,
    unrolled: null,
    conditions: [condition("True", "ResourceAvailable", "all fine")],
    bindings: new Map(),
    resourceSnapshots: [],
    spec: {
      ...settled.spec,
      policy: { kind: "PickN", numberOfClusters: 3, required: [], preferred: [], spread: [], tolerations: [] },
    },
    ...more,
  },
];

function condition(status: "True" | "False", reason: string, message: string) {
  const type = "ClusterResourcePlacementAvailable";
  return { type, status, reason, message, observedGeneration: 1, lastTransitionTime: at };
}

const member = (name: string, contactFailure: string | null): Ledger["clusters"] =>
  new Map([
    [
      name as ClusterName,
      {
        name: name as ClusterName,
        uid: "u",
        generation: 1,
        specDigest: "d" as Digest,
        kubeSystemUid: "k",
        properties: new Map([["k8s.io/k8s-version", "v1.36.3"]]),
        collection: nothingCollected,
        namespaces: null,
        contactFailure: contactFailure === null ? null : { code: "Unreachable", message: contactFailure, since: at },
        conditions: [],
      },
    ],
  ]);

const fleet: Ledger = {
  ...emptyLedger,
  fleet: "shop-fleet",
  epoch: 1 as Epoch,
  sequence: 12 as Sequence,
  sourceCommit: "0123456789abcdef0123456789abcdef01234567" as Commit,
  clusters: new Map([...member("berlin", null), ...member("tokyo", "no route | <b>here</b>")]),
  placements: new Map([
    record("api", {}),
    record("web", { conditions: [condition("False", "ResourceNotAvailableYet", "1 cluster is not available")] }),
  ]),
  deletions: {
    bounds: null,
    cause: null,
    permitted: new Map(),
    held: [
      {
        cause: "c".repeat(40) as Commit,
        digest: "ab12" as Digest,
        because: "foreign",
        confirmed: false,
        groups: [
          {
            placement: "web" as PlacementKey,
            clusters: ["berlin" as ClusterName],
            objects: [{ group: "", kind: "Namespace", namespace: null, name: "shop" }],
          },
        ],
        others: [
          {
            placement: "web" as PlacementKey,
            cluster: "berlin" as ClusterName,
            id: { group: "", kind: "Namespace", namespace: null, name: "shop" },
            objects: [{ group: "", kind: "Secret", namespace: "shop", name: "theirs", uid: "u-1" }],
          },
        ],
      },
    ],
    confirmations: new Map(),
  },
};

const reasons: readonly Reason[] = [
  {
    kind: "unhealthy",
    placement: "web" as PlacementKey,
    cluster: "berlin" as ClusterName,
    since: at,
    message: "Deployment shop/web: 0 of 2 ready\n| *boom*",
  },
  { kind: "applying", placement: "web" as PlacementKey, clusters: ["tokyo" as ClusterName] },
];

test("the page shows what waits for a person, what fails and where everything stands", () => {
  expect(statePage(fleet, reasons, words)).toBe(`# Fleet shop-fleet

Decision 12 of epoch 1, from source commit \`0123456\`. Flotilla writes this branch; people never do.

- **2 members**, 1 of them in trouble
- **2 placements**, 1 in place
- **1 failure**
- **1 set of deletions** to be confirmed or reverted

## Deletions that wait for a confirmation

To confirm one, run \`flotilla confirm\` with its digest, or commit its file to the source branch; to keep its objects,
revert the commit that removes them. A confirmation counts once, and only for its set.

Why: foreign

- web on berlin: Namespace shop
- web on berlin, of others with Namespace shop:
  - Secret shop/theirs, uid u-1

\`approvals/deletions/ab12.yaml\`:

\`\`\`yaml
digest: ab12
\`\`\`

## What fails

- web: Deployment shop/web: 0 of 2 ready \\| \\*boom\\*

## Placements

| Placement | Clusters | Version | State | Waits for | Who can unblock it |
| --- | --- | --- | --- | --- | --- |
| [web](placements/web/placement.yaml) | 0/3 | none | ResourceNotAvailableYet since ${since}: 1 cluster is not available | Deployment shop/web: 0 of 2 ready \\| \\*boom\\*<br>applying | the workload's owner: repair it or roll back<br>nobody: it continues by itself |
| [api](placements/api/placement.yaml) | 0/3 | none | in place |  |  |

## Members

| Member | Kubernetes | Contact | Since |
| --- | --- | --- | --- |
| [tokyo](clusters/tokyo.yaml) | v1.36.3 | Unreachable: no route \\| \\<b\\>here\\</b\\> | ${since} |
| [berlin](clusters/berlin.yaml) | v1.36.3 | answers |  |
`);
});

describe("the page", () => {
  test("of a fleet without anything is a title", () => {
    expect(statePage(emptyLedger, [], words).split("\n")[0]).toBe("# Fleet ");
  });

  test("counts what it does not list", () => {
    const names = Array.from({ length: 250 }, (_, index) => `p${index}`);
    const page = statePage({ ...fleet, placements: new Map(names.map((it) => record(it, {}))) }, [], words);
    expect(page.match(/^\| \[p/gm)?.length).toBe(200);
    expect(page).toContain("… and 50 placements more.");
  });

  test("lists what is in trouble before what is not", () => {
    const many = Array.from({ length: 250 }, (_, index) => record(`p${index}`, {}));
    const placements = new Map([...many, record("z", { selectionError: "no such kind" })]);
    expect(statePage({ ...fleet, placements }, [], words)).toContain("| [z](placements/z/placement.yaml) |");
  });

  test("keeps every row on its line, whatever members say", () => {
    const page = statePage({ ...fleet, clusters: member("a", "x\n\n# boo | y\u2028z`".repeat(100)) }, [], words);
    const row = page.split("\n").find((it) => it.startsWith("| [a]"));
    expect(row?.match(/(?<!\\)\|/g)?.length).toBe(5);
    expect(page).not.toMatch(/^# boo/m);
    expect(row?.length).toBeLessThan(1000);
  });

  test("does not call a placement in place whose newest content no run has rolled out", () => {
    const placements = new Map([record("web", { unrolled: "d1" as Digest })]);
    const page = statePage({ ...fleet, placements }, [], words);
    expect(page).toContain("- **1 placement**, 0 in place");
    expect(page).toContain(
      "what is selected now is not rolled out | an update run for what is selected now | the placement's owner: create an update run |",
    );
  });

  test("says which run is to be started, whatever else it would bring", () => {
    const planned = run("two", 2, { plan: planOf(1, []) });
    const runs = new Map(
      [planned].map((it) => [it.key, { ...it, spec: { ...it.spec, state: "Initialize" } as const }]),
    );
    for (const unrolled of [null, "d1" as Digest]) {
      const page = statePage({ ...fleet, placements: new Map([record("web", { unrolled })]), runs }, [], words);
      expect(page).toContain(" | run two, which has to be started | the run's owner: set its state to Run |");
    }
  });

  test("says that clusters which joined an External placement wait for a run, unless one is under way", () => {
    const bare = { cluster: "oslo" as ClusterName, state: "Bound", removal: null, target: null, conditions: [] };
    const bindings = new Map([[bare.cluster, bare as unknown as Binding]]);
    const spec = { ...settled.spec, strategy: { ...settled.spec.strategy, type: "External" as const } };
    const placements = new Map([record("web", { bindings, spec })]);
    const wait = "| an update run, for oslo | the placement's owner: create an update run |";
    expect(statePage({ ...fleet, placements }, [], words)).toContain(wait);
    const runs = new Map([run("two", 2, { plan: planOf(1, []) })].map((it) => [it.key, it]));
    expect(statePage({ ...fleet, placements, runs }, [], words)).not.toContain(wait);
  });

  describe("does not promise that a rollout goes on by itself", () => {
    const late = condition("False", "NotAvailable", "1 of 2 ready");
    const rowOf = (cluster: string, reason: Reason): string => {
      const target = { resourceIndex: 0, startedAt: at } as Binding["target"];
      const on = { cluster: cluster as ClusterName, conditions: [late], generation: 1, target, facts: null };
      const bindings = new Map([[cluster as ClusterName, on as unknown as Binding]]);
      const placements = new Map([record("web", { bindings, conditions: [late] })]);
      const page = statePage({ ...fleet, placements }, [reason], words);
      return page.split("\n").find((it) => it.startsWith("| [web]")) ?? "";
    };
    const web = "web" as PlacementKey;
    const berlin = "berlin" as ClusterName;

    test("while a workload comes up: its image may be broken", () => {
      const row = rowOf("berlin", {
        kind: "awaitingHealth",
        placement: web,
        cluster: berlin,
        until: at,
        message: "0 of 1",
      });
      expect(row).toContain(`| nobody yet; if it is not available by ${since}, the workload's owner |`);
    });

    test("while clusters are held back by one that is not up", () => {
      const row = rowOf("berlin", { kind: "heldBack", placement: web, clusters: [berlin], arithmetic: "1 of 1" });
      expect(row).toContain("| nobody yet; if it is not available, the workload's owner |");
    });

    test("while a member is absent, which it names", () => {
      const row = rowOf("tokyo", { kind: "heldBack", placement: web, clusters: [berlin], arithmetic: "1 of 1" });
      expect(row).toContain("| no contact with tokyo<br>");
      expect(row).toMatch(/\| the member's operator \|$/);
    });
  });

  test("does not ask for what is confirmed", () => {
    const held = fleet.deletions.held.map((it) => ({ ...it, confirmed: true }));
    const page = statePage({ ...fleet, deletions: { ...fleet.deletions, held } }, [], words);
    expect(page).not.toContain("approvals/deletions");
  });
});
