import { isMade } from '../access/answer'
import { longestWaitSeconds } from '../access/long-poll'
import { deprecatedIn } from '../access/deprecations'
import type { Route } from '../access/route'
import { sentenceOf } from '../core/deprecation'
import type { JsonSchema, Schemas } from './openapi-schema'
import { errorResponses, isGuarded, takesIfMatch } from './openapi-problems'

/** Headers of answers, for `#/components/headers`. */
export const headers: Record<string, JsonSchema> = {
  'X-Request-Id': header('Id of the request; give it when you ask for help.', 'req_01jd8f3q7eeb9bv0w0r8c7hq2m', true),
  'RateLimit-Policy': header(
    'The limits that the request counts against: quota `q` in a window of `w` seconds.',
    '"token";q=600;w=60',
  ),
  RateLimit: header(
    'What is left of each limit: `r` requests, and `t` seconds until the quota is back. The scarcest comes first.',
    '"token";r=599;t=1',
  ),
  'Retry-After': header('Seconds to wait before trying again.', 2, false, 'integer'),
  ETag: header('Version of the resource; send it back as If-Match or If-None-Match.', '"3.k2f9x1"', true),
  Location: header('Path of what was made.', '/v1/tokens/tok_01jd8f3q7eeb9bv0w0r8c7hq2m', true),
  Link: header(
    'The next page, where there is one (RFC 8288), and the page that explains what is deprecated.',
    '</v1/tokens?cursor=Zm9v>; rel="next"',
  ),
  Deprecation: header('Since when something that the request used is deprecated (RFC 9745).', '@1801353600'),
  Sunset: header('When it may be gone (RFC 8594).', 'Mon, 31 Jan 2028 00:00:00 GMT'),
  'Idempotent-Replayed': header('Present when the answer is that of an earlier request with the same Idempotency-Key.', 'true'),
  'Preference-Applied': header('How long the request was ready to wait, in seconds (RFC 7240).', 'wait=30'),
  'Set-Cookie': header('The session cookie.', 'bailiwick=…; Path=/; HttpOnly; SameSite=Lax; Max-Age=2592000'),
  'WWW-Authenticate': header('How to authenticate (RFC 6750).', 'Bearer realm="bailiwick"'),
}

/** Headers of requests, for `#/components/parameters`. */
export const parameters: Record<string, JsonSchema> = {
  'Idempotency-Key': {
    name: 'Idempotency-Key',
    in: 'header',
    example: '8e03978e-40d5-43dd-bc93-6894a57f9324',
    schema: { type: 'string', minLength: 1, maxLength: 255, pattern: '^[\\x21-\\x7e]+$' },
    description:
      'Makes a retry safe: within 24 hours, a second request with the same key gets the answer of the first and does nothing.',
  },
  'If-Match': {
    name: 'If-Match',
    in: 'header',
    example: '"3.k2f9x1"',
    schema: { type: 'string' },
    description:
      'ETag of the version the edit starts from. The part before the dot counts; another version is answered with 412.',
  },
  'If-None-Match': {
    name: 'If-None-Match',
    in: 'header',
    example: '"3.k2f9x1"',
    schema: { type: 'string' },
    description: 'ETag of what is known already; when it still holds the answer is 304.',
  },
  Prefer: {
    name: 'Prefer',
    in: 'header',
    example: 'wait=30',
    schema: { type: 'string' },
    description: `\`wait=N\` (RFC 7240): rather wait up to N seconds, ${longestWaitSeconds} at most, than be answered with nothing new.`,
  },
  'Bailiwick-Workspace': {
    name: 'Bailiwick-Workspace',
    in: 'header',
    example: 'ws_01jd8f3q7eeb9bv0w0r8c7hq2m',
    schema: { type: 'string' },
    description:
      'With a session cookie: the workspace that is meant; the one last used when absent. A token has one workspace and ignores it.',
  },
  'Bailiwick-Csrf': {
    name: 'Bailiwick-Csrf',
    in: 'header',
    example: '1',
    schema: { type: 'string', const: '1' },
    description: 'Required with a session cookie, beside an Origin header that names this site. Not needed with a token.',
  },
}

