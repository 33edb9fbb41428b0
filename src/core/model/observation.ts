import type { Inventory } from "./inventory.ts";
import type { ObjectKey } from "./manifest.ts";
import type { Digest } from "./value.ts";

/** What one member reported in this pass, or that it did not answer. One that was not asked has no observation. */
export type Observation =
  | {
      readonly kind: "reached";
      /** UID of its `kube-system` namespace: identifies the cluster, whatever its address. */
      readonly clusterUid: string;
      /** What is read with every look. */
      readonly properties: MemberProperties;
      /** What was last found out of its nodes and pods; absent where nobody asked: what is recorded stands then. */
      readonly collected?: Collected;
      /** Its namespaces, where a placement asks about them; absent where nobody asked: what is recorded stands then. */
      readonly namespaces?: NamespacesSeen;
      readonly inventory: Inventory;
      /** Live objects that carry our mark or stand in the inventory, by key. */
      readonly objects: ReadonlyMap<ObjectKey, LiveObject>;
      /** Kinds whose list failed: absence there proves nothing. `group/Kind` keys. */
      readonly unlisted: ReadonlySet<string>;
    }
  | { readonly kind: "unreachable"; readonly code: ContactCode; readonly message: string };

/** Values of properties by name, in the order of the names. */
export type MemberProperties = ReadonlyMap<string, string>;

/** Of a member that was never reached. */
export const noProperties: MemberProperties = new Map();

/** What a member says of itself, and what a platform says of it (`members/README.md#what-is-collected`). */
export interface Collected {
  /** By the names under which policies ask for them; without what could not be read. */
  readonly properties: MemberProperties;
  /** From a platform's own providers: they count where nothing is collected. */
  readonly provided: MemberProperties;
  /** Its nodes by what they cost by. */
  readonly machines: readonly MachineCount[];
  /** How it is reached, as our kubeconfig has it; absent where nobody says. Recorded on request alone. */
  readonly access?: MemberProperties;
  /** Labels that its nodes tell: facts for affinity, and for nothing else (`members/README.md#labels`). */
  readonly labels: MemberProperties;
  /** What could not be read; empty when all was. */
  readonly missing: readonly MissingFacts[];
}

/** The namespaces of a member (`members/README.md#namespaces`). */
export type NamespacesSeen =
  | {
      readonly kind: "listed";
      /** All that do not go away, by name, each with the label of our mark; empty where it has none. */
      readonly names: ReadonlyMap<string, string>;
    }
  | { readonly kind: "missing"; readonly missing: MissingFacts };

/** Nodes of one type in one region; null where they do not say. */
export interface MachineCount {
  readonly type: string | null;
  readonly region: string | null;
  readonly count: number;
}

/** Where facts about a member come from. */
export type FactSource = "nodes" | "pods" | "providers" | "namespaces";

/** Facts that could not be read, why, and what to do. */
export interface MissingFacts {
  readonly source: FactSource;
  readonly code: "Forbidden" | "TimedOut" | "CollectionFailed";
  readonly message: string;
}

/** Why a member could not be observed. */
export type ContactCode =
  /** No connection, or none in time. */
  | "Unreachable"
  /** No context of that name in the kubeconfig. */
  | "NoConnection"
  /** The credentials are not accepted (401). */
  | "Unauthorized"
  /** The credentials may not read or write the inventory (403). */
  | "Forbidden"
  /** It answered with something that is not Kubernetes, or an inventory that is not ours. */
  | "Unintelligible";

/** A live object, reduced while it was decoded: enough for decisions, small enough for a hundred thousand of them. */
export interface LiveObject {
  readonly uid: string;
  /** `metadata.generation`; 0 for kinds without one. */
  readonly generation: number;
  /** Fingerprint of the live values at the paths our field manager owns; null when it owns none. */
  readonly fingerprint: Digest | null;
  readonly health: Health;
  readonly terminating: boolean;
  /** Value of our write annotation, null where it is absent. */
  readonly mark: string | null;
  /** The last other field manager that wrote it, as of the last change here; for display, never for decisions. */
  readonly rival?: string;
}

/** `rollout/README.md#b-1`: phases are explicit. */
export type Health =
  | { readonly phase: "available" }
  /** Its kind has no health check; it counts as available after `unavailablePeriodSeconds`. */
  | { readonly phase: "untrackable" }
  | { readonly phase: "progressing"; readonly message: string }
  | { readonly phase: "failed"; readonly message: string };
