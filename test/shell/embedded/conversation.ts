import { type IncomingMessage, request as plain } from "node:http";
import { request as secure } from "node:https";
import { isObject, type Json, memberAt, textOf } from "../../../src/core/model/json.ts";
import type { Case, Step } from "./requests.ts";

export interface Answer {
  readonly code: number;
  readonly body: Json;
}

/** Where to ask, and with which headers. */
export interface Server {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A case and its answers as text, as the golden file keeps it. */
export const transcript = ({ name, steps }: Case, answers: readonly Answer[]): string =>
  [
    `# ${name}`,
    ...answers.map(({ code, body }, at) => `${steps[at]?.method} ${steps[at]?.path}\n${code} ${JSON.stringify(body)}`),
    "",
  ].join("\n");

/** Plays a case against a server, in a namespace of its own, and gives the answers with everything accidental normalised. */
export async function play(server: Server, { steps }: Case, namespace: string): Promise<readonly Answer[]> {
  await ask(server, { method: "POST", path: "/api/v1/namespaces", body: { metadata: { name: namespace } } });
  const seen = new Map<string, string>([["NS", namespace]]);
  const answers: Answer[] = [];
  for (const step of steps) {
    const answer = await answered(server, substituted(step, seen));
    remember(answer.body, seen);
    answers.push(answer);
  }
  return normalised(answers, namespace);
}

async function answered(server: Server, step: Step): Promise<Answer> {
  for (let tries = 0; ; tries++) {
    const answer = await ask(server, step);
    if (step.until === undefined || answer.code === step.until || tries === 200) return answer;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** One request, answered with status and parsed body. */
export function ask({ url, headers }: Server, { method, path, body, type, accept }: Step): Promise<Answer> {
  const target = new URL(url.replace(/\/$/, "") + path);
  const send = target.protocol === "https:" ? secure : plain;
  const text = body === undefined ? null : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const sent = send(
      target,
      {
        method,
        rejectUnauthorized: false,
        headers: {
          ...headers,
          accept: accept ?? "application/json",
          // Without a length, node sends the body of a DELETE outside of any framing.
          ...(text === null
            ? {}
            : { "content-type": type ?? "application/json", "content-length": Buffer.byteLength(text) }),
        },
      },
      (response) => void read(response).then((text) => resolve({ code: response.statusCode ?? 0, body: parsed(text) })),
    );
    sent.on("error", reject);
    sent.end(text ?? undefined);
  });
}

async function read(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response.setEncoding("utf8")) text += chunk;
  return text;
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return text;
  }
}

function substituted(step: Step, seen: ReadonlyMap<string, string>): Step {
  let text = JSON.stringify(step);
  for (const [mark, value] of seen) text = text.replaceAll(mark, value);
  return JSON.parse(text) as Step;
}

function remember(body: Json, seen: Map<string, string>): void {
  const uid = textOf(memberAt(body, "metadata", "uid"));
  if (uid !== null) seen.set("$uid", uid);
  const next = textOf(memberAt(body, "metadata", "continue"));
  if (next !== null) seen.set("$continue", encodeURIComponent(next));
}

/** Names what differs from run to run by the order in which it appeared: uids, versions; moments and addresses are all one. */
function normalised(answers: readonly Answer[], namespace: string): readonly Answer[] {
  const names = new Map<string, string>();
  const named = (kind: string, value: string): string => {
    const key = `${kind}:${value}`;
    if (!names.has(key)) names.set(key, `${kind}-${[...names.keys()].filter((it) => it.startsWith(kind)).length}`);
    return names.get(key) as string;
  };
  const walk = (value: Json, key: string): Json => {
    if (typeof value === "string") return text(value, key, named).replaceAll(namespace, "NS");
    if (Array.isArray(value)) return value.map((it: Json) => walk(it, key));
    if (!isObject(value)) return value;
    return Object.fromEntries(
      Object.keys(value)
        .filter((it) => value[it] !== null)
        .sort()
        .map((it) => [it, walk(value[it] as Json, it)]),
    );
  };
  return answers.map(({ code, body }) => ({ code, body: walk(code < 400 ? body : worded(code, body), "") }));
}

/** Wording is nobody's contract, but for what an apply conflicts with; a cause that is named twice is one. */
function worded(code: number, body: Json): Json {
  if (!isObject(body) || code === 409) return body;
  const { message: _, details, ...rest } = body;
  if (!isObject(details) || !Array.isArray(details["causes"]))
    return details === undefined ? rest : { ...rest, details };
  const causes = details["causes"].map((it: Json) =>
    JSON.stringify({ field: memberAt(it, "field"), reason: memberAt(it, "reason") }),
  );
  return {
    ...rest,
    details: { ...details, causes: [...new Set(causes)].map((it) => JSON.parse(it as string) as Json) },
  };
}

function text(value: string, key: string, named: (kind: string, value: string) => string): string {
  if (key === "uid" && value.length > 20) return named("uid", value);
  if (key === "resourceVersion" && value !== "") return named("version", value);
  if (key === "continue" && value !== "") return "continue";
  if (/^\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(value)) return "address";
  return value
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g, "moment")
    .replace(/in record \(\d+\)/, "in record (version)")
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, "uid");
}
