import type { Json } from "../../src/core/model/json.ts";
import type { ApiServer } from "../kubernetes/api-server.ts";
import { type Member, parsed } from "./member.ts";

/** A real API server as its owner sees it. */
export const realMember = (server: ApiServer): Member => ({
  name: server.name,
  request: async (method: string, path: string, body?: Json, contentType?: string) => {
    const wanted = { method, path, ...(body === undefined ? {} : { body }), ...(contentType ? { contentType } : {}) };
    const { status, text } = await server.request(wanted);
    return { status, body: parsed(text) };
  },
});
