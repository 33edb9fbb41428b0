import { isObject, type JsonObject, memberAt, textOf } from "../../../core/model/json.ts";
import type { ApiFailure, ApiRequest, ApiResponse, Listing, ListRequest } from "./api-request.ts";
import { MemberUnreachable } from "./member-unreachable.ts";

const pageSize = 500;
const maxPages = 2_000;
const maxRestarts = 3;

/** Every item of a list, page by page, or the refusal: see `Client.list`. */
export async function listPages(
  request: (it: ApiRequest) => Promise<ApiResponse>,
  { path, labelSelector, fieldSelector, accept, most = pageSize * maxPages, keep = (page) => page }: ListRequest,
): Promise<Listing | ApiFailure> {
  let items: JsonObject[] = [];
  let count = 0;
  let restarts = 0;
  let next = "";
  for (let page = 0; page < maxPages; page += 1) {
    const query: Record<string, string> = { limit: String(pageSize) };
    if (labelSelector !== undefined) query["labelSelector"] = labelSelector;
    if (fieldSelector !== undefined) query["fieldSelector"] = fieldSelector;
    if (next !== "") query["continue"] = next;
    const answer = await request({ method: "GET", path, query, ...(accept === undefined ? {} : { accept }) });
    if (answer.kind === "refused") {
      // The continue token has expired: start again, since a partial list is not used.
      if (answer.status !== 410 || next === "" || restarts >= maxRestarts) return answer;
      [items, count, next, restarts] = [[], 0, "", restarts + 1];
      continue;
    }
    const page = itemsOf(answer.body, path);
    for (const it of keep(page)) items.push(it);
    count += page.length;
    if (count > most) throw new MemberUnreachable("Unintelligible", `its list of ${path} is too long`);
    next = textOf(memberAt(answer.body, "metadata", "continue")) ?? "";
    const resourceVersion = textOf(memberAt(answer.body, "metadata", "resourceVersion")) ?? "";
    if (next === "") return { kind: "listed", items, resourceVersion };
  }
  throw new MemberUnreachable("Unintelligible", `its list of ${path} does not end`);
}

/** An empty metadata list has `null` items; anything else without items is not a list. */
function itemsOf({ kind, items }: JsonObject, path: string): readonly JsonObject[] {
  if (Array.isArray(items)) return items.filter(isObject);
  if (items === null && textOf(kind)?.endsWith("List") === true) return [];
  throw new MemberUnreachable("Unintelligible", `its list of ${path} has no items`);
}
