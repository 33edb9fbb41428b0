import { expect, test } from "vitest";
import { check } from "../../../src/core/check/check.ts";
import type { Binding } from "../../../src/core/model/binding.ts";
import type { CommitFact } from "../../../src/core/model/commit.ts";
import type { ChangeRequest, Ledger, PlacementRecord } from "../../../src/core/model/ledger.ts";
import type { Plan, World as Seen } from "../../../src/core/model/plan.ts";
import type { Gate } from "../../../src/core/model/stage-task.ts";
import type { AnswerRecord, Approval, Approver, Trust, TrustRecord } from "../../../src/core/model/trust.ts";
import { type RunRecord, runKey } from "../../../src/core/model/update-run.ts";
import type { BlobId, ClusterName, Digest, Instant } from "../../../src/core/model/value.ts";
import { plan } from "../../../src/core/plan/plan.ts";
import { requested } from "../../gate.ts";
import type { World } from "../../world.ts";
import {
  answer,
  by,
  changeOf,
  edit,
  everything,
  fleet,
  gateOf,
  run,
  settle,
  trust,
  trustedBy,
  web,
} from "../plan/approval/trusted-world.ts";
import { digest, ssh } from "../trust/scene.ts";

type Case = readonly [seen: Seen, made: Plan];

const planned = (world: World): Case => {
  const seen = world.look();
  return [seen, plan(seen)];
};
const faultsOf = ([seen, made]: Case): string =>
  check(made, seen)
    .map((it) => it.message)
    .join("\n");

const key = runKey(null, "r");
const m2 = "m2" as ClusterName;
const stages = ["canary:env=canary", "prod:env=prod/2/ask-before"];
const protection = (namespaces = ["web"]): Trust["protectedTargets"] => [
  { clusters: ["m2@uid-2", "m3*"], namespaces, principals: ["ann", "bob"], minimum: 1, accept: ["commit"] },
];

/** Dave changed it, and the gate before production is asked. */
function asking(file: Trust = trust()): World {
  const world = fleet(stages, file);
  run(world, "r");
  settle(world);
  return world;
}

/** Bob says yes: the next pass opens the gate. */
function answered(file: Trust = trust()): World {
  const world = asking(file);
  answer(world, "bob", gateOf(world, "r", 1).digest);
  return world;
}

/** A placement without runs, of which two clusters are protected: Dave's edit waits. */
function held(file: Trust = trust({ protectedTargets: protection() })): World {
  const world = fleet([], file, []);
  settle(world);
  return world;
}

/** Bob said yes to the change, and that was taken down: the next pass acts. */
function granted(): World {
  const world = held();
  answer(world, "bob", changeOf(world).digest);
  world.pass();
  return world;
}

const withLedger = ([seen, made]: Case, change: (it: Ledger) => Partial<Ledger>): Case => [
  seen,
  { ...made, decides: true, ledger: { ...made.ledger, ...change(made.ledger) } },
];
const withTrust = (it: Case, change: (record: TrustRecord) => TrustRecord | null): Case =>
  withLedger(it, (ledger) => ({ trust: change(ledger.trust as TrustRecord) }));
const withGate = (it: Case, change: (gate: Gate) => Gate): Case =>
  withLedger(it, ({ runs }) => {
    const known = runs.get(key) as RunRecord;
    const changed = known.stages.map((stage, at) =>
      at === 1 && stage.before.Approval !== null
        ? { ...stage, before: requested(change(stage.before.Approval)) }
        : stage,
    );
    return { runs: new Map([[key, { ...known, stages: changed }]]) };
  });
const withApproval = (it: Case, change: (approval: Approval) => Approval): Case =>
  withGate(it, (gate) => ({ ...gate, approval: gate.approval && change(gate.approval) }));
const withApprover = (it: Case, change: (one: Approver) => Partial<Approver>): Case =>
  withApproval(it, (approval) => ({ ...approval, by: approval.by.map((one) => ({ ...one, ...change(one) })) }));
