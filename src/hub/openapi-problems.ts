import type { Route } from '../access/route'
import { problemKinds, type ProblemCode } from '../core/problem'
import type { JsonSchema } from './openapi-schema'

const requestExample = 'req_01jd8f3q7eeb9bv0w0r8c7hq2m'

/** The two schemas that every error is made of. */
export const problemSchemas: Record<string, JsonSchema> = {
  Problem: {
    type: 'object',
    description: 'An error (RFC 9457). Members beyond those listed here may be added.',
    required: ['type', 'title', 'status', 'detail', 'instance', 'code', 'request_id'],
    properties: {
      type: { type: 'string', format: 'uri-reference', description: 'Page that explains the code.' },
      title: { type: 'string', description: 'The code in words.' },
      status: { type: 'integer', minimum: 400, maximum: 599, description: 'HTTP status.' },
      detail: { type: 'string', description: 'What is wrong in this request.' },
      instance: { type: 'string', format: 'uri', description: 'Names this one occurrence.' },
      code: {
        type: 'string',
        enum: Object.keys(problemKinds),
        description: 'Machine-readable code; the list is closed within a version of the document.',
      },
      request_id: { type: 'string', description: 'Id of the request, as in the header X-Request-Id.' },
      errors: {
        type: 'array',
        items: { $ref: '#/components/schemas/FieldProblem' },
        description: 'What is wrong, member by member.',
      },
      required_permission: { type: 'string', description: 'With `insufficient_permission`: the permission that is missing.' },
      limit: { type: 'string', description: 'With `plan_limit_reached`: the limit.' },
      max: { type: 'integer', description: 'With `plan_limit_reached`: what the plan allows.' },
      used: { type: 'integer', description: 'With `plan_limit_reached`: how much is in use.' },
      plan: { type: 'string', description: 'With `plan_limit_reached`: the plan.' },
      methods: {
        type: 'array',
        items: { type: 'string' },
        description: 'With `second_factor_required`: what can be sent: `one_time_code`, `recovery_code` or `passkey`.',
      },
      passkey_options: {
        type: 'object',
        description:
          'With `second_factor_required`, where a passkey can be used: what the browser asks it for, a PasskeyRequest.',
      },
      holder: { type: 'string', description: 'With `resource_locked`: the action that holds the resource.' },
      'violated-policies': {
        type: 'array',
        items: { type: 'string' },
        description: 'With `rate_limited`: the limits that were reached, by their names in RateLimit-Policy.',
      },
    },
    examples: [problemExample('not_found')],
  },
  FieldProblem: {
    type: 'object',
    description: 'One thing wrong with a request.',
    required: ['pointer', 'code', 'detail'],
    properties: {
      pointer: {
        type: 'string',
        description: 'JSON pointer into the body as a URI fragment (`#/schedule`), or `#/query/<name>`.',
      },
      code: { type: 'string', description: 'The rule that was broken.' },
      detail: { type: 'string', description: 'The rule in words.' },
    },
    examples: [{ pointer: '#/name', code: 'required', detail: 'is required.' }],
  },
}

/** One status an operation may answer with: its name among the components, and the codes that it shares with all operations. */
interface Shared {
  name: string
  says: string
  codes: ProblemCode[]
  headers: string[]
}

