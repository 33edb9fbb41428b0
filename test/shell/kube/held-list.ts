import { httpNetwork, type Network } from "../../../src/shell/kube/client/transport.ts";

/** A network that holds back what the next list of a collection is answered, once it is told to, until it lets go. */
export function heldList(collection: string, network: Network = httpNetwork) {
  let [isWanted, isHolding] = [false, false];
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const held: Network = {
    ...network,
    async exchange(outgoing) {
      const answer = await network.exchange(outgoing);
      if (!isWanted || outgoing.method !== "GET" || !outgoing.url.pathname.endsWith(collection)) return answer;
      [isWanted, isHolding] = [false, true];
      await released;
      return answer;
    },
  };
  const hold = (): void => {
    isWanted = true;
  };
  return { network: held, hold, release: () => release(), isHolding: () => isHolding };
}
