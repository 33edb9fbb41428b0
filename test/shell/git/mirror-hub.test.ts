import { historyContract } from "./history.contract.ts";
import { oddObjectsContract } from "./odd-objects.contract.ts";
import { repositoryContract } from "./repository.contract.ts";
import { overHttp } from "./way.ts";

const way = overHttp("program");
repositoryContract(way);
historyContract(way, { mergesAgain: true });
oddObjectsContract(way);
