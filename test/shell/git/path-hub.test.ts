import { historyContract } from "./history.contract.ts";
import { oddObjectsContract } from "./odd-objects.contract.ts";
import { repositoryContract } from "./repository.contract.ts";
import { atPath } from "./way.ts";

repositoryContract(atPath("hub.git"));
repositoryContract(atPath("hub"));
historyContract(atPath("hub.git"), { mergesAgain: true });
historyContract(atPath("hub"), { mergesAgain: true });
oddObjectsContract(atPath("hub.git"));