const withAnswers = (it: Case, change: (one: AnswerRecord) => Partial<AnswerRecord>): Case =>
  withLedger(it, ({ answers }) => ({
    answers: new Map([...answers].map(([path, one]) => [path, { ...one, ...change(one) }])),
  }));
const withPlacement = (it: Case, change: (record: PlacementRecord) => Partial<PlacementRecord>): Case =>
  withLedger(it, ({ placements }) => {
    const record = placements.get(web) as PlacementRecord;
    return { placements: new Map([...placements, [web, { ...record, ...change(record) }]]) };
  });
const withBinding = (it: Case, cluster: ClusterName, change: (binding: Binding) => Partial<Binding>): Case =>
  withPlacement(it, ({ bindings }) => {
    const binding = bindings.get(cluster) as Binding;
    return { bindings: new Map([...bindings, [cluster, { ...binding, ...change(binding) }]]) };
  });
/** In another world, in which the trust file in force says something else from the beginning. */
const underTrust = ([seen, made]: Case, change: (it: Trust) => Partial<Trust>): Case => {
  const record = made.ledger.trust as TrustRecord;
  const next: TrustRecord = { ...record, trust: { ...record.trust, ...change(record.trust) } };
  return [
    { ...seen, ledger: { ...seen.ledger, trust: next } },
    { ...made, ledger: { ...made.ledger, trust: next } },
  ];
};
const seeing = ([seen, made]: Case, change: (it: Seen) => Partial<Seen>): Case => [{ ...seen, ...change(seen) }, made];
/** The commit that brought what is new says something else of itself. */
const carriedBy = (it: Case, change: (fact: CommitFact) => Partial<CommitFact>): Case =>
  seeing(it, ({ history }) => ({
    history: {
      ...history,
      commits: new Map(
        [...history.commits].map(([id, fact]) => [id, history.news.includes(id) ? { ...fact, ...change(fact) } : fact]),
      ),
    },
  }));

/** The second version of the trust file, signed by Ann and Bob. */
function renewed(more: Partial<Trust> = {}, signers: readonly string[] = ["ann", "bob"]): Case {
  const world = asking();
  trustedBy(world, trust({ version: 2, digest: digest("2"), previous: digest("1"), ...more }));
  world.history = {
    trustSignatures: signers.map((it) => ({ path: `trust/sigs/2.${it}.sig`, fact: ssh(it, "flotilla-trust-v1") })),
  };
  return planned(world);
}
/** What the planner refused, taken all the same. */
const taken = ([seen, made]: Case): Case =>
  withTrust([seen, made], (record) => ({
    ...record,
    trust: seen.intent.trust?.trust as Trust,
    text: seen.intent.trust?.text ?? "",
  }));

test.each<readonly [string, () => Case]>([
  ["a gate that one of three opens", () => planned(answered())],
  ["a gate that reaches what is protected", () => planned(answered(trust({ protectedTargets: protection() })))],
  ["a change that is approved", () => planned(granted())],
  ["a trust file that two roots signed", () => renewed()],
  ["a trust file that too few signed, and that is refused", () => renewed({}, ["ann"])],
])("%s passes", (_, made) => expect(faultsOf(made())).toBe(""));

