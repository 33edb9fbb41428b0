// The same contract that real API servers are held to.
import { fleetContract } from "./fleet.contract.ts";
import { startSimulated } from "./simulated.ts";

fleetContract("embedded", startSimulated);
