import type { TObject } from '@sinclair/typebox'
import { hasLocation } from '../api/response'
import { hasParameters } from '../access/authorize'
import { maxWaitSeconds } from '../api/long-poll'
import { deprecatedIn } from '../api/deprecations'
import { partialShape, takesFields } from '../api/fields'
import type { Route } from '../api/route-declaration'
import { deprecationText } from '../core/deprecation'
import { isOptional } from '../core/validate'
import { entryOfId } from '../registry'
import type { JsonSchema, Schemas } from './openapi-schema'
import { errorResponses, isGuarded, takesIdempotencyKey, takesIfMatch } from './openapi-problems'

/** Response headers, for `#/components/headers`. */
export const headers: Record<string, JsonSchema> = {
  'X-Request-Id': header('ID of the request. Include it when you contact support.', 'req_01jd8f3q7eeb9bv0w0r8c7hq2m', true),
  'RateLimit-Policy': header('The rate limits that apply: a quota of `q` requests per `w` seconds each.', '"token";q=600;w=60'),
  RateLimit: header(
    'Remaining quota of each rate limit: `r` requests, and `t` seconds until the quota is full again. The limit with the least remaining comes first.',
    '"token";r=599;t=1',
  ),
  'Retry-After': header('Seconds to wait before retrying.', 2, false, 'integer'),
  ETag: header(
    'Identifies this state of the resource: the `version`, a dot, and a hash of the response. Send it in If-Match or If-None-Match.',
    '"3.k2f9x1"',
    true,
  ),
  Location: header('Path of the created resource, or of the action.', '/v1/tokens/tok_01jd8f3q7eeb9bv0w0r8c7hq2m', true),
  Link: header(
    'Link to the next page of a list (RFC 8288), and to information about deprecated parts that the request uses.',
    '</v1/tokens?cursor=Zm9v>; rel="next"',
  ),
  Deprecation: header('When a part of the API that the request uses was deprecated (RFC 9745).', '@1801353600'),
  Sunset: header('When the deprecated part may be removed (RFC 8594).', 'Mon, 31 Jan 2028 00:00:00 GMT'),
  'Idempotent-Replayed': header('`true` if this is the response to an earlier request with the same Idempotency-Key.', 'true'),
  'Preference-Applied': header('The `wait` preference that was applied, in seconds (RFC 7240).', 'wait=30'),
  'Set-Cookie': header('The session cookie.', 'bailiwick=…; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000'),
  'WWW-Authenticate': header('How to authenticate (RFC 6750).', 'Bearer realm="bailiwick"'),
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  in: 'header',
  example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
  schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
  description:
    'Makes retries safe: for 24 hours, the same request with the same key returns the first response and has no further effect. A different body or query with the same key is rejected (422 `idempotency_key_reused`); other paths and workspaces can use the same key. After an error other than 404, 409, 412, or 403 `plan_limit_reached`, the key can be used again.',
}

/** Request headers, for `#/components/parameters`. */
export const parameters: Record<string, JsonSchema> = {
  'Idempotency-Key': idempotencyKey,
  'Idempotency-Key-Required': { ...idempotencyKey, required: true },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    example: '"3.k2f9x1"',
    schema: { type: 'string' },
    description:
      'ETag of the version that you want to change. If the resource was updated since, the request fails with 412. If omitted or `*`, the version is not checked. Only the version, which is the part of the ETag before the dot, is compared, so changes without an update, such as a ping, don’t matter.',
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    example: '"3.k2f9x1"',
    schema: { type: 'string' },
    description: 'ETag of the response you already have. If the response would be exactly the same, it is 304 without a body.',
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    example: 'wait=30',
    schema: { type: 'string' },
    description: `\`wait=N\` (RFC 7240): wait up to N seconds for a result before responding. Maximum: ${maxWaitSeconds}.`,
  },
  'Bailiwick-Workspace': {
    name: 'Bailiwick-Workspace',
    in: 'header',
    example: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m',
    schema: { type: 'string' },
    description:
      'ID of the workspace to use with a session cookie. Default: the workspace that this session last used. If you are not a member of it, the response is 404. Ignored for tokens, which belong to one workspace.',
  },
}

/** An operation as @elysiajs/swagger collected it. */
export interface Collected {
  operationId: string
  tags: string[]
  parameters?: JsonSchema[]
}

/**
 * Describes one operation.
 * @param exampleId an example of the id in the path
 */
export function operation(spec: Route, collected: Collected, schemas: Schemas, exampleId: string | undefined): JsonSchema {
  return {
    operationId: collected.operationId,
    tags: collected.tags,
    summary: spec.summary,
    description: [spec.description, spec.deprecated && deprecationText(spec.deprecated), accessNote(spec), replayNote(spec)]
      .filter(Boolean)
      .join('\n\n'),
    ...(spec.deprecated && { deprecated: true }),
    ...(spec.guard.includes('.') && { 'x-permission': spec.guard }),
    ...(spec.action && { 'x-audit-action': spec.action }),
    security: spec.guard === 'session' ? [{ session: [] }] : isGuarded(spec) ? [{ token: [] }, { session: [] }] : [],
    parameters: [
      ...(collected.parameters ?? [])
        .filter(one => one.in === 'path')
        .map(one => pathParameter(spec.path, one.name as string, exampleId)),
      ...queryParameters(spec, schemas),
      ...requestHeaders(spec, schemas),
    ],
    ...(spec.body && { requestBody: requestBody(spec, schemas) }),
    ...(spec.rawBody && !spec.body && spec.method !== 'GET' && { requestBody: anyBody }),
    ...(spec.textBody && { requestBody: textBody(spec.textBody, schemas) }),
    responses: { ...success(spec, schemas), ...errorResponses(spec) },
  }
}

