import { historyContract } from "./history.contract.ts";
import { repositoryContract } from "./repository.contract.ts";
import { overHttp } from "./way.ts";

const way = overHttp("program");
repositoryContract(way);
historyContract(way, { mergesAgain: true });