const trustFaults: readonly (readonly [string, () => Case, RegExp])[] = [
  [
    "there was trust once",
    () => withLedger(planned(asking()), () => ({ hasTrust: false })),
    /forgets that there was a trust/,
  ],
  ["T-09: trust is never dropped", () => withTrust(planned(asking()), () => null), /forgets the trust file/],
  [
    "T-09: what stands there is trusted, and nothing else",
    () => withTrust(renewed(), (it) => ({ ...it, text: "else" })),
    /trusts version 2 of the trust file, which does not stand there/,
  ],
  ["no version is left out", () => taken(renewed({ version: 3 })), /does not follow version 1/],
  ["a version follows the one before", () => taken(renewed({ previous: digest("9") })), /does not follow version 1/],
  ["a version does not come again", () => taken(renewed({ version: 1 })), /goes back to version 1/],
  ["one root is too few", () => taken(renewed({}, ["ann"])), /which too few roots of version 1 signed/],
  [
    "one root with two keys is one",
    () => taken(renewed({}, ["ann", "ann2"])),
    /which too few roots of version 1 signed/,
  ],
  [
    "new roots sign as well",
    () => taken(renewed({ roots: { principals: ["carol"], threshold: 1 } })),
    /which too few roots of version 2 signed/,
  ],
  [
    "a key that the next version revokes signs nothing",
    () => taken(renewed({ revocations: [{ key: "SHA256:bob", kind: "retired" }] })),
    /which too few roots of version 1 signed/,
  ],
  ["an expired one is not trusted", () => taken(renewed({ expires: 0 as Instant })), /which has expired/],
  [
    "T-08: it comes alone",
    () => carriedBy(renewed(), ({ changes }) => ({ changes: [...changes, { path: "x", before: null, after: null }] })),
    /which did not come alone/,
  ],
  [
    "the first one is the operator's",
    () => seeing(withFirst(), () => ({ trustAnchor: digest("9") })),
    /for which nobody vouches/,
  ],
];

/** The pass that takes the first trust file. */
function withFirst(): Case {
  const [seen, made] = planned(asking());
  return [{ ...seen, ledger: { ...seen.ledger, trust: null } }, made];
}

test.each(trustFaults)("%s", (_, spoilt, fault) => expect(faultsOf(spoilt())).toMatch(fault));

const gateFaults: readonly (readonly [string, (it: Case) => Case, RegExp])[] = [
  [
    "T-04: what is made in this pass is not open before the next",
    (it) => withGate(it, (gate) => ({ ...gate, digest: digest("f") })),
    /opens the gate before stage prod of run r, which was not asked for/,
  ],
  [
    "four eyes look at those who were named",
    (it) => withGate(it, (gate) => ({ ...gate, authors: { principals: [], unknown: 0 } })),
    /which was not asked for/,
  ],
  ["nobody is too few", (it) => withApproval(it, (approval) => ({ ...approval, by: [] })), /by nobody/],
  [
    "T-06: one voice does not count twice",
    (it) => withApproval(it, ({ at, by: all }) => ({ at, by: [...all, ...all] })),
    /by one voice twice/,
  ],
  ["a name that nobody knows", (it) => withApprover(it, () => ({ principal: "eve" })), /by eve, who is no person/],
  ["a machine", (it) => withApprover(it, () => ({ principal: "web-flow" })), /by web-flow, who is no person/],
  [
    "somebody else's answer",
    (it) => withApprover(it, () => ({ principal: "carol" })),
    /by carol, who said something else/,
  ],
  [
    "an answer that is not there",
    (it) => withApprover(it, () => ({ path: "x" })),
    /by bob, whose answer does not count/,
  ],
  [
    "an answer that was denied",
    (it) => withAnswers(it, () => ({ judgement: { kind: "denied", code: "FLT1202", because: "" } })),
    /by bob, whose answer does not count/,
  ],
  [
    "an answer to something else",
    (it) => withAnswers(it, ({ file }) => ({ file: { ...file, digest: digest("f") } })),
    /by bob, who said something else/,
  ],
  [
    "a no",
    (it) => withAnswers(it, ({ file }) => ({ file: { ...file, decision: "Reject" } })),
    /by bob, who said something else/,
  ],
  [
    "another text",
    (it) => withApprover(it, () => ({ blob: "else" as BlobId })),
    /by bob, who does not say so any more/,
  ],
  [
    "a file that is gone",
    (it) => seeing(it, ({ intent }) => ({ intent: { ...intent, approvals: [] } })),
    /by bob, who does not say so any more/,
  ],
  ["a proof that nobody gave", (it) => withApprover(it, () => ({ proofs: [] })), /by bob, which nothing proves/],
  [
    "a key in wrong hands",
    (it) => underTrust(it, () => ({ revocations: [{ key: "SHA256:bob", kind: "compromised" }] })),
    /by bob, whose key is compromised/,
  ],
  [
    "an expired trust file",
    (it) => underTrust(it, () => ({ expires: 0 as Instant })),
    /by a trust file that has expired/,
  ],
  [
    "D 6: a trust file that cannot be used",
    (it) =>
      seeing(it, ({ intent }) => ({ intent: { ...intent, trust: intent.trust && { ...intent.trust, trust: null } } })),
    /while the trust file in force does not stand there/,
  ],
  [
    "a second person",
    (it) => underTrust(it, () => ({ approvals: [everything({ minimum: 2 })] })),
    /by fewer than have to approve it/,
  ],
  [
    "somebody whom no rule names",
    (it) => underTrust(it, () => ({ approvals: [everything({ principals: ["ann"] })] })),
    /by fewer than have to approve it/,
  ],
  [
    "a way that is not accepted",
    (it) => underTrust(it, () => ({ approvals: [everything({ accept: ["detached"] })] })),
    /by fewer than have to approve it/,
  ],
  ["no rule at all", (it) => underTrust(it, () => ({ approvals: [] })), /by fewer than have to approve it/],
  [
    "D-17: what the stage reaches",
    (it) => underTrust(it, () => ({ protectedTargets: [{ ...protection()[0], principals: ["ann"] } as never] })),
    /by fewer than have to approve it/,
  ],
];

