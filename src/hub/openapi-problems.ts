import type { Route } from '../api/route-declaration'
import { problemKinds, type ProblemCode } from '../core/problem'
import type { JsonSchema } from './openapi-schema'

const requestExample = 'req_01jd8f3q7eeb9bv0w0r8c7hq2m'

/** The schemas of errors. */
export const problemSchemas: Record<string, JsonSchema> = {
  Problem: {
    type: 'object',
    description: 'An error (RFC 9457). Other fields may be added.',
    required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'Page that explains the error code.' },
      title: { type: 'string', description: 'Short description of the error code.' },
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'HTTP status code.' },
      detail: { type: 'string', description: 'What is wrong with this request.' },
      instance: { type: 'string', format: 'uri', description: 'URN of the request that failed.' },
      code: {
        type: 'string',
        enum: Object.keys(problemKinds),
        description: 'Machine-readable error code. New codes may be added.',
      },
      request_id: { type: 'string', description: 'ID of the request, as in the X-Request-Id header.' },
      errors: {
        type: 'array',
        items: { $ref: '#/components/schemas/FieldProblem' },
        description: 'Invalid fields and parameters of the request.',
      },
      required_permission: { type: 'string', description: 'With `insufficient_permission`: the permission that is missing.' },
      limit: { type: 'string', description: 'With `plan_limit_reached`: the name of the limit.' },
      max: { type: 'integer', description: 'With `plan_limit_reached`: the maximum that the plan allows.' },
      used: { type: 'integer', description: 'With `plan_limit_reached`: the current usage.' },
      plan: { type: 'string', description: 'With `plan_limit_reached`: the ID of the plan.' },
      methods: {
        type: 'array',
        items: { type: 'string' },
        description:
          'With `second_factor_required`: the accepted second factors: `one_time_code`, `recovery_code`, or `passkey`.',
      },
      passkey_options: {
        type: 'object',
        description:
          'With `second_factor_required`, if a passkey can be used: the options for `navigator.credentials.get`, as in PasskeyRequestOptions.',
      },
      mode: {
        type: 'string',
        enum: ['closed', 'invitation', 'open'],
        description: 'With `sign_up_closed`: who can sign up on this installation.',
      },
      reason: {
        type: 'string',
        enum: ['ip_address', 'plain_http'],
        description: 'With `passkeys_unavailable`: why browsers do not support passkeys at the URL of this hub.',
      },
      failure: {
        type: 'string',
        description:
          'With `provider_failed`: why the request to the provider failed, such as `unreachable`, `unauthorized`, or `throttled`.',
      },
      reasons: {
        type: 'array',
        items: { type: 'object' },
        description:
          'With `plan_blocked`: the reasons to confirm in `allow`, each with its `code`, a `detail`, and the affected `rrsets`.',
      },
      conflicts: {
        type: 'array',
        items: { type: 'object' },
        description: 'With `conflict`, if a DNS template can’t be applied: the existing records that conflict with it.',
      },
      checks: {
        type: 'object',
        description: 'With `not_ready`: the result of each health check, by name.',
      },
      holder: { type: 'string', description: 'With `resource_locked`: ID of the action that is using the resource.' },
      'violated-policies': {
        type: 'array',
        items: { type: 'string' },
        description: 'With `rate_limited`: the limits that were reached, named as in RateLimit-Policy.',
      },
    },
    examples: [problemExample('not_found')],
  },
  FieldProblem: {
    type: 'object',
    description: 'One invalid field or parameter of a request.',
    required: ['pointer', 'code', 'detail'],
    properties: {
      pointer: {
        type: 'string',
        description: 'JSON pointer to the field as a URI fragment (`#/schedule`), or `#/query/<name>` for a query parameter.',
      },
      code: { type: 'string', description: 'Machine-readable code of the violated rule, such as `required` or `out_of_range`.' },
      detail: {
        type: 'string',
        description:
          'What is wrong: a full sentence, or the rest of one that starts with the field, such as `must be at least 5.`',
      },
    },
    examples: [{ pointer: '#/name', code: 'required', detail: 'is required.' }],
  },
}

/** A status of an error: its name in the components, and the codes that all operations can return with it. */
interface SharedResponse {
  name: string
  description: string
  codes: ProblemCode[]
  headers: string[]
}

