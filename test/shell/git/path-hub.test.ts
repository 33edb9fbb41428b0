import { repositoryContract } from "./repository.contract.ts";
import { atPath } from "./way.ts";

repositoryContract(atPath("hub.git"));
repositoryContract(atPath("hub"));
