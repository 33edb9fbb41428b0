import type { Json } from "../../core/model/json.ts";
import { oneLine } from "../../core/model/value.ts";
import { emitYaml } from "../../core/yaml/canonical.ts";
import type { Clock } from "../../shell/reconcile/ports.ts";

/** Where a command writes, and what it may assume about the reader. */
export interface Terminal {
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The time, for commands that wait; the machine's where there is none. */
  readonly clock?: Clock;
}

/** How a command tells its result: to people, or to programs. */
export type Format = "text" | "json" | "yaml";

/** A value for programs: JSON with two spaces, or canonical YAML. */
export function encoded(value: Json, format: Exclude<Format, "text">): string {
  if (format === "yaml") return emitYaml(value);
  return `${JSON.stringify(value, (_, it) => (typeof it === "bigint" ? Number(it) : it), 2)}\n`;
}

/** A table as kubectl prints them: columns padded to their widest cell, three spaces between, no borders. */
export function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [header, ...rows.map((row) => row.map(oneLine))];
  const widths = header.map((_, at) => Math.max(...all.map((it) => width(it[at] ?? ""))));
  const line = (cells: readonly string[]): string =>
    cells.map((it, at) => (at === cells.length - 1 ? it : it + " ".repeat((widths[at] ?? 0) - width(it)))).join("   ");
  return all.map((it) => `${line(it).trimEnd()}\n`).join("");
}

// Width as characters seen, not as UTF-16 units. Nothing wide is ever printed by us.
const width = (text: string): number => [...text].length;
