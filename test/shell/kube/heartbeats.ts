import { httpNetwork, type Network } from "../../../src/shell/kube/client/transport.ts";
import { eventually } from "../../kubernetes/eventually.ts";

/** A network whose heartbeats come when they are called for. */
export function heartbeats() {
  let beat: (() => void) | null = null;
  const network: Network = {
    ...httpNetwork,
    pause: (ms, signal) =>
      ms < 10_000
        ? httpNetwork.pause(ms, signal)
        : new Promise((resolve) => {
            beat = resolve;
            signal?.addEventListener("abort", () => resolve());
          }),
  };
  const isWaiting = (): boolean => beat !== null;
  const next = async (): Promise<void> => {
    await eventually("it waits for its heartbeat", async () => (isWaiting() ? true : null));
    beat?.();
    beat = null;
  };
  return { network, isWaiting, next };
}
