import { Command, CommanderError } from "commander";
import { describe, expect, test } from "vitest";
import { withSigningKey, withTrustAnchor } from "../../src/cmd/terminal/options.ts";

const [one, other] = ["ab".repeat(32), "cd".repeat(32)];

/** What a command is given, or what is complained about. */
async function ran(command: Command, argv: readonly string[]): Promise<unknown> {
  const said: string[] = [];
  let given: unknown = "nothing ran";
  command
    .exitOverride()
    .configureOutput({ writeErr: (text) => void said.push(text) })
    .action((options: unknown) => {
      given = options;
    });
  try {
    await command.parseAsync(argv, { from: "user" });
    return given;
  } catch (error) {
    if (error instanceof CommanderError) return said.join("").trimEnd();
    throw error;
  }
}

const anchorOf = async (argv: readonly string[], variable?: string): Promise<unknown> => {
  const given = await ran(withTrustAnchor(new Command("plan"), { FLOTILLA_TRUST_ANCHOR: variable }), argv);
  return typeof given === "string" ? given : (given as { readonly trustAnchor: unknown }).trustAnchor;
};

describe("the trust anchor", () => {
  test.each([
    ["is none where nobody names one", [], undefined, null],
    ["is what the option says", ["--trust-anchor", one], undefined, one],
    ["is what the environment says without one", [], other, other],
    ["is what the option says whatever the environment does", ["--trust-anchor", one], "c0de", one],
    ["is none where the variable is empty", [], "", null],
    ["may be written in capitals", ["--trust-anchor", one.toUpperCase()], undefined, one],
    [
      "is refused where it is no SHA-256",
      ["--trust-anchor", one.slice(1)],
      other,
      `error: option '--trust-anchor <sha256>' argument '${one.slice(1)}' is invalid. expected a SHA-256: 64 hexadecimal digits`,
    ],
    [
      "is refused where the environment's is none",
      [],
      `sha256:${other}`,
      `error: FLOTILLA_TRUST_ANCHOR='sha256:${other}' is invalid. expected a SHA-256: 64 hexadecimal digits`,
    ],
  ])("%s", async (_, argv, variable, expected) => {
    expect(await anchorOf(argv, variable)).toBe(expected);
  });
});

describe("the state branch as it stands", () => {
  const id = "a".repeat(40);
  const given = (argv: readonly string[], variable?: string) =>
    ran(withSigningKey(new Command("reconcile"), { FLOTILLA_SIGNING_KEY: variable }), argv);

  test.each([
    ["is accepted by whoever signs", ["--accept-state", id, "--signing-key", "k"], undefined, { signingKey: "k" }],
    ["is accepted by whoever signs by the environment", ["--accept-state", id], "e", { signingKey: "e" }],
  ])("%s", async (_, argv, variable, key) => {
    expect(await given(argv, variable)).toEqual({ acceptState: id, ...key });
  });

  test("is nothing that anybody looks at without a key", async () => {
    expect(await given(["--accept-state", id])).toMatch(/^error: --accept-state needs --signing-key/);
  });
});