function accessNote(spec: Route): string {
  switch (spec.guard) {
    case 'anyone':
      return 'No authentication required.'
    case 'ingest':
      // Other tokens of a source are described by the operation.
      return hasParameters(spec)
        ? 'No authentication required: the URL itself is the credential. Limited to 600 pings a minute per heartbeat.'
        : ''
    case 'signed_in':
      return 'Requires a valid token or session.'
    case 'session':
      return 'Requires a signed-in user. Tokens are rejected with `session_required`.'
    case 'operator':
      return 'Requires operator access: a session of an operator, or a token with full access in the operator’s workspace.'
    default:
      return `Requires the \`${spec.guard}\` permission.`
  }
}

function replayNote(spec: Route): string {
  if (!spec.secretFields) return ''
  const names = spec.secretFields.map(name => `\`${name}\``).join(' and ')
  const isLeftOut = isOptional((spec.response as TObject).properties[spec.secretFields[0]!]!)
  return `If a response is replayed for an Idempotency-Key, ${names} ${spec.secretFields.length > 1 ? 'are' : 'is'} ${isLeftOut ? 'omitted' : 'null'}, and \`secret_shown_before\` is true.`
}

/** Descriptions of path parameters other than `id`. */
const pathParameters: Record<string, string> = {
  changeset: 'ID of the changeset.',
  update: 'ID of the timeline entry.',
  kind: 'Name of the kind.',
  n: 'Number of the ping.',
  suffix:
    'With a UUID: `start`, `fail`, `log`, or an exit status from 0 to 255. With the ping key: the slug of a heartbeat, to report success.',
  action: '`start`, `fail`, `log`, or an exit status from 0 to 255.',
}

function pathParameter(path: string, name: string, exampleId: string | undefined): JsonSchema {
  const isId = name === 'id' || name.endsWith('_id')
  const targets = {
    ping: 'UUID of the heartbeat, or the ping key.',
    uuidPing: 'UUID of the heartbeat.',
    slugPing: 'Ping key of the workspace.',
    sync: 'ID of the sync target.',
  }
  const isSlugPing = path.endsWith('/:target/:suffix/:action')
  const special: Record<string, string> = {
    target:
      targets[
        isSlugPing
          ? 'slugPing'
          : path.endsWith('/:target/:suffix')
            ? 'ping'
            : path.startsWith('/v1/ingest/')
              ? 'uuidPing'
              : 'sync'
      ],
    ...(isSlugPing && { suffix: 'Slug of the heartbeat.' }),
  }
  return {
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    description: isId ? `ID of the ${nounIn(path, exampleId)}.` : (special[name] ?? pathParameters[name]!),
    ...(isId && exampleId && { example: exampleId }),
  }
}