test.each(gateFaults)("a gate does not open by %s", (_, spoil, fault) => {
  const sound = planned(answered());
  expect(faultsOf(sound)).toBe("");
  expect(faultsOf(spoil(sound))).toMatch(fault);
});

test("one rejection outweighs every approval", () => {
  const world = answered();
  answer(world, "carol", gateOf(world, "r", 1).digest);
  const sound = planned(world);
  expect(faultsOf(sound)).toBe("");
  const no = withAnswers(sound, ({ file }) =>
    file.principal === "carol" ? { file: { ...file, decision: "Reject" } } : {},
  );
  expect(faultsOf(no)).toMatch(/opens the gate before stage prod of run r, which was rejected/);
});

test("who revokes takes back what he said", () => {
  const world = answered();
  const { path } = answer(world, "bob", gateOf(world, "r", 1).digest);
  const sound = planned(world);
  expect(faultsOf(sound)).toBe("");
  const revoked = withAnswers(sound, ({ file }) =>
    file.path === path ? { file: { ...file, decision: "Revoke" } } : {},
  );
  expect(faultsOf(revoked)).toMatch(/opens the gate before stage prod of run r by fewer than have to approve it/);
});

test("four eyes: who changed it does not count, and what nobody signed takes one more", () => {
  const world = asking();
  answer(world, "bob", gateOf(world, "r", 1).digest);
  const authored = (authors: Gate["authors"]): Case => {
    const [seen, made] = withGate(planned(world), (gate) => ({ ...gate, authors }));
    const [old] = withGate([seen, { ...made, ledger: seen.ledger }], (gate) => ({ ...gate, authors }));
    const { ledger } = withGate([old, { ...made, ledger: seen.ledger }], (gate) => ({ ...gate, authors }))[1];
    return [{ ...seen, ledger: { ...ledger, sequence: seen.ledger.sequence } }, made];
  };
  expect(faultsOf(authored({ principals: ["dave"], unknown: 0 }))).not.toMatch(/fewer/);
  expect(faultsOf(authored({ principals: ["bob"], unknown: 0 }))).toMatch(/by fewer than have to approve it/);
  expect(faultsOf(authored({ principals: [], unknown: 1 }))).toMatch(/by fewer than have to approve it/);
});