const shared: Record<number, Shared> = {
  400: {
    name: 'Malformed',
    says: 'The request cannot be read.',
    headers: [],
    codes: ['malformed_request', 'malformed_json', 'unknown_parameter', 'invalid_parameter', 'invalid_cursor', 'token_in_query'],
  },
  401: {
    name: 'Unauthenticated',
    says: 'The credential is missing or not valid.',
    headers: ['WWW-Authenticate'],
    codes: ['unauthenticated', 'invalid_token', 'token_expired', 'token_revoked', 'session_ended'],
  },
  403: {
    name: 'Forbidden',
    says: 'The caller may not do this.',
    headers: [],
    codes: [
      'insufficient_permission',
      'address_not_allowed',
      'narrowed_token',
      'origin_not_allowed',
      'plan_no_api_access',
      'workspace_suspended',
    ],
  },
  404: {
    name: 'NotFound',
    says: 'There is no such resource in this workspace, or no such workspace.',
    headers: [],
    codes: ['not_found'],
  },
  409: {
    name: 'Conflict',
    says: 'Another request with this Idempotency-Key is running.',
    headers: ['Retry-After'],
    codes: ['idempotency_in_progress'],
  },
  410: { name: 'Gone', says: 'What was asked for is no longer kept.', headers: [], codes: [] },
  412: { name: 'PreconditionFailed', says: 'If-Match names another version.', headers: [], codes: ['precondition_failed'] },
  413: {
    name: 'PayloadTooLarge',
    says: 'The body is larger than 1 MiB, or than this operation takes.',
    headers: [],
    codes: ['payload_too_large'],
  },
  415: { name: 'UnsupportedMediaType', says: 'The body is not JSON.', headers: [], codes: ['unsupported_media_type'] },
  422: {
    name: 'Invalid',
    says: 'The body breaks a rule, or the Idempotency-Key was used for another request.',
    headers: [],
    codes: ['validation_failed', 'idempotency_key_reused'],
  },
  424: {
    name: 'ProviderFailed',
    says: 'A provider was asked, and did not do its part.',
    headers: ['Retry-After'],
    codes: [],
  },
  429: {
    name: 'TooManyRequests',
    says: 'A rate limit is reached: try again shortly.',
    headers: ['Retry-After'],
    codes: ['rate_limited'],
  },
  500: { name: 'InternalError', says: 'Something went wrong inside.', headers: [], codes: ['internal_error'] },
  503: { name: 'Unavailable', says: 'Not able to serve this just now.', headers: ['Retry-After'], codes: ['storage_full'] },
}

/** Shared responses by component name, for `#/components/responses`. */
export const problemResponses: Record<string, JsonSchema> = Object.fromEntries(
  Object.entries(shared)
    .filter(([, one]) => one.codes.length > 0)
    .map(([status, one]) => [one.name, response(Number(status), one.codes)]),
)

/** The error responses of an operation: those that its guard, method, body and path bring with them, and the ones it names. */
export function errorResponses(spec: Route): Record<string, JsonSchema> {
  const statuses = new Set(applying(spec))
  const own = (spec.problems ?? []).map(code => [problemKinds[code][0], code] as const)
  for (const [status] of own) statuses.add(status)
  return Object.fromEntries(
    [...statuses]
      .sort((a, b) => a - b)
      .map(status => {
        const named = own.filter(([of, code]) => of === status && !shared[status]!.codes.includes(code)).map(([, code]) => code)
        const general = applying(spec).includes(status)
        if (named.length === 0 && shared[status]!.codes.length > 0)
          return [status, { $ref: `#/components/responses/${shared[status]!.name}` }]
        return [status, response(status, [...(general ? shared[status]!.codes : []), ...named])]
      }),
  )
}

function applying(spec: Route): number[] {
  const guarded = isGuarded(spec)
  const statuses = [400, 429, 500]
  if (guarded) statuses.push(401, 403, 404)
  else if (spec.path.includes(':')) statuses.push(404)
  if (spec.method !== 'GET' && !spec.rawBody) statuses.push(413, 415)
  if (spec.body) statuses.push(422)
  if (spec.method !== 'GET' || spec.guard === 'ingest') statuses.push(503)
  // The key is looked at wherever a known caller posts.
  if (guarded && spec.method === 'POST') statuses.push(409, 422)
  if (takesIfMatch(spec)) statuses.push(412)
  return statuses
}

/** Whether a caller must be known, by token or session. */
export const isGuarded = (spec: Route): boolean => spec.guard !== 'anyone' && spec.guard !== 'ingest'

/** Whether an operation holds its edit to the version in If-Match. */
export function takesIfMatch(spec: Route): boolean {
  if (spec.problems?.includes('precondition_failed')) return true
  return ['PUT', 'PATCH', 'DELETE'].includes(spec.method) && spec.path.includes(':')
}

function response(status: number, codes: readonly ProblemCode[]): JsonSchema {
  const { says, headers } = shared[status]!
  return {
    description: `${says} Codes: ${codes.map(code => `\`${code}\``).join(', ')}.`,
    // Who is not known yet is not counted yet.
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
