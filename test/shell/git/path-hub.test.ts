import { walksAreFull } from "../../long-walks.ts";
import { historyContract } from "./history.contract.ts";
import { oddObjectsContract } from "./odd-objects.contract.ts";
import { repositoryContract } from "./repository.contract.ts";
import { atPath } from "./way.ts";

repositoryContract(atPath("hub.git"));
historyContract(atPath("hub.git"), { mergesAgain: true });
oddObjectsContract(atPath("hub.git"));
// Beside a work tree there is the same kind of folder: the short way goes there in `open.test.ts` alone.
if (walksAreFull) {
  repositoryContract(atPath("hub"));
  historyContract(atPath("hub"), { mergesAgain: true });
}
