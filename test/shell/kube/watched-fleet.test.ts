// The contract of the listing fleet, for the one that watches: at every look it has to give what a fresh list gives.
import { fleetContract } from "./fleet.contract.ts";
import { startSimulated } from "./simulated.ts";

fleetContract("embedded, watched", startSimulated, "watches");
