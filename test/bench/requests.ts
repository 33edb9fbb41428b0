import { httpNetwork, httpStreams, type Network, type Streams } from "../../src/shell/kube/client/transport.ts";

/** Requests of this process to members so far, where they leave it. */
export const requests = { reads: 0, writes: 0 };

/** HTTP with a counter. */
export const countedNetwork: Network = {
  ...httpNetwork,
  exchange(outgoing) {
    if (outgoing.method === "GET") requests.reads += 1;
    else requests.writes += 1;
    return httpNetwork.exchange(outgoing);
  },
};

/** Watches with a counter: one that is opened is a read, and what it tells is none. */
export const countedStreams: Streams = {
  open(...request) {
    requests.reads += 1;
    return httpStreams.open(...request);
  },
};