/** An operation as @elysiajs/swagger collected it. */
export interface Collected {
  operationId: string
  tags: string[]
  parameters?: JsonSchema[]
}

/**
 * One operation of the document.
 * @param exampleId an identifier of the kind that stands in the path
 */
export function operation(spec: Route, collected: Collected, schemas: Schemas, exampleId: string | undefined): JsonSchema {
  return {
    operationId: collected.operationId,
    tags: collected.tags,
    summary: spec.summary,
    description: [spec.description, spec.deprecated && sentenceOf(spec.deprecated), guardSentence(spec), onceSentence(spec)]
      .filter(Boolean)
      .join('\n\n'),
    ...(spec.deprecated && { deprecated: true }),
    ...(spec.guard.includes('.') && { 'x-permission': spec.guard }),
    ...(spec.action && { 'x-audit-action': spec.action }),
    security: isGuarded(spec) ? [{ token: [] }, { session: [] }] : [],
    parameters: [
      ...(collected.parameters ?? []).filter(one => one.in === 'path').map(one => pathParameter(one.name as string, exampleId)),
      ...queryParameters(spec, schemas),
      ...requestHeaders(spec, schemas),
    ],
    ...(spec.body && { requestBody: requestBody(spec, schemas) }),
    ...(spec.rawBody && spec.method !== 'GET' && { requestBody: anyBody }),
    ...(spec.takes && { requestBody: textBody(spec.takes, schemas) }),
    responses: { ...success(spec, schemas), ...errorResponses(spec) },
  }
}

function guardSentence(spec: Route): string {
  switch (spec.guard) {
    case 'anyone':
      return 'Needs no credential.'
    case 'ingest':
      return 'Needs no login: who knows the address may call it. Its calls are counted for that address alone.'
    case 'signed_in':
      return 'Needs any valid credential.'
    case 'operator':
      return 'Needs an operator: a session of one, or a token with full access in the operator’s workspace.'
    default:
      return `Needs the permission \`${spec.guard}\`.`
  }
}

function onceSentence(spec: Route): string {
  if (!spec.once) return ''
  const names = spec.once.map(name => `\`${name}\``).join(' and ')
  return `A replay by Idempotency-Key leaves out ${names} and has \`secret_shown_before: true\` instead.`
}

function pathParameter(name: string, exampleId: string | undefined): JsonSchema {
  const isId = name === 'id' || name.endsWith('_id')
  return {
    name,
    in: 'path',
    required: true,
    schema: { type: 'string' },
    description: isId ? 'Identifier of the resource.' : `The \`${name}\` of the resource.`,
    ...(isId && exampleId && { example: exampleId }),
  }
}

function queryParameters(spec: Route, schemas: Schemas): JsonSchema[] {
  const query = spec.query as JsonSchema | undefined
  return Object.entries((query?.properties as Record<string, object>) ?? {}).map(([name, member]) => {
    const { description, examples, deprecated, ...schema } = schemas.of(member)
    return {
      name,
      in: 'query',
      required: ((query!.required ?? []) as string[]).includes(name),
      description,
      ...(deprecated && { deprecated }),
      schema,
      // Words are read apart at commas.
      ...(schema.type === 'array' && { style: 'form', explode: false }),
      ...(examples && { example: examples[0] }),
    }
  })
}

function requestHeaders(spec: Route, schemas: Schemas): JsonSchema[] {
  const names: string[] = []
  const guarded = isGuarded(spec)
  if (guarded && spec.method === 'POST') names.push('Idempotency-Key')
  if (takesIfMatch(spec)) names.push('If-Match')
  if (spec.method === 'GET' && hasVersion(spec, schemas)) names.push('If-None-Match')
  if (spec.waits) names.push('Prefer')
  if (guarded) names.push('Bailiwick-Workspace')
  if (guarded && spec.method !== 'GET') names.push('Bailiwick-Csrf')
  return names.map(name => ({ $ref: `#/components/parameters/${name}` }))
}

