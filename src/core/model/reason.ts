import type { ContestedObject } from "./binding.ts";
import type { CascadedDeletion, DeletionGroup, HeldDeletion } from "./deletion.ts";
import type { ObjectId } from "./manifest.ts";
import type { Violation } from "./plan-defect.ts";
import type { RunFailure, RunWait } from "./update-run.ts";
import type { ClusterName, Commit, Digest, Instant, PlacementKey, RunKey } from "./value.ts";
/** Why the plan is what it is, and above all why it is not more. Expected conditions, not errors. */
export type Reason =
  | {
      readonly kind: "unfulfilled";
      readonly placement: PlacementKey;
      readonly wanted: number;
      readonly found: number;
      readonly because: readonly string[];
    }
  | { readonly kind: "selectionFailed"; readonly placement: PlacementKey; readonly message: string }
  | { readonly kind: "nothingSelected"; readonly placement: PlacementKey }
  /** A snapshot names content that the repository does not hold any more: nothing can be rolled out. */
  | { readonly kind: "contentLost"; readonly placement: PlacementKey; readonly resourceIndex: number }
  | { readonly kind: "selectionWarning"; readonly placement: PlacementKey; readonly message: string }
  | {
      readonly kind: "renderFailed";
      readonly placement: PlacementKey;
      readonly cluster: ClusterName;
      readonly message: string;
    }
  /** A new version of the selected objects or of their overrides begins to move. */
  | {
      readonly kind: "started";
      readonly placement: PlacementKey;
      readonly resourceIndex: number;
      readonly clusters: readonly ClusterName[];
    }
  /** It stays there as it is, since it was there before its tenant's grant became tighter; `grant`: where that stands. */
  | {
      readonly kind: "beyondGrant";
      readonly placement: PlacementKey;
      readonly clusters: readonly ClusterName[];
      readonly grant: string;
    }
  /** Held back by the rollout's budget; `arithmetic` shows ready, needed, budget. */
  | {
      readonly kind: "heldBack";
      readonly placement: PlacementKey;
      readonly clusters: readonly ClusterName[];
      readonly arithmetic: string;
    }
  | { readonly kind: "applying"; readonly placement: PlacementKey; readonly clusters: readonly ClusterName[] }
  | {
      readonly kind: "awaitingHealth";
      readonly placement: PlacementKey;
      readonly cluster: ClusterName;
      readonly until: Instant | null;
      readonly message: string;
    }
  | {
      readonly kind: "applyFailed";
      readonly placement: PlacementKey;
      readonly cluster: ClusterName;
      readonly object: ObjectId;
      readonly code: string;
      readonly message: string;
    }
  /** Somebody else changes an object whenever it was put right: one of them has to go (`apply/README.md#f-41`). */
  | ({ readonly kind: "contested"; readonly placement: PlacementKey; readonly cluster: ClusterName } & ContestedObject)
  | {
      readonly kind: "unhealthy";
      readonly placement: PlacementKey;
      readonly cluster: ClusterName;
      readonly since: Instant;
      readonly message: string;
    }
  | {
      readonly kind: "unreachable";
      readonly cluster: ClusterName;
      readonly code: string;
      readonly since: Instant;
      readonly message: string;
    }
  | {
      readonly kind: "adopted";
      readonly placement: PlacementKey;
      readonly cluster: ClusterName;
      readonly objects: readonly ObjectId[];
    }
  | {
      readonly kind: "leaving";
      readonly placement: PlacementKey;
      readonly cluster: ClusterName;
      readonly objects: number;
      readonly message: string;
      /** It will not go by itself. */
      readonly stuck: boolean;
    }
  /** What another placement wants there is kept for it until its turn comes (`plan/README.md#d-9`). */
  | {
      readonly kind: "waitingForHandOver";
      readonly placement: PlacementKey;
      readonly cluster: ClusterName;
      readonly to: PlacementKey;
      readonly objects: readonly ObjectId[];
    }
  /** Two placements want the same objects on the same clusters: `keeper` has them. */
  | {
      readonly kind: "wantedTwice";
      readonly placement: PlacementKey;
      /** The file of `placement`, then that of `keeper`. */
      readonly files: readonly string[];
      readonly keeper: PlacementKey;
      /** Only what `keeper` carries still holds them: its next version there does not. */
      readonly isLettingGo: boolean;
      readonly clusters: readonly ClusterName[];
      readonly objects: readonly ObjectId[];
    }
  | {
      readonly kind: "confirmationNeeded";
      readonly cause: Commit;
      readonly because: HeldDeletion["because"];
      readonly digest: Digest;
      readonly objects: number;
      readonly clusters: readonly ClusterName[];
      readonly placements: readonly PlacementKey[];
      /** What would go, by placement and cluster. */
      readonly groups: readonly DeletionGroup[];
      /** What of others would go along. */
      readonly others: readonly CascadedDeletion[];
    }
  /** A placement that stays as recorded, since every plan for it fails the check. */
  | {
      readonly kind: "quarantined";
      readonly placement: PlacementKey;
      readonly since: Instant;
      readonly violations: readonly Violation[];
    }
  /** A confirmation for which nothing waited when it was read: nothing ever goes by it. */
  | { readonly kind: "confirmationVoid"; readonly digest: Digest; readonly commit: Commit }
  /** Somebody deleted a member's inventory: what carries our mark there is listed again, as adopted. */
  | {
      readonly kind: "inventoryLost";
      readonly cluster: ClusterName;
      readonly placement: PlacementKey;
    }
  | {
      readonly kind: "orphans";
      readonly cluster: ClusterName;
      readonly placement: PlacementKey;
      readonly objects: number;
    }
  | { readonly kind: "left"; readonly cluster: ClusterName; readonly placements: readonly PlacementKey[] }
  /** What an update run waits for, or what keeps it. */
  | { readonly kind: "run"; readonly run: RunKey; readonly placement: PlacementKey; readonly wait: RunWait }
  | {
      readonly kind: "runFailed";
      readonly run: RunKey;
      readonly placement: PlacementKey;
      readonly code: RunFailure;
      readonly message: string;
    }
  /** Every gate is closed until the trust file is repaired (`plan/README.md#d-6`). Running workloads are untouched. */
  | { readonly kind: "trustRefused"; readonly code: string; readonly message: string }
  /** An approval that does not count. `isNew`: that was found in this pass. */
  | {
      readonly kind: "answerDenied";
      readonly isNew: boolean;
      readonly path: string;
      readonly principal: string;
      readonly code: string;
      readonly message: string;
    }
  /** An approval that nobody has judged: whether it counts depends on a forge, which could not be asked. */
  | {
      readonly kind: "answerPending";
      readonly path: string;
      readonly principal: string;
      readonly code: string;
      readonly message: string;
    }
  /** A change in protected clusters and namespaces that waits for its approval (`trust/README.md#d-17`). */
  | {
      readonly kind: "protected";
      readonly placement: PlacementKey;
      readonly clusters: readonly ClusterName[];
      /** Null before anybody is asked. */
      readonly digest: Digest | null;
      readonly because: string;
      /** Nobody can be asked: it is not known yet which clusters they are. */
      readonly isUnreached?: true;
    }
  /** `because`: why its absence is no deletion, in words; null where its own document cannot be used. */
  | { readonly kind: "held"; readonly object: ObjectId; readonly commit: Commit; readonly because: string | null }
  | {
      readonly kind: "sourceHeld";
      readonly code: "HistoryRewritten" | "SourceEmpty" | "SourceUnsound";
      readonly head: Commit;
      readonly message: string;
    };
