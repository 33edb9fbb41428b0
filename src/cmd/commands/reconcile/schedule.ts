import { createReadStream } from "node:fs";
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { scheduleHub } from "../../../core/hub/schedule-hub.ts";
import type { FleetSpec } from "../../../core/model/fleet.ts";
import type { Json } from "../../../core/model/json.ts";
import type { Instant } from "../../../core/model/value.ts";
import { readYaml, type YamlDocument } from "../../../core/yaml/kyaml.ts";
import { isError } from "../../../core/yaml/problems.ts";
import { type PositionOf, positionsIn, slicesOf } from "../../../core/yaml/text.ts";
import { systemClock } from "../../../shell/host/system.ts";
import { type ExitCode, exitCodes } from "../../terminal/exit-code.ts";
import { encoded, type Terminal } from "../../terminal/terminal.ts";

export interface ScheduleOptions {
  /** Files, or `-` for the standard input. */
  readonly file: readonly string[];
  readonly profile: FleetSpec["profile"];
  readonly now: Instant | null;
  readonly jsonl: boolean;
  readonly output: "json" | "yaml";
}

/** Runs the scheduler alone over the objects of a hub (`core/schedule/README.md#the-scheduler-alone`). */
export async function scheduleCommand(options: ScheduleOptions, terminal: Terminal): Promise<ExitCode> {
  const { profile, output } = options;
  const now = options.now ?? (terminal.clock ?? systemClock).now();
  if (options.jsonl) return replay(options.file, { profile, now }, terminal);
  const documents: ReadDocument[] = [];
  for (const path of options.file) {
    const text = await textOfFile(path, terminal);
    if (text === null) return exitCodes.usage;
    const read = readDocuments(path, text);
    if ("error" in read) {
      terminal.err(`${read.error}\n`);
      return exitCodes.problems;
    }
    documents.push(...read.documents);
  }
  const outcome = scheduleHub(
    documents.map((it) => it.value),
    { profile, now },
  );
  if (outcome.kind === "refused") {
    const where = documents[outcome.document]?.place(outcome.path) ?? options.file.join(", ");
    terminal.err(`${where}: error: ${outcome.message}\n`);
    return exitCodes.problems;
  }
  terminal.out(encoded(outcome.list, output));
  return exitCodes.done;
}

type HubRun = Parameters<typeof scheduleHub>[1];

/** One List in a line, one List or error out. */
async function replay(files: readonly string[], run: HubRun, terminal: Terminal): Promise<ExitCode> {
  let code: ExitCode = exitCodes.done;
  for (const path of files) {
    const input = path === "-" ? process.stdin : createReadStream(path, "utf8");
    try {
      for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY }))
        if (line.trim() !== "") terminal.out(`${JSON.stringify(replayed(line, run))}\n`);
    } catch (error) {
      terminal.err(`error: ${path} cannot be read: ${wordsOf(error)}\n`);
      code = exitCodes.usage;
    }
  }
  return code;
}

function replayed(line: string, run: HubRun): Json {
  try {
    const outcome = scheduleHub([JSON.parse(line) as Json], run);
    if (outcome.kind === "scheduled") return outcome.list;
    const at = outcome.path.length === 0 ? "" : `${outcome.path.join(".")}: `;
    return { error: `${at}${outcome.message}` };
  } catch (error) {
    if (error instanceof SyntaxError) return { error: `it is not JSON: ${error.message}` };
    throw error;
  }
}

/** A value, and how to say where in its file something stands. */
interface ReadDocument {
  readonly value: Json;
  readonly place: (path: readonly (string | number)[]) => string;
}

type ReadDocuments = { readonly documents: readonly ReadDocument[] } | { readonly error: string };

function readDocuments(path: string, text: string): ReadDocuments {
  if (/^\s*[[{]/.test(text)) return readJson(path, text);
  const documents: ReadDocument[] = [];
  for (const slice of slicesOf(text)) {
    const positionOf = positionsIn(slice);
    const document = readYaml(slice, positionOf, mostTokens);
    const problem = document.textProblems.find(isError);
    if (problem !== undefined) {
      const place = placeAt(path, positionOf, problem.offset);
      return { error: `${place}: error ${problem.code}: ${problem.message}; ${problem.fix}` };
    }
    if (document.begin !== null) documents.push({ value: document.value, place: placeIn(path, document, positionOf) });
  }
  return { documents };
}

/** Lists of a live hub are longer than what people write. */
const mostTokens = 2_000_000;

const placeIn =
  (path: string, { offsetOf }: YamlDocument, positionOf: PositionOf) =>
  (at: readonly (string | number)[]): string =>
    placeAt(path, positionOf, offsetOf(at, "value"));

function placeAt(path: string, positionOf: PositionOf, offset: number): string {
  const { line, column } = positionOf(offset);
  return `${path}:${line}:${column}`;
}

function readJson(path: string, text: string): ReadDocuments {
  try {
    return { documents: [{ value: JSON.parse(text) as Json, place: (at) => placeInJson(path, text, at) }] };
  } catch (error) {
    return { error: `${path}: error: it is not JSON: ${wordsOf(error)}` };
  }
}

/** JSON is YAML, of which places are known; it takes longer to read, and is read only where something is wrong. */
function placeInJson(path: string, text: string, at: readonly (string | number)[]): string {
  const slice = { text, line: 1 };
  const positionOf = positionsIn(slice);
  return placeIn(path, readYaml(slice, positionOf, mostTokens), positionOf)(at);
}

async function textOfFile(path: string, terminal: Terminal): Promise<string | null> {
  try {
    return path === "-" ? await textOfStream(process.stdin) : await readFile(path, "utf8");
  } catch (error) {
    terminal.err(`error: ${path} cannot be read: ${wordsOf(error)}\n`);
    return null;
  }
}

async function textOfStream(stream: AsyncIterable<Buffer | string>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const it of stream) parts.push(Buffer.from(it));
  return Buffer.concat(parts).toString("utf8");
}

const wordsOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
