import { killGroup, startGroup } from "../../host/system.ts";

/** A program of the operator's, and what it is told. */
interface ProgramCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  /** Written to its standard input, which is then closed. */
  readonly input: string;
}

/** What a program printed, or why there is nothing, in words that quote nothing of it. */
export type ProgramEnd =
  | { readonly kind: "printed"; readonly text: string }
  | { readonly kind: "failed"; readonly why: string };

/** Far more than a token, a chain of certificates, or a hundred properties. */
const maxOutputBytes = 1 << 20;

/**
 * Runs a program once, for at most so long: then, or when `closing` aborts, it is killed together with what it started.
 * Its stderr may contain secrets and is not read. Never rejects.
 */
export function runProgram(
  { program, args, env, input }: ProgramCall,
  deadlineMs: number,
  closing: AbortSignal,
): Promise<ProgramEnd> {
  return new Promise((resolve) => {
    const child = started(program, args, env);
    if (child === null) return resolve(failed("cannot be run with these arguments and this environment"));
    const end = (): void => {
      clearTimeout(timer);
      closing.removeEventListener("abort", closed);
    };
    const kill = (why: string): void => {
      end();
      killGroup(child);
      // Children in a session of their own may hold them open.
      child.stdin.destroy();
      child.stdout.destroy();
      child.stderr.destroy();
      resolve(failed(why));
    };
    const closed = (): void => kill("was stopped");
    const timer = setTimeout(() => kill(`gave no response within ${Math.ceil(deadlineMs / 1000)} s`), deadlineMs);
    closing.addEventListener("abort", closed);
    const chunks: Buffer[] = [];
    let size = 0;
    child.stdout.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > maxOutputBytes) kill(`printed more than ${maxOutputBytes} bytes`);
      else chunks.push(chunk);
    });
    child.stderr.resume();
    child.stdin.end(input);
    child.once("error", (error: NodeJS.ErrnoException) => kill(`cannot be run (${error.code ?? "unknown"})`));
    child.once("close", (code, signal) => {
      end();
      if (code === 0) resolve({ kind: "printed", text: Buffer.concat(chunks).toString("utf8") });
      else resolve(failed(`ended with ${code === null ? signal : `exit code ${code}`}`));
    });
    if (closing.aborted) closed();
  });
}

const failed = (why: string): ProgramEnd => ({ kind: "failed", why });

function started(
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): ReturnType<typeof startGroup> | null {
  try {
    return startGroup(program, args, { env });
  } catch {
    // Such as a NUL in an argument, which the error message would quote.
    return null;
  }
}
