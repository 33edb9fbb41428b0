// Stages in which no cluster changes: no wait, no approval asked for.
import { expect, test } from "vitest";
import { fleet, inCanary, staged, tell, throughCanary, toCanary } from "./run-script.ts";
import { worldOf } from "./run-world.ts";

type Row = readonly [name: string, before: string, script: string, want: string];

const back = "B=0 Run";
const rows: readonly Row[] = [
  [
    "a rollback of a run that never left its first stage asks nobody about the rest, and waits for nothing there",
    `${throughCanary}; A=1 Run; pass; member2 ok; pass`,
    `${back}; pass; member2 ok; pass; +1m; pass`,
    "B: +member2 (member2 of 1; then nobody), A: (staging in 60s) | B: member2! (staging in 60s), A: (staging in 60s) | " +
      "B: staging. member3! member1! canary. deletion. succeeded, " +
      "A: staging. member3>B member1>B canary. deletion. succeeded",
  ],
  [
    "the first stage as well: its wait is for what was brought there",
    `${throughCanary}; member1 touch`,
    `${back}; pass`,
    "B: member2! staging. (asks before canary)",
  ],
  [
    "not while another run is held in it and this one would take its version on: who creates a run anew has not waited",
    "A=0 Run; pass; member2 ok; pass; A Stop",
    `${back}; pass; +59s; pass; +1s; pass`,
    "B: member2! (staging in 60s), A: (stopped staging: nobody) | B: (staging in 1s), A: (stopped staging: nobody) | " +
      "B: staging. (asks before canary), A: (stopped staging: nobody)",
  ],
  [
    "what is not well there is seen, and holds up what follows",
    `${throughCanary}; member1 touch; member2 bad`,
    `${back}; pass; member2 ok; pass`,
    "B: (failed member2 > 0) | B: member2! staging. (asks before canary)",
  ],
  [
    "what begins to change there is asked for after all",
    `${throughCanary}; member3 slow`,
    `${back}; pass; member3 touch; pass`,
    "B: member2! staging. member1! (member3 of 2; then nobody) | B: (asks before canary)",
  ],
  [
    "stopped while its clusters come up, it is passed over all the same once it goes on",
    `${throughCanary}; member3 slow`,
    `${back}; pass; B Stop; member3 ok; pass; B Run; pass`,
    "B: member2! staging. member1! (member3 of 2; then nobody) | B: member3! (stopped canary: nobody) | " +
      "B: canary. deletion. succeeded",
  ],
  [
    "one whose clusters were taken by a newer run keeps its gates: somebody else's word is no approval",
    `${inCanary}; member1,member3 ok; pass`,
    "B=1 Run; pass; member2 ok; pass; +1m; pass",
    "B: +member2 (member2 of 1; then nobody), A: (asks after canary) | B: member2! (staging in 60s), A: (asks after canary) | " +
      "B: staging. (asks before canary), A: (asks after canary)",
  ],
  [
    "a request is withdrawn when an older run has brought the same version meanwhile",
    `${toCanary}; member1,member3 touch`,
    "B=0 Run; pass; yes A before canary; pass; member1,member3 ok; pass",
    "B: member2! staging. (asks before canary), A: (asks before canary) | " +
      "B: (asks before canary), A: +member3 +member1 (member3,member1 of 2; then nobody) | " +
      "B: member3! member1! canary. deletion. succeeded, A: member3>B member1>B (asks after canary) (member3,member1 is B's)",
  ],
];

test.each(rows)("%s", (_name, before, script, want) => {
  expect(tell(worldOf(fleet), staged, before, script)).toBe(want);
});
