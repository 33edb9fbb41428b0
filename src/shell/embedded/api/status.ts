import type { Json, JsonObject } from "../../../core/model/json.ts";

/** A `Status` of failure. Thrown by the handlers, written by the server. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly code: number;
  readonly reason: string;
  readonly details: JsonObject | null;

  constructor(code: number, reason: string, message: string, details: JsonObject | null = null) {
    super(message);
    this.code = code;
    this.reason = reason;
    this.details = details;
  }
}

const codes = {
  BadRequest: 400,
  Unauthorized: 401,
  Forbidden: 403,
  NotFound: 404,
  MethodNotAllowed: 405,
  NotAcceptable: 406,
  AlreadyExists: 409,
  Conflict: 409,
  Expired: 410,
  UnsupportedMediaType: 415,
  Invalid: 422,
  TooManyRequests: 429,
  InternalError: 500,
  Timeout: 504,
} as const;

type RefusalReason = keyof typeof codes;

/** Refuses for a reason, with the status code that goes with it. */
export const statusError = (reason: RefusalReason, message: string, details: JsonObject | null = null): StatusError =>
  new StatusError(codes[reason], reason, message, details);

/** The object that an error is about, in `details` and in most messages. */
export interface ObjectReference {
  readonly group: string;
  /** The plural of the kind. */
  readonly resource: string;
  readonly kind: string;
  readonly name: string;
}

const qualified = (name: string, group: string): string => (group === "" ? name : `${name}.${group}`);

const detailsOf = ({ group, resource, name }: ObjectReference): JsonObject => ({
  name,
  ...(group === "" ? {} : { group }),
  kind: resource,
});

export const notFound = (subject: ObjectReference): StatusError =>
  statusError(
    "NotFound",
    `${qualified(subject.resource, subject.group)} "${subject.name}" not found`,
    detailsOf(subject),
  );

/** 409: there is one of that name. */
export const alreadyExists = (subject: ObjectReference): StatusError =>
  statusError(
    "AlreadyExists",
    `${qualified(subject.resource, subject.group)} "${subject.name}" already exists`,
    detailsOf(subject),
  );

/** 409: it is not as the writer thought. */
export const conflict = (subject: ObjectReference, because: string): StatusError =>
  statusError(
    "Conflict",
    `Operation cannot be fulfilled on ${qualified(subject.resource, subject.group)} "${subject.name}": ${because}`,
    detailsOf(subject),
  );

export const forbidden = (
  subject: ObjectReference,
  because: string,
  causes: readonly StatusCause[] = [],
): StatusError =>
  statusError("Forbidden", `${qualified(subject.resource, subject.group)} "${subject.name}" is forbidden: ${because}`, {
    ...detailsOf(subject),
    ...(causes.length === 0 ? {} : { causes: causes as unknown as Json }),
  });

/** One of several things wrong with an object. */
export interface StatusCause {
  readonly reason: string;
  readonly message: string;
  readonly field: string;
}

/** 422: the object does not say what its kind demands. */
export function invalid(subject: ObjectReference, causes: readonly StatusCause[]): StatusError {
  const said = [...new Set(causes.map(({ field, message }) => `${field}: ${message}`))];
  const list = said.length === 1 ? said[0] : `[${said.join(", ")}]`;
  const { group, kind, name } = subject;
  return statusError("Invalid", `${qualified(kind, group)} "${name}" is invalid: ${list}`, {
    ...(name === "" ? {} : { name }),
    ...(group === "" ? {} : { group }),
    kind,
    causes: causes as unknown as Json,
  });
}

export const statusBody = ({ code, reason, message, details }: StatusError): JsonObject => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Failure",
  message,
  ...(reason === "" ? {} : { reason }),
  ...(details === null ? {} : { details }),
  code,
});

/** What a completed deletion is answered with. */
export const successStatus = ({ group, resource, name }: ObjectReference, uid: string): JsonObject => ({
  kind: "Status",
  apiVersion: "v1",
  metadata: {},
  status: "Success",
  details: { name, ...(group === "" ? {} : { group }), kind: resource, uid },
});
