import type { Inventory } from "./inventory.ts";
import type { ObjectKey } from "./manifest.ts";
import type { Digest } from "./value.ts";

/** What one member reported in this pass, or that it did not answer. One that was not asked has no observation. */
export type Observation =
  | {
      readonly kind: "reached";
      /** UID of its `kube-system` namespace: identifies the cluster, whatever its address. */
      readonly clusterUid: string;
      readonly properties: MemberProperties;
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
