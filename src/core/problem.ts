import { pluralize } from './pluralize'

/** All error codes with their HTTP status and title (RFC 9457 section 3.1.3). The handbook has a section for each code. */
export const problemKinds = {
  malformed_request: [400, 'Malformed request'],
  malformed_json: [400, 'Malformed JSON'],
  unknown_parameter: [400, 'Unknown query parameter'],
  invalid_parameter: [400, 'Invalid query parameter'],
  invalid_cursor: [400, 'Invalid cursor'],
  token_in_query: [400, 'Token in the query string'],
  idempotency_key_required: [400, 'Idempotency key required'],
  unauthenticated: [401, 'Authentication required'],
  invalid_token: [401, 'Invalid token'],
  token_expired: [401, 'Token expired'],
  token_revoked: [401, 'Token revoked'],
  invalid_login: [401, 'Incorrect email or password'],
  second_factor_required: [401, 'Two-factor authentication required'],
  invalid_code: [401, 'Incorrect code'],
  invalid_passkey: [401, 'Passkey not accepted'],
  session_ended: [401, 'Session ended'],
  insufficient_permission: [403, 'Insufficient permissions'],
  address_not_allowed: [403, 'Address not allowed'],
  restricted_token: [403, 'Restricted token'],
  session_required: [403, 'Session required'],
  origin_not_allowed: [403, 'Origin not allowed'],
  plan_limit_reached: [403, 'Plan limit reached'],
  spend_cap_reached: [403, 'Spending cap reached'],
  plan_no_api_access: [403, 'API access not included in the plan'],
  setup_closed: [403, 'Setup is closed'],
  sign_up_closed: [403, 'Sign-up is closed'],
  workspace_suspended: [403, 'Workspace suspended'],
  not_found: [404, 'Not found'],
  method_not_allowed: [405, 'Method not allowed'],
  conflict: [409, 'Conflict'],
  already_exists: [409, 'Already exists'],
  resource_locked: [409, 'Resource locked'],
  record_driven: [409, 'Record set by a dynamic IP source'],
  record_exists: [409, 'Record already exists'],
  already_driven: [409, 'Record set by another dynamic IP source'],
  no_managed_zone: [409, 'No managed DNS zone'],
  zone_not_writable: [409, 'DNS zone can’t be changed'],
  caa_forbids: [409, 'Forbidden by CAA records'],
  issued_recently: [409, 'Issued recently'],
  price_unknown: [409, 'Price unknown'],
  price_above_maximum: [409, 'Price above the maximum'],
  protected: [409, 'Protected'],
  plan_blocked: [409, 'Plan blocked'],
  plan_stale: [409, 'Plan out of date'],
  plan_expired: [409, 'Plan expired'],
  passkeys_unavailable: [409, 'Passkeys unavailable'],
  mail_not_set_up: [409, 'Mail not configured'],
  idempotency_in_progress: [409, 'Request in progress'],
  cursor_expired: [410, 'Cursor expired'],
  key_gone: [410, 'Private key no longer available'],
  precondition_failed: [412, 'Precondition failed'],
  payload_too_large: [413, 'Request body too large'],
  unsupported_media_type: [415, 'Unsupported media type'],
  validation_failed: [422, 'Validation failed'],
  private_key_refused: [422, 'Private key refused'],
  bulk_failed: [422, 'Bulk operation failed'],
  idempotency_key_reused: [422, 'Idempotency key reused'],
  unsupported_action: [422, 'Unsupported action'],
  provider_failed: [424, 'Provider error'],
  rate_limited: [429, 'Too many requests'],
  internal_error: [500, 'Internal error'],
  interrupted: [500, 'Interrupted'],
  not_ready: [503, 'Not ready'],
  overloaded: [503, 'Overloaded'],
  storage_full: [503, 'Storage full'],
  database_unavailable: [503, 'Database unavailable'],
} as const satisfies Record<string, readonly [number, string]>

export type ProblemCode = keyof typeof problemKinds

/** An error in a request. `pointer` is a JSON pointer into the body as a URI fragment (`#/schedule`), or `#/query/<name>`. */
export interface FieldProblem {
  pointer: string
  code: string
  detail: string
}

interface Extras {
  errors?: FieldProblem[]
  headers?: Record<string, string>
  fields?: Record<string, unknown>
}

/** An error response (RFC 9457). Operations and guards throw it; the API server turns it into a response. */
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

/** The JSON body of the error response. `instance` identifies the request. */
export function problemBody(problem: Problem, requestId: string): Record<string, unknown> {
  return {
    type: problemType(problem.code),
    title: problem.title,
    status: problem.status,
    detail: problem.detail,
    instance: `urn:bailiwick:request:${requestId}`,
    code: problem.code,
    request_id: requestId,
    ...(problem.extras.errors && { errors: problem.extras.errors }),
    ...problem.extras.fields,
  }
}

/** The URL that identifies a problem: of its section in the handbook, or as registered with IANA. */
export function problemType(code: ProblemCode): string {
  const registered = { rate_limited: 'quota-exceeded', overloaded: 'temporary-reduced-capacity' }[code as string]
  return registered ? `https://iana.org/assignments/http-problem-types#${registered}` : `/problems/${code}`
}

/** Also used for ids of another workspace, so that a response never reveals whether they exist. */
export const notFound = (what: string): Problem =>
  new Problem('not_found', `${what.charAt(0).toUpperCase()}${what.slice(1)} not found.`)

/** The caller lacks a permission. */
export const permissionMissing = (permission: string): Problem =>
  new Problem('insufficient_permission', `This requires the \`${permission}\` permission.`, {
    fields: { required_permission: permission },
  })

export const conflict = (detail: string): Problem => new Problem('conflict', detail)

/** An invalid request body. Each entry names a field and the rule it breaks. */
export function invalid(errors: FieldProblem[]): Problem {
  const more = errors.length > 1 ? ` (and ${pluralize(errors.length - 1, 'more errors')})` : ''
  return new Problem('validation_failed', `${problemSentence(errors[0]!)}${more}`, { errors })
}

/** An error as a sentence: “`schedule/period_seconds` must be at least 5.” A detail that starts with a capital letter is one already. */
export function problemSentence({ pointer, detail }: FieldProblem): string {
  if (/^\p{Lu}/u.test(detail)) return detail
  return `${pointer === '#' ? 'The body' : `\`${pointer.replace(/^#\//, '')}\``} ${detail}`
}

export const tooManyRequests = (seconds: number, fields: Record<string, unknown> = {}): Problem =>
  new Problem('rate_limited', `Rate limit exceeded. Try again in ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
    fields,
  })