test("without a trust file, what nobody signed counts only where the fleet says so, and never had one", () => {
  const sound = planned(answered());
  const [seen, made] = withTrust(
    seeing(sound, ({ ledger }) => ({ ledger: { ...ledger, trust: null } })),
    () => null,
  );
  expect(faultsOf([seen, made])).toMatch(/opens the gate before stage prod of run r although nobody signed that/);
});

const answerFaults: readonly (readonly [string, (it: Case) => Case, RegExp])[] = [
  ["by another's key", (it) => carriedBy(it, () => by("carol")), /which its proofs do not prove/],
  ["by a machine's key", (it) => carriedBy(it, () => by("web-flow")), /which its proofs do not prove/],
  ["by nobody's key", (it) => carriedBy(it, () => by("eve")), /which its proofs do not prove/],
  ["T-10: made for something else", (it) => carriedBy(it, () => ({ signature: ssh("bob", "file") })), /do not prove/],
  [
    "T-13: in a commit that does more",
    (it) => carriedBy(it, ({ changes }) => ({ changes: [...changes, { path: "x", before: null, after: null }] })),
    /do not prove/,
  ],
  [
    "T-05: that replaces another",
    (it) => carriedBy(it, ({ changes }) => ({ changes: changes.map((one) => ({ ...one, before: "b" as BlobId })) })),
    /which no single commit adds/,
  ],
  [
    "T-11: in a merge",
    (it) => carriedBy(it, ({ parents }) => ({ parents: [...parents, ...parents] })),
    /no single commit/,
  ],
  [
    "that no commit brings",
    (it) => seeing(it, ({ history }) => ({ history: { ...history, news: [] } })),
    /no single commit/,
  ],
  [
    "B-53: by a revoked key",
    (it) => underTrust(it, () => ({ revocations: [{ key: "SHA256:bob", kind: "retired" }] })),
    /do not prove/,
  ],
  [
    "by what a key is said to be",
    (it) =>
      withAnswers(it, ({ judgement }) =>
        judgement.kind === "denied"
          ? {}
          : { judgement: { ...judgement, proofs: [{ evidence: "detached", key: "SHA256:bob" }] } },
      ),
    /do not prove/,
  ],
  [
    "without any",
    (it) =>
      withAnswers(it, ({ judgement }) =>
        judgement.kind === "denied" ? {} : { judgement: { ...judgement, proofs: [] } },
      ),
    /which nothing proves/,
  ],
  [
    "for somebody else",
    (it) =>
      withAnswers(it, ({ judgement }) =>
        judgement.kind === "denied" ? {} : { judgement: { ...judgement, principal: "ann" } },
      ),
    /which speaks for somebody else/,
  ],
  [
    "to what nobody asked",
    (it) => seeing(it, ({ ledger }) => ({ ledger: { ...ledger, runs: new Map() } })),
    /which answers nothing that was asked/,
  ],
  [
    "T-08: by trust that came with it",
    (it) => seeing(it, ({ ledger }) => ({ ledger: { ...ledger, trust: null } })),
    /nobody could judge/,
  ],
];

test.each(answerFaults)("an answer does not count %s", (_, spoil, fault) =>
  expect(faultsOf(spoil(planned(answered())))).toMatch(fault),
);

test("T-05: what was judged stays judged, and what was said is not forgotten while it is asked", () => {
  const world = asking();
  answer(world, "dave", gateOf(world, "r", 1).digest);
  settle(world);
  const sound = planned(world);
  expect([...sound[0].ledger.answers.values()].map((it) => it.judgement.kind)).toEqual(["denied"]);
  const counts = { kind: "counts", principal: "dave", proofs: [], at: sound[0].now } as const;
  expect(faultsOf(withAnswers(sound, () => ({ judgement: counts })))).toMatch(/judges approvals\/dave-\d+.yaml again/);

  const two = asking(trust({ approvals: [everything({ minimum: 2 })] }));
  answer(two, "bob", gateOf(two, "r", 1).digest);
  settle(two);
  expect(faultsOf(withLedger(planned(two), () => ({ answers: new Map() })))).toMatch(
    /forgets what approvals\/bob-\d+.yaml says/,
  );
});

