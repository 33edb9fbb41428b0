/** What the outside did to us. Adapters throw it; `pass` and `loop` decide what follows. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  /** What we were doing, in words: `fetching https://git.example/fleet.git`. No credentials. */
  readonly during: string;
  /** What to do about it, as an order. */
  readonly fix: string;

  constructor(code: FaultCode, during: string, message: string, fix: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.code = code;
    this.during = during;
    this.fix = fix;
  }
}

/** What happened, for programs; stable. */
export type FaultCode =
  /** The repository does not exist, or what was named is none. */
  | "RepositoryNotFound"
  /** No answer, or none in time. */
  | "RepositoryUnreachable"
  /** Credentials are missing or do not suffice. */
  | "RepositoryForbidden"
  /** It answered, and refused for a reason of its own: a hook, a rule, a full disk. */
  | "RepositoryRefused"
  /** Objects are missing or broken. */
  | "RepositoryCorrupt"
  /** An object that programs read differently: no git writes one, and whoever may push can make one. */
  | "ObjectUnsound"
  /** What was asked needs something this adapter has not: ssh without the git program, a SHA-256 repository. */
  | "RepositoryUnsupported"
  /** An absent branch is no empty fleet: it may have been renamed, or misspelt. */
  | "SourceBranchMissing"
  /** The state branch holds what we did not write. */
  | "StateUnreadable"
  /** The state branch holds a commit that neither we nor a machine of the trust file signed. */
  | "StatusTampered"
  | "KubeconfigUnreadable";
