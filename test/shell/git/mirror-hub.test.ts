import { walksAreFull } from "../../long-walks.ts";
import { historyContract } from "./history.contract.ts";
import { oddObjectsContract } from "./odd-objects.contract.ts";
import { repositoryContract } from "./repository.contract.ts";
import { overHttp } from "./way.ts";

const way = overHttp("program");
repositoryContract(way);
// Git reads what it has in a mirror as it does at a path: the short way goes there in `path-hub.test.ts` alone.
if (walksAreFull) {
  historyContract(way, { mergesAgain: true });
  oddObjectsContract(way);
}