const shared: Record<number, SharedResponse> = {
  400: {
    name: 'Malformed',
    description: 'The request or one of its parameters is malformed.',
    headers: [],
    codes: ['malformed_request', 'malformed_json', 'unknown_parameter', 'invalid_parameter', 'invalid_cursor', 'token_in_query'],
  },
  401: {
    name: 'Unauthenticated',
    description: 'Authentication is missing or invalid.',
    headers: ['WWW-Authenticate'],
    codes: ['unauthenticated', 'invalid_token', 'token_expired', 'token_revoked', 'session_ended'],
  },
  403: {
    name: 'Forbidden',
    description: 'The request is not allowed.',
    headers: [],
    codes: [
      'insufficient_permission',
      'address_not_allowed',
      'restricted_token',
      'origin_not_allowed',
      'plan_no_api_access',
      'workspace_suspended',
    ],
  },
  404: {
    name: 'NotFound',
    description: 'The resource or workspace was not found.',
    headers: [],
    codes: ['not_found'],
  },
  409: {
    name: 'Conflict',
    description:
      'The request conflicts with the current state, or another request with the same Idempotency-Key is still running.',
    headers: ['Retry-After'],
    codes: ['idempotency_in_progress'],
  },
  410: { name: 'Gone', description: 'The requested data is no longer stored.', headers: [], codes: [] },
  412: {
    name: 'PreconditionFailed',
    description: 'The resource has changed since the version in If-Match. Get it again before you retry.',
    headers: [],
    codes: ['precondition_failed'],
  },
  413: {
    name: 'PayloadTooLarge',
    description: 'The body is larger than 1 MiB, or than the limit of this operation.',
    headers: [],
    codes: ['payload_too_large'],
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The content type of the body is not supported.',
    headers: [],
    codes: ['unsupported_media_type'],
  },
  422: {
    name: 'Invalid',
    description: 'The body is invalid, or the Idempotency-Key was used for a different request.',
    headers: [],
    codes: ['validation_failed', 'idempotency_key_reused'],
  },
  424: {
    name: 'ProviderFailed',
    description: 'A DNS provider returned an error or could not be reached.',
    headers: ['Retry-After'],
    codes: [],
  },
  429: {
    name: 'TooManyRequests',
    description: 'A rate limit was exceeded. Retry after the number of seconds in Retry-After.',
    headers: ['Retry-After'],
    codes: ['rate_limited'],
  },
  500: {
    name: 'InternalError',
    description: 'An internal error occurred. Search the server log for the request ID.',
    headers: [],
    codes: ['internal_error'],
  },
  503: {
    name: 'Unavailable',
    description: 'Temporarily unavailable. Retry after the number of seconds in Retry-After.',
    headers: ['Retry-After'],
    codes: ['storage_full', 'database_unavailable'],
  },
}

/** Shared responses by component name, for `#/components/responses`. */
export const problemResponses: Record<string, JsonSchema> = Object.fromEntries(
  Object.entries(shared)
    .filter(([, one]) => one.codes.length > 0)
    .map(([status, one]) => [one.name, response(Number(status), one.codes)]),
)

/** The error responses of an operation: those that follow from its guard, method, body and path, and those it declares. */
export function errorResponses(spec: Route): Record<string, JsonSchema> {
  const statuses = new Set(impliedStatuses(spec))
  const required: ProblemCode[] = spec.guard === 'session' ? ['session_required'] : []
  const own = [...required, ...(spec.problems ?? [])].map(code => [problemKinds[code][0], code] as const)
  for (const [status] of own) statuses.add(status)
  return Object.fromEntries(
    [...statuses]
      .sort((a, b) => a - b)
      .map(status => {
        const named = own.filter(([of, code]) => of === status && !shared[status]!.codes.includes(code)).map(([, code]) => code)
        const isImplied = impliedStatuses(spec).includes(status)
        if (named.length === 0 && shared[status]!.codes.length > 0)
          return [status, { $ref: `#/components/responses/${shared[status]!.name}` }]
        return [status, response(status, [...(isImplied ? shared[status]!.codes : []), ...named])]
      }),
  )
}

function impliedStatuses(spec: Route): number[] {
  const guarded = isGuarded(spec)
  const statuses = [400, 429, 500]
  if (guarded) statuses.push(401, 403, 404)
  else if (spec.path.includes(':')) statuses.push(404)
  if (spec.method !== 'GET' && !spec.rawBody) statuses.push(413, 415)
  if (spec.body) statuses.push(422)
  if (spec.method !== 'GET' || spec.guard === 'ingest') statuses.push(503)
  // Idempotency keys are supported by every authenticated POST.
  if (guarded && spec.method === 'POST') statuses.push(409, 422)
  if (takesIfMatch(spec)) statuses.push(412)
  return statuses
}

/** Whether an operation requires a token or session. */
export const isGuarded = (spec: Route): boolean => spec.guard !== 'anyone' && spec.guard !== 'ingest'

/** Whether an operation checks If-Match. */
export function takesIfMatch(spec: Route): boolean {
  if (spec.problems?.includes('precondition_failed')) return true
  return ['PUT', 'PATCH', 'DELETE'].includes(spec.method) && spec.path.includes(':')
}

function response(status: number, codes: readonly ProblemCode[]): JsonSchema {
  const { description, headers } = shared[status]!
  return {
    description: `${description} Codes: ${codes.map(code => `\`${code}\``).join(', ')}.`,
    // Unauthenticated requests carry no rate-limit headers.
    headers: Object.fromEntries(
      ['X-Request-Id', ...(status === 401 ? [] : ['RateLimit-Policy', 'RateLimit']), ...headers].map(name => [
        name,
        { $ref: `#/components/headers/${name}` },
      ]),
    ),
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example: problemExample(codes[0]!) },
    },
  }
}

function problemExample(code: ProblemCode): JsonSchema {
  const [status, title] = problemKinds[code]
  return {
    type: code === 'rate_limited' ? 'https://iana.org/assignments/http-problem-types#quota-exceeded' : `/problems/${code}`,
    title,
    status,
    detail: `${title}.`,
    instance: `urn:bailiwick:request:${requestExample}`,
    code,
    request_id: requestExample,
    ...(code === 'validation_failed' && { errors: [{ pointer: '#/name', code: 'required', detail: 'is required.' }] }),
    ...(code === 'insufficient_permission' && { required_permission: 'dns.write' }),
    ...(code === 'rate_limited' && { 'violated-policies': ['token'] }),
  }
}