/** The noun for the resource whose id is the first parameter of a path. */
const nounIn = (path: string, exampleId = ''): string =>
  entryOfId(exampleId)?.name ?? path.slice(0, path.indexOf('s/:')).replace(/^.*\//, '')

function queryParameters(spec: Route, schemas: Schemas): JsonSchema[] {
  const query = spec.query as JsonSchema | undefined
  return Object.entries((query?.properties as Record<string, object>) ?? {}).map(([name, field]) => {
    const { description, examples, deprecated, ...schema } = schemas.of(field)
    return schemas.parameter(field, {
      name,
      in: 'query',
      required: ((query!.required ?? []) as string[]).includes(name),
      description,
      ...(deprecated && { deprecated }),
      schema,
      // Lists are separated by commas.
      ...(schema.type === 'array' && { style: 'form', explode: false }),
      ...(examples && { example: examples[0] }),
    })
  })
}

function requestHeaders(spec: Route, schemas: Schemas): JsonSchema[] {
  const names: string[] = []
  const guarded = isGuarded(spec)
  if (takesIdempotencyKey(spec)) names.push(spec.needsIdempotencyKey ? 'Idempotency-Key-Required' : 'Idempotency-Key')
  if (takesIfMatch(spec)) names.push('If-Match')
  if (spec.method === 'GET' && hasVersion(spec, schemas)) names.push('If-None-Match')
  if (spec.longPoll) names.push('Prefer')
  if (guarded) names.push('Bailiwick-Workspace')
  return names.map(name => ({ $ref: `#/components/parameters/${name}` }))
}

function requestBody(spec: Route, schemas: Schemas): JsonSchema {
  const schema = schemas.of(spec.body!)
  const body = { schema, example: schemas.exampleOf(schema) }
  return {
    // A missing body is treated as an empty one.
    required: (((spec.body as JsonSchema).required as string[] | undefined) ?? []).length > 0,
    content: { ...(spec.method === 'PATCH' && { 'application/merge-patch+json': body }), 'application/json': body },
  }
}

const textBody = ({ types, description }: NonNullable<Route['textBody']>, schemas: Schemas): JsonSchema => ({
  description,
  required: true,
  content: Object.fromEntries(
    Object.entries(types).map(([type, of]) => {
      if (typeof of === 'string') return [type, { schema: { type: 'string' }, example: of }]
      const schema = schemas.of(of)
      return [type, { schema, example: schemas.exampleOf(schema) }]
    }),
  ),
})

const anyBody = {
  description:
    'Any content, such as the output of the job. The first 100,000 bytes are stored (BAILIWICK_PING_BODY_LIMIT); the rest is discarded.',
  required: false,
  content: {
    'text/plain': { schema: { type: 'string' }, example: '2 files copied' },
    'application/octet-stream': { schema: {} },
  },
}

function success(spec: Route, schemas: Schemas): Record<string, JsonSchema> {
  const status = spec.status ?? 200
  const versioned = hasVersion(spec, schemas)
  const names = ['X-Request-Id', ...(spec.guard === 'ingest' ? [] : ['RateLimit-Policy', 'RateLimit'])]
  if (versioned) names.push('ETag')
  if (hasLocation(spec) && hasField(spec, schemas, 'id')) names.push('Location')
  if (spec.longPoll) names.push('Preference-Applied')
  const isDeprecated = deprecatedIn(spec).length > 0
  if (isDeprecated) names.push('Deprecation', 'Sunset')
  if (isDeprecated || hasField(spec, schemas, 'pagination')) names.push('Link')
  if (takesIdempotencyKey(spec)) names.push('Idempotent-Replayed')
  if (spec.headers) names.push('Set-Cookie')
  const headersOf = (some: string[]) => ({
    headers: Object.fromEntries(some.map(name => [name, { $ref: `#/components/headers/${name}` }])),
  })
  const responses: Record<string, JsonSchema> = { [status]: { description: outcomes[status], ...headersOf(names) } }
  if (spec.response && status !== 204) {
    const whole = schemas.of(spec.response)
    const schema = takesFields(spec) ? { anyOf: [whole, schemas.of(partialShape(spec.response))] } : whole
    responses[status]!.content = { 'application/json': { schema, example: schemas.exampleOf(whole) } }
  }
  if (spec.otherStatus) responses[spec.otherStatus.status] = otherSuccess(spec, spec.otherStatus, responses[status]!, schemas)
  if (spec.streams)
    responses[status]!.content = Object.fromEntries(
      Object.entries(spec.streams).map(([type, example]) =>
        type === 'application/json'
          ? [type, { schema: { type: 'object' }, example: JSON.parse(example) }]
          : [type, { schema: { type: 'string' }, example }],
      ),
    )
  if (spec.method === 'GET' && versioned)
    responses[304] = {
      description: 'The response would be the same as the one whose ETag is in If-None-Match.',
      ...headersOf(['X-Request-Id', 'RateLimit-Policy', 'RateLimit', 'ETag'].filter(name => names.includes(name))),
    }
  return responses
}

function otherSuccess(
  spec: Route,
  { status, response }: NonNullable<Route['otherStatus']>,
  first: JsonSchema,
  schemas: Schemas,
): JsonSchema {
  const { Location: _, ETag: etag, ...headers } = first.headers as Record<string, JsonSchema>
  const location = hasLocation({ ...spec, status }) && { Location: { $ref: '#/components/headers/Location' } }
  const described = { ...first, description: outcomes[status] }
  if (!response) return { ...described, headers: { ...headers, ...(etag && { ETag: etag }), ...location } }
  const schema = schemas.of(response)
  const content = { 'application/json': { schema, example: schemas.exampleOf(schema) } }
  return { ...described, headers: { ...headers, ...location }, content }
}

const outcomes: Record<number, string> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted. Any remaining work continues in the background.',
  204: 'Success, without a response body.',
  207: 'The result of each operation.',
}

/** Whether responses have an ETag: resources that can be updated have a version, and read-only resources an id. */
/** Whether responses have an ETag. The version of a program is a text. */
const hasVersion = (spec: Route, schemas: Schemas) =>
  spec.hasEtag ||
  fieldOf(spec, schemas, 'version')?.type === 'integer' ||
  (spec.method === 'GET' && hasField(spec, schemas, 'id'))

const hasField = (spec: Route, schemas: Schemas, name: string): boolean => fieldOf(spec, schemas, name) !== undefined

function fieldOf(spec: Route, schemas: Schemas, name: string): JsonSchema | undefined {
  if (!spec.response) return undefined
  const schema = schemas.resolve(schemas.of(spec.response))
  return schema.properties?.[name]
}

function header(description: string, example: unknown, required = false, type = 'string'): JsonSchema {
  return { description, ...(required && { required }), schema: { type }, example }
}