const removal = (seen: Seen): Partial<Binding> => ({
  removal: {
    sequence: (seen.ledger.sequence + 1) as never,
    since: seen.now,
    cause: "c" as never,
    propagation: "Delete",
  },
});
const fault = /changes web on m2, which is protected, and nobody approved that/;

test("I-59: a target that is protected does not move before an approval of just that was taken down", () => {
  const sound = planned(granted());
  expect(faultsOf(sound)).toBe("");
  expect(sound[1].rendered.map((it) => it.cluster)).toContain("m2");
  const forgotten = (change: (it: ChangeRequest) => ChangeRequest | null): Case =>
    seeing(sound, ({ ledger }) => {
      const record = ledger.placements.get(web) as PlacementRecord;
      const changed = { ...record, change: record.change && change(record.change) };
      return { ledger: { ...ledger, placements: new Map([[web, changed]]) } };
    });
  expect(faultsOf(forgotten(() => null))).toMatch(fault);
  expect(faultsOf(forgotten((it) => ({ ...it, request: it.request && { ...it.request, approval: null } })))).toMatch(
    fault,
  );
  expect(faultsOf(forgotten((it) => ({ ...it, clusters: new Map([[m2, digest("9")]]) })))).toMatch(fault);
  expect(faultsOf(forgotten((it) => ({ ...it, clusters: new Map([[m2, null]]) })))).toMatch(fault);
  const stolen = underTrust(sound, () => ({ revocations: [{ key: "SHA256:bob", kind: "compromised" }] }));
  expect(faultsOf(stolen)).toMatch(fault);
  const narrowed = underTrust(sound, () => ({
    protectedTargets: [{ ...protection()[0], principals: ["ann"] } as never],
  }));
  expect(faultsOf(narrowed)).toMatch(fault);
});

test("I-59: nothing leaves what is protected unasked, neither all of it nor a part", () => {
  const world = granted();
  settle(world);
  edit(world, "two");
  settle(world);
  const sound = planned(world);
  expect(faultsOf(sound)).toBe("");
  expect(faultsOf(withBinding(sound, m2, () => removal(sound[0])))).toMatch(fault);
  const lost = {
    id: { group: "", kind: "ConfigMap", namespace: "web", name: "x" },
    cause: "c" as never,
    released: false,
    evenAdopted: false,
  };
  expect(faultsOf(withBinding(sound, m2, () => ({ leaving: [lost] })))).toMatch(fault);
  const moved = withBinding(sound, m2, ({ target }) => ({ target: target && { ...target, digest: "else" as Digest } }));
  expect(faultsOf(moved)).toMatch(fault);
  const named = withBinding(sound, m2, ({ target }) => ({ target: target && { ...target, resourceIndex: 7 } }));
  expect(faultsOf(named)).not.toMatch(fault);
});

test("I-59: calling off a removal changes nothing while all of it is there and waits, and brings back what may have gone", () => {
  const world = granted();
  settle(world);
  const sound = planned(world);
  const binding = sound[0].ledger.placements.get(web)?.bindings.get(m2) as Binding;
  const carried =
    sound[0].ledger.placements
      .get(web)
      ?.resourceSnapshots.at(-1)
      ?.resources.map((it) => it.id) ?? [];
  const leaving = carried.map((id) => ({ id, cause: "c" as never, released: false, evenAdopted: false }));
  const calledOff = (there: Binding["leaving"], waiting = carried, confirmed = false): string => {
    const [, { ledger }] = withBinding(sound, m2, () => ({ ...removal(sound[0]), leaving: there }));
    const groups = [{ placement: web, clusters: [m2], objects: waiting }];
    const set = { because: "bounds", cause: "c" as never, digest: digest("9"), confirmed, groups, others: [] } as const;
    const deletions = { ...ledger.deletions, held: [set] };
    const target = binding.target && { ...binding.target, sequence: (sound[0].ledger.sequence + 1) as never };
    return faultsOf(
      withBinding(
        [{ ...sound[0], ledger: { ...sound[0].ledger, placements: ledger.placements, deletions } }, sound[1]],
        m2,
        () => ({
          target,
        }),
      ),
    );
  };
  expect(leaving.length).toBe(2);
  expect(calledOff(leaving)).not.toMatch(/protected/);
  expect(calledOff(leaving.slice(0, 1))).toMatch(fault);
  expect(calledOff(leaving, carried.slice(0, 1))).toMatch(fault);
  expect(calledOff(leaving, carried, true)).toMatch(fault);
});

