import { hasParameters, isReachable } from '../access/authorize'
import type { Route } from '../api/route-declaration'
import { problemKinds, problemType, type ProblemCode } from '../core/problem'
import type { JsonSchema } from './openapi-schema'

const requestExample = 'req_01jd8f3q7eeb9bv0w0r8c7hq2m'

/** The schemas of errors. */
export const problemSchemas: Record<string, JsonSchema> = {
  Problem: {
    type: 'object',
    description: 'An error (RFC 9457). Other fields may be added.',
    required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
    properties: {
      type: {
        type: 'string',
        format: 'uri-reference',
        description:
          'URL of the page that explains the error code, relative to the hub. For `rate_limited` and `overloaded`, a URL registered with IANA.',
      },
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
        description:
          'With `validation_failed`, `invalid_parameter`, and `bulk_failed`: the invalid fields and parameters, or the operations that failed. If there are many, only the first ones are listed.',
      },
      required_permission: {
        type: 'string',
        description: 'With `insufficient_permission`: the permission that is missing, or `operator` for operator access.',
      },
      required_role: {
        type: 'string',
        description: 'With `insufficient_permission`, if you assign or change a role: the role that you need yourself.',
      },
      suspended_at: {
        type: 'string',
        format: 'date-time',
        description: 'With `workspace_suspended`: when the operator suspended the workspace. `detail` contains the reason.',
      },
      limit: { type: 'string', description: 'With `plan_limit_reached`: the name of the limit, as in `GET /v1/limits`.' },
      max: {
        type: 'integer',
        description: 'With `plan_limit_reached`: the maximum that the plan allows; for `monitor_interval_seconds`, the minimum.',
      },
      used: {
        type: 'integer',
        description: 'With `plan_limit_reached`: the current usage; for `monitor_interval_seconds`, the interval in the request.',
      },
      plan: {
        type: 'string',
        description: 'With `plan_limit_reached` and `plan_no_api_access`: the ID of the plan of the workspace.',
      },
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
          'With `plan_blocked`: the safety checks to override in `allow`, each with its `code`, a `detail`, and the affected `rrsets`, as in DnsPlanReason.',
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

/** A status of an error: the name of its response in the components, with the code of its example. */
interface ErrorStatus {
  name: string
  description: string
  example: ProblemCode
  headers?: string[]
}

const errorStatuses: Record<number, ErrorStatus> = {
  400: {
    name: 'Malformed',
    description: 'The request or one of its parameters is malformed.',
    example: 'unknown_parameter',
  },
  401: {
    name: 'Unauthenticated',
    description: 'Authentication is missing or invalid.',
    example: 'unauthenticated',
    headers: ['WWW-Authenticate'],
  },
  403: {
    name: 'Forbidden',
    description: 'The credentials do not allow this request.',
    example: 'insufficient_permission',
  },
  404: {
    name: 'NotFound',
    description: 'The resource or workspace was not found.',
    example: 'not_found',
  },
  409: {
    name: 'Conflict',
    description: 'The request conflicts with the current state, or with a request that is still running.',
    example: 'idempotency_in_progress',
    headers: ['Retry-After'],
  },
  410: { name: 'Gone', description: 'The requested data is no longer stored.', example: 'cursor_expired' },
  412: {
    name: 'PreconditionFailed',
    description: 'The resource has changed since the version in If-Match. Get it again before you retry.',
    example: 'precondition_failed',
  },
  413: {
    name: 'PayloadTooLarge',
    description:
      'The body is larger than 1 MiB (64 KiB without authentication), or than the limit that this operation describes.',
    example: 'payload_too_large',
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'The content type of the body is not supported.',
    example: 'unsupported_media_type',
  },
  422: {
    name: 'Invalid',
    description: 'The request is well-formed, but its content is invalid.',
    example: 'validation_failed',
  },
  424: {
    name: 'ProviderFailed',
    description: 'A DNS provider or a cloud returned an error or could not be reached.',
    example: 'provider_failed',
    headers: ['Retry-After'],
  },
  429: {
    name: 'TooManyRequests',
    description: 'A rate limit was exceeded. Retry after the number of seconds in Retry-After.',
    example: 'rate_limited',
    headers: ['Retry-After'],
  },
  500: {
    name: 'InternalError',
    description: 'An internal error occurred. Search the server log for the request ID.',
    example: 'internal_error',
  },
  503: {
    name: 'Unavailable',
    description: 'Temporarily unavailable. Retry after the number of seconds in Retry-After.',
    example: 'database_unavailable',
    headers: ['Retry-After'],
  },
}

/** The error responses by name, for `#/components/responses`. */
export const problemResponses: Record<string, JsonSchema> = Object.fromEntries(
  Object.entries(errorStatuses).map(([status, { name, description, example }]) => [
    name,
    response(Number(status), description, example),
  ]),
)

/** The error responses of an operation, with the codes that follow from its declaration and those it declares itself. */
export function errorResponses(spec: Route): Record<string, JsonSchema> {
  const codes = new Set([...impliedCodes(spec), ...(spec.problems ?? [])])
  return Object.fromEntries(
    [...Map.groupBy(codes, code => problemKinds[code][0])].map(([status, some]) => {
      const { name, description, example } = errorStatuses[status]!
      const text = `${description} Codes: ${some.map(code => `\`${code}\``).join(', ')}.`
      return [
        status,
        some.includes(example) ? { $ref: `#/components/responses/${name}`, description: text } : response(status, text, some[0]!),
      ]
    }),
  )
}

