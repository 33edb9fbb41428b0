import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EmbeddedServer, startEmbedded } from "../../../src/shell/embedded/server.ts";
import { cases } from "./cases.ts";
import { play, transcript } from "./conversation.ts";
import type { Case } from "./requests.ts";

// What kube-apiserver v1.36.3 answered to the same requests, without any controllers behind it. To ask one again:
// EMBEDDED_TRUTH_URL=https://127.0.0.1:6443 EMBEDDED_TRUTH_TOKEN=… npx vitest run test/shell/embedded/truth.test.ts
const golden = new URL("./truth.out", import.meta.url);
const { EMBEDDED_TRUTH_URL: url, EMBEDDED_TRUTH_TOKEN: token } = process.env;

/** The recorded transcripts by the name of their case. */
const recorded = (): ReadonlyMap<string, string> =>
  new Map(
    readFileSync(golden, "utf8")
      .split(/^(?=# )/m)
      .map((it) => [it.slice(2, it.indexOf("\n")), it.trimEnd()]),
  );

describe.skipIf(url === undefined)("a real API server", () => {
  test("is asked, and what it answers is written down", async () => {
    const real = { url: url ?? "", headers: { authorization: `Bearer ${token}` } };
    const run = String(Date.now() % 1_000_000);
    const texts: string[] = [];
    for (const [at, it] of cases.entries()) texts.push(transcript(it, await play(real, it, `t${run}-${at}`)));
    writeFileSync(golden, texts.join("\n"));
  });
});

describe.skipIf(url !== undefined)("answers like kube-apiserver", () => {
  let server: EmbeddedServer;
  beforeAll(async () => {
    server = await startEmbedded({ clusters: ["one"], now: () => Date.now() });
  });
  afterAll(() => server.close());

  test.each(cases.map((it): [string, Case] => [it.name, it]))("%s", async (name, it) => {
    // Only definitions are established by an API server alone.
    server.cluster("one").control({ faults: { frozen: !name.startsWith("a custom resource") } });
    const answers = await play({ url: server.url("one"), headers: {} }, it, `t-${cases.indexOf(it)}`);
    expect(transcript(it, answers).trimEnd()).toBe(recorded().get(name));
  });
});