test("D-17: other namespaces and other clusters go their way; what is in no namespace matters to all", () => {
  const elsewhere = planned(held(trust({ protectedTargets: protection(["payments"]) })));
  expect(faultsOf(elsewhere)).toBe("");
  const world = granted();
  settle(world);
  const sound = planned(world);
  const one = "m1" as ClusterName;
  expect(faultsOf(withBinding(sound, one, () => removal(sound[0])))).not.toMatch(/protected/);
  const scoped = {
    id: { group: "", kind: "PersistentVolume", namespace: null, name: "x" },
    cause: "c" as never,
    released: false,
    evenAdopted: false,
  };
  const apart = underTrust(sound, () => ({ protectedTargets: protection(["payments"]) }));
  expect(faultsOf(withBinding(apart, m2, () => removal(sound[0])))).not.toMatch(/protected/);
  expect(faultsOf(withBinding(apart, m2, () => ({ leaving: [scoped] })))).toMatch(fault);
});

test("a gate lets its stage change what is protected, once it was taken down, and for just that", () => {
  const world = answered(trust({ protectedTargets: protection() }));
  world.pass();
  const sound = planned(world);
  expect(faultsOf(sound)).toBe("");
  expect(sound[1].rendered.map((it) => it.cluster)).toEqual(["m2", "m3"]);
  const closed = seeing(sound, ({ ledger }) => {
    const made: Case = [sound[0], { ...sound[1], ledger }];
    return { ledger: withGate(made, (gate) => ({ ...gate, approval: null }))[1].ledger };
  });
  expect(faultsOf(closed)).toMatch(fault);
  const other = withBinding(sound, m2, ({ target }) => ({ target: target && { ...target, digest: "else" as Digest } }));
  expect(faultsOf(other)).toMatch(fault);
});

test("what people were asked stays what they were asked", () => {
  const sound = planned(held());
  const wider = withPlacement(sound, ({ change }) => ({
    change: change && { ...change, clusters: new Map([...change.clusters, ["m1" as ClusterName, null]]) },
  }));
  expect(faultsOf(wider)).toMatch(/changes what the change of web is asked for/);
});

test("an older run may ask in the pass in which a newer one brings the same to what is left", () => {
  const world = fleet(["canary:env=canary/ask-before/ask-after", "prod:env=prod/2/ask-before"]);
  for (const name of ["r", "newer"]) {
    run(world, name, by("carol"));
    settle(world);
  }
  const yes = (name: string, at: number, when: "before" | "after"): void => {
    answer(world, "bob", gateOf(world, name, at, when).digest);
    settle(world);
  };
  // The newer one takes it over before it came up.
  world.member("m1").silence = { code: "Unreachable", message: "refused" };
  yes("r", 0, "before");
  yes("newer", 0, "before");
  world.member("m1").silence = null;
  settle(world);
  yes("newer", 0, "after");
  yes("newer", 1, "before");
  expect(gateOf(world, "r", 0, "after").authors).toEqual({ principals: ["carol"], unknown: 0 });
  expect(world.head.placements.get(web)?.bindings.get(m2)?.target).not.toBeNull();
});