/** The codes of the errors that `serve` can return for an operation. */
function impliedCodes(spec: Route): ProblemCode[] {
  const parameters = Object.keys(spec.query?.properties ?? {})
  const guarded = isGuarded(spec)
  const isOpen = spec.guard === 'anyone'
  const isWrite = spec.method !== 'GET'
  const takesBody = isWrite && (!spec.rawBody || spec.body)
  const takesKey = takesIdempotencyKey(spec)
  const needsPermission = spec.guard.includes('.') || spec.guard === 'operator'
  // Restricted tokens are never an operator’s, and a session is no token.
  const takesRestricted = spec.guard === 'session' || spec.guard === 'operator' || hasParameters(spec)
  const when: Partial<Record<ProblemCode, unknown>> = {
    // A Host header that can't be parsed.
    malformed_request: true,
    malformed_json: spec.body ?? spec.textBody?.types['application/json'],
    unknown_parameter: true,
    invalid_parameter: parameters.length > 0,
    invalid_cursor: parameters.includes('cursor'),
    token_in_query: true,
    idempotency_key_required: spec.needsIdempotencyKey,
    unauthenticated: guarded,
    invalid_token: guarded,
    token_expired: guarded,
    token_revoked: guarded,
    session_ended: guarded,
    insufficient_permission: needsPermission || spec.expands || spec.longPoll,
    address_not_allowed: guarded,
    restricted_token: guarded && !takesRestricted && !isReachable(spec, { resourceIds: new Set() }, {}),
    origin_not_allowed: isWrite && (guarded || isOpen),
    session_required: spec.guard === 'session',
    plan_no_api_access: guarded && spec.guard !== 'session',
    workspace_suspended: guarded && !spec.whileSuspended,
    not_found: guarded || hasParameters(spec) || spec.session,
    idempotency_in_progress: takesKey,
    precondition_failed: takesIfMatch(spec),
    payload_too_large: takesBody,
    unsupported_media_type: takesBody,
    validation_failed: spec.body,
    idempotency_key_reused: takesKey,
    rate_limited: true,
    internal_error: true,
    storage_full: true,
    database_unavailable: true,
  }
  return (Object.keys(when) as ProblemCode[]).filter(code => when[code])
}

/** Whether an operation supports Idempotency-Key: every authenticated POST does. */
export const takesIdempotencyKey = (spec: Route): boolean => isGuarded(spec) && spec.method === 'POST'

/** Whether an operation requires a token or session. */
export const isGuarded = (spec: Route): boolean => spec.guard !== 'anyone' && spec.guard !== 'ingest'

/** Whether an operation checks If-Match. */
export function takesIfMatch(spec: Route): boolean {
  if (spec.problems?.includes('precondition_failed')) return true
  return ['PUT', 'PATCH', 'DELETE'].includes(spec.method) && spec.path.includes(':') && !spec.isUnversioned
}

function response(status: number, description: string, example: ProblemCode): JsonSchema {
  return {
    description,
    // Unauthenticated requests carry no rate-limit headers.
    headers: Object.fromEntries(
      [
        'X-Request-Id',
        ...(status === 401 ? [] : ['RateLimit-Policy', 'RateLimit']),
        ...(errorStatuses[status]!.headers ?? []),
      ].map(name => [name, { $ref: `#/components/headers/${name}` }]),
    ),
    content: {
      'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' }, example: problemExample(example) },
    },
  }
}

function problemExample(code: ProblemCode): JsonSchema {
  const [status, title] = problemKinds[code]
  return {
    type: problemType(code),
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
