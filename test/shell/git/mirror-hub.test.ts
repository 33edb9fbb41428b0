import { repositoryContract } from "./repository.contract.ts";
import { overHttp } from "./way.ts";

repositoryContract(overHttp("program"));
