/** The closed list of error codes: HTTP status and title (RFC 9457 section 3.1.3) of each. The handbook has one heading a code. */
export const problemKinds = {
  malformed_request: [400, 'The request cannot be read'],
  malformed_json: [400, 'The body is not JSON'],
  unknown_parameter: [400, 'Unknown query parameter'],
  invalid_parameter: [400, 'Invalid query parameter'],
  invalid_cursor: [400, 'Invalid cursor'],
  token_in_query: [400, 'Token in the query string'],
  unauthenticated: [401, 'Authentication is required'],
  invalid_token: [401, 'The token is not valid'],
  token_expired: [401, 'The token has expired'],
  token_revoked: [401, 'The token was revoked'],
  invalid_login: [401, 'E-mail or password is wrong'],
  second_factor_required: [401, 'A second factor is required'],
  invalid_code: [401, 'The code is wrong'],
  invalid_passkey: [401, 'The passkey was not accepted'],
  session_ended: [401, 'The session has ended'],
  insufficient_permission: [403, 'Permission is missing'],
  address_not_allowed: [403, 'Address not allowed'],
  narrowed_token: [403, 'The token is narrowed to some resources'],
  origin_not_allowed: [403, 'Origin not allowed'],
  plan_limit_reached: [403, 'Plan limit reached'],
  plan_no_api_access: [403, 'The plan has no API access'],
  setup_closed: [403, 'Setup is closed'],
  sign_up_closed: [403, 'Sign-up is closed'],
  workspace_suspended: [403, 'The workspace is suspended'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  conflict: [409, 'Conflict'],
  already_exists: [409, 'Already exists'],
  resource_locked: [409, 'The resource is being worked on'],
  plan_blocked: [409, 'The plan is held back'],
  plan_stale: [409, 'The plan is stale'],
  plan_expired: [409, 'The plan has expired'],
  passkeys_unavailable: [409, 'Passkeys do not work at this address'],
  mail_not_set_up: [409, 'Mail is not set up'],
  idempotency_in_progress: [409, 'A request with this key is running'],
  cursor_expired: [410, 'Events behind the cursor are gone'],
  precondition_failed: [412, 'Precondition failed'],
  payload_too_large: [413, 'The body is too large'],
  unsupported_media_type: [415, 'Unsupported media type'],
  validation_failed: [422, 'Validation failed'],
  bulk_failed: [422, 'The bulk was not done'],
  idempotency_key_reused: [422, 'The key was used for another request'],
  provider_failed: [424, 'A provider did not do its part'],
  rate_limited: [429, 'Try again shortly'],
  internal_error: [500, 'Internal error'],
  interrupted: [500, 'The work was interrupted'],
  not_ready: [503, 'Not ready'],
  overloaded: [503, 'Overloaded'],
  storage_full: [503, 'Storage is full'],
} as const satisfies Record<string, readonly [number, string]>

export type ProblemCode = keyof typeof problemKinds

/** One thing wrong with a request. `pointer` is a JSON pointer into the body as a URI fragment (`#/schedule`), or `#/query/<name>`. */
export interface FieldProblem {
  pointer: string
  code: string
  detail: string
}

interface Extras {
  errors?: FieldProblem[]
  headers?: Record<string, string>
  members?: Record<string, unknown>
}

/** An answer that is an error (RFC 9457). Thrown by verbs and guards, written out in one place, by the door of the API. */
export class Problem extends Error {
  override name = 'Problem'
  readonly status: number
  readonly title: string
  constructor(
    readonly code: ProblemCode,
    readonly detail: string,
    readonly extras: Extras = {},
  ) {
    super(detail)
    ;[this.status, this.title] = problemKinds[code]
  }
}

/** The problem as the JSON object that is sent; `instance` names the request. */
export function problemBody(problem: Problem, requestId: string): Record<string, unknown> {
  return {
    type:
      problem.code === 'rate_limited'
        ? 'https://iana.org/assignments/http-problem-types#quota-exceeded'
        : problem.code === 'overloaded'
          ? 'https://iana.org/assignments/http-problem-types#temporary-reduced-capacity'
          : `/problems/${problem.code}`,
    title: problem.title,
    status: problem.status,
    detail: problem.detail,
    instance: `urn:bailiwick:request:${requestId}`,
    code: problem.code,
    request_id: requestId,
    ...(problem.extras.errors && { errors: problem.extras.errors }),
    ...problem.extras.members,
  }
}

/** Another workspace's id and an id that never was look the same from outside. */
export const notFound = (what: string): Problem => new Problem('not_found', `There is no such ${what}.`)

export const conflict = (detail: string): Problem => new Problem('conflict', detail)

/** A body that breaks rules; each entry names a member and the rule. */
export function invalid(errors: FieldProblem[]): Problem {
  const more = errors.length > 1 ? ` (and ${errors.length - 1} more)` : ''
  return new Problem('validation_failed', `${errors[0]!.pointer.slice(1) || 'The body'}: ${errors[0]!.detail}${more}`, { errors })
}

export const tryAgain = (seconds: number, members: Record<string, unknown> = {}): Problem =>
  new Problem('rate_limited', `The rate limit is reached. Try again shortly, in ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
    members,
  })