function requestBody(spec: Route, schemas: Schemas): JsonSchema {
  const schema = schemas.of(spec.body!)
  const body = { schema, example: schemas.exampleOf(schema) }
  return {
    // The door takes no body for an empty one.
    required: (((spec.body as JsonSchema).required as string[] | undefined) ?? []).length > 0,
    content: { ...(spec.method === 'PATCH' && { 'application/merge-patch+json': body }), 'application/json': body },
  }
}

const textBody = ({ types, description }: NonNullable<Route['takes']>, schemas: Schemas): JsonSchema => ({
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
  description: 'Anything, kept up to a limit.',
  required: false,
  content: {
    'text/plain': { schema: { type: 'string' }, example: '2 files copied' },
    'application/octet-stream': { schema: {} },
  },
}

function success(spec: Route, schemas: Schemas): Record<string, JsonSchema> {
  const status = spec.status ?? 200
  const guarded = isGuarded(spec)
  const versioned = hasVersion(spec, schemas)
  const names = ['X-Request-Id', ...(spec.guard === 'ingest' ? [] : ['RateLimit-Policy', 'RateLimit'])]
  if (versioned) names.push('ETag')
  if (isMade(spec) && hasMember(spec, schemas, 'id')) names.push('Location')
  if (spec.waits) names.push('Preference-Applied')
  const isDeprecated = deprecatedIn(spec).length > 0
  if (isDeprecated) names.push('Deprecation', 'Sunset')
  if (isDeprecated || hasMember(spec, schemas, 'pagination')) names.push('Link')
  if (guarded && spec.method === 'POST') names.push('Idempotent-Replayed')
  if (spec.headers) names.push('Set-Cookie')
  const told = (some: string[]) => ({
    headers: Object.fromEntries(some.map(name => [name, { $ref: `#/components/headers/${name}` }])),
  })
  const answers: Record<string, JsonSchema> = { [status]: { description: outcomes[status], ...told(names) } }
  if (spec.answer && status !== 204) {
    const schema = schemas.of(spec.answer)
    answers[status]!.content = { 'application/json': { schema, example: schemas.exampleOf(schema) } }
  }
  if (spec.otherStatus) answers[spec.otherStatus.status] = { ...answers[status], description: outcomes[spec.otherStatus.status] }
  if (spec.streams)
    answers[status]!.content = Object.fromEntries(
      Object.entries(spec.streams).map(([type, example]) =>
        type === 'application/json'
          ? [type, { schema: { type: 'object' }, example: JSON.parse(example) }]
          : [type, { schema: { type: 'string' }, example }],
      ),
    )
  if (spec.method === 'GET' && versioned)
    answers[304] = {
      description: 'Still as If-None-Match says.',
      ...told(['X-Request-Id', 'RateLimit-Policy', 'RateLimit', 'ETag']),
    }
  return answers
}

const outcomes: Record<number, string> = {
  200: 'Done.',
  201: 'Made.',
  202: 'Taken on; the work goes on in the background.',
  204: 'Done; nothing to say.',
  207: 'What became of each operation.',
}

/** A resource that can be edited has a version; one that is only read is known by its id. */
const hasVersion = (spec: Route, schemas: Schemas) =>
  hasMember(spec, schemas, 'version') || (spec.method === 'GET' && hasMember(spec, schemas, 'id'))

function hasMember(spec: Route, schemas: Schemas, name: string): boolean {
  if (!spec.answer) return false
  const answer = schemas.resolve(schemas.of(spec.answer))
  return answer.properties?.[name] !== undefined
}

function header(description: string, example: unknown, required = false, type = 'string'): JsonSchema {
  return { description, ...(required && { required }), schema: { type }, example }
}
