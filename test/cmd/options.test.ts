import { Command, CommanderError } from "commander";
import { describe, expect, test } from "vitest";
import { withTrustAnchor } from "../../src/cmd/options.ts";

const [one, other] = ["ab".repeat(32), "cd".repeat(32)];

/** What a command is given, or what is complained about. */
async function anchorOf(argv: readonly string[], variable?: string): Promise<unknown> {
  const said: string[] = [];
  let given: unknown = "nothing ran";
  const command = withTrustAnchor(new Command("plan"), { FLOTILLA_TRUST_ANCHOR: variable })
    .exitOverride()
    .configureOutput({ writeErr: (text) => void said.push(text) })
    .action((options: { readonly trustAnchor: unknown }) => {
      given = options.trustAnchor;
    });
  try {
    await command.parseAsync(argv, { from: "user" });
    return given;
  } catch (error) {
    if (error instanceof CommanderError) return said.join("").trimEnd();
    throw error;
  }
}

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
