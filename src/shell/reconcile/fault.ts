/** A failure of something outside. Adapters throw it; `pass` and `loop` decide what follows. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: FaultCode;
  /** The failed operation: `fetching https://git.example/fleet.git`. No credentials. */
  readonly during: string;
  /** What to do about it, in the imperative. */
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
  /** The repository does not exist, or the address is not a repository. */
  | "RepositoryNotFound"
  /** No answer, or none in time. */
  | "RepositoryUnreachable"
  /** Credentials are missing or lack permissions. */
  | "RepositoryForbidden"
  /** It refused for a reason of its own: a hook, a rule, a full disk. */
  | "RepositoryRefused"
  /** Objects are missing or broken. */
  | "RepositoryCorrupt"
  /** An object that programs read differently: git never writes one, but anybody who may push can make one. */
  | "ObjectUnsound"
  /** It needs something that this adapter lacks: ssh without the git program, a SHA-256 repository. */
  | "RepositoryUnsupported"
  /** A missing branch is not an empty fleet: it may have been renamed, or misspelt. */
  | "SourceBranchMissing"
  /** The state branch has content that we did not write. */
  | "StateUnreadable"
  /** The state branch has a commit that neither we nor a machine of the trust file signed. */
  | "StatusTampered"
  | "KubeconfigUnreadable";
