import { type DurationMs, type Instant, instantText, later, minutes, seconds } from "../../model/value.ts";

/** What KubeFleet's agent in a member reports; members that Flotilla pushes to have none (`schedule/README.md#a-48`). */
export interface AgentReport {
  /** The member leaves the fleet: bindings to it are dangling. */
  readonly isLeaving: boolean;
  /** Null when the agent has not been heard of. */
  readonly agent: {
    /** Null counts as very long ago. */
    readonly heartbeat: Instant | null;
    readonly isJoined: boolean;
    readonly healthy: { readonly isTrue: boolean; readonly since: Instant } | null;
  } | null;
  readonly heartbeatPeriod: DurationMs;
}

/** Why nothing new is placed on a member by its agent's report, and when that would begin by time alone. */
interface AgentVerdict {
  readonly because: string | null;
  readonly turnsAt: Instant | null;
}

/** Judges an agent's report; the first rule that it fails is the reason (`schedule/README.md#clustereligibility`). */
export function judgeAgent({ isLeaving, agent, heartbeatPeriod }: AgentReport, now: Instant): AgentVerdict {
  if (isLeaving) return refused("the cluster leaves the fleet");
  if (agent === null) return refused("its agent is not online yet");
  const { heartbeat, isJoined, healthy } = agent;
  const patience = Math.max(minutes(5), 3 * heartbeatPeriod) as DurationMs;
  if (heartbeat === null) return refused("its agent has sent no heartbeat");
  if (now - heartbeat > patience) return refused(`no heartbeat since ${instantText(heartbeat)}`);
  if (!isJoined) return refused("its agent has not joined yet");
  if (healthy === null) return refused("nothing is known of its health");
  const isSick = !healthy.isTrue;
  if (isSick && now - healthy.since > minutes(5)) return refused(`unhealthy since ${instantText(healthy.since)}`);
  const silentAt = later(later(heartbeat, patience), seconds(1));
  const sickAt = isSick ? later(later(healthy.since, minutes(5)), seconds(1)) : silentAt;
  return { because: null, turnsAt: sickAt < silentAt ? sickAt : silentAt };
}

const refused = (because: string): AgentVerdict => ({ because, turnsAt: null });
