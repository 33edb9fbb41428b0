import type { Trust } from "../../core/model/trust.ts";
import { type Instant, instantText } from "../../core/model/value.ts";
import { editedText, type YamlEdit } from "./edited-text.ts";

/**
 * The next version of a trust file: edited, counted up, and chained to the text before
 * (`trust/README.md#the-trust-file`). Every other byte stays. Null when it cannot be edited.
 */
export function nextTrustText(
  text: string,
  { version, digest }: Trust,
  changes: readonly YamlEdit[],
  expires: Instant | null,
): string | null {
  const under = ["spec"];
  const all: readonly YamlEdit[] = [
    { kind: "set", under, key: "version", value: version + 1 },
    { kind: "set", under, key: "previous", value: digest, after: "version" },
    ...(expires === null ? [] : [{ kind: "set", under, key: "expires", value: instantText(expires) } as const]),
    ...changes,
  ];
  let edited: string | null = text;
  for (const it of all) edited = edited === null ? null : editedText(edited, 0, it);
  return edited;
}
