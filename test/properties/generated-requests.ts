import fc from 'fast-check'
import { breakBody, hostileText } from './broken-bodies'
import { SchemaValues, type Draw, type JsonSchema, type Known } from './schema-values'

/** An operation of the OpenAPI document. */
export interface Operation {
  method: string
  /** With parameters as `{id}`. */
  path: string
  spec: JsonSchema
}

/** A generated request. */
export interface GeneratedRequest {
  operation: Operation
  method: string
  /** Path and query, as sent. */
  target: string
  headers: [name: string, value: string][]
  body: string | Uint8Array<ArrayBuffer> | null
  /** Whether it matches the document, so that only rules beyond the document can reject it. */
  valid: boolean
  /** What is unusual about it. */
  variant: string
}

export const operationsOf = (document: JsonSchema): Operation[] =>
  Object.entries<JsonSchema>(document.paths).flatMap(([path, methods]) =>
    Object.entries<JsonSchema>(methods).map(([method, spec]) => ({ method: method.toUpperCase(), path, spec })),
  )

/** Generates a request to an operation: a valid one, or one with an invalid body, framing, headers or URL. */
export function generateRequest(draw: Draw, document: JsonSchema, known: Known, operation: Operation): GeneratedRequest {
  const values = new SchemaValues(document, draw, known)
  const content = Object.entries<JsonSchema>(values.resolve(operation.spec.requestBody ?? {}).content ?? {})
  const request: GeneratedRequest = {
    operation,
    method: operation.method,
    target: pathOf(draw, operation, known) + queryOf(draw, values, operation),
    headers: [],
    body: null,
    valid: true,
    variant: 'valid',
  }
  const kind = draw(fc.constantFrom('valid', 'valid', 'valid', 'body', 'body', 'frame', 'head', 'address'))
  const [type, media] = content.length > 0 ? draw(fc.constantFrom(...content)) : ['', null]
  if (media) {
    request.headers.push(['content-type', type])
    const body = media.schema && /json/.test(type) ? values.body(media as never) : draw(hostileText)
    request.body = typeof body === 'string' && !/json/.test(type) ? body : JSON.stringify(body)
    if (kind === 'body' && /json/.test(type)) {
      const broken = breakBody(draw, body)
      Object.assign(request, { body: broken.text, variant: broken.change, valid: false })
    }
  }
  if (kind === 'frame') vary(draw, request, frames)
  if (kind === 'head') vary(draw, request, heads)
  if (kind === 'address') vary(draw, request, addresses)
  return request
}

function vary(
  draw: Draw,
  request: GeneratedRequest,
  variants: Record<string, (request: GeneratedRequest, draw: Draw) => void>,
): void {
  request.variant = draw(fc.constantFrom(...Object.keys(variants)))
  request.valid = false
  variants[request.variant]!(request, draw)
}

const words = ['1', '0', 'start', 'fail', 'log', '255', 'nightly-backup', 'unlimited', 'monitor.alert']

// Path parameters that have other names in responses.
const responseFields: Record<string, string[]> = { target: ['uuid', 'ping_key'], suffix: ['slug'] }

function pathOf(draw: Draw, operation: Operation, known: Known): string {
  const collection = operation.path.slice(0, operation.path.indexOf('/{'))
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const own = name === 'id' ? known.seen(collection) : (responseFields[name] ?? [name]).flatMap(one => known.seen(one))
    const from = draw(fc.integer({ min: 0, max: 9 }))
    if (own.length > 0 && from < 7) return encodeURIComponent(draw(fc.constantFrom(...own)))
    const others = [...known.seen('id'), ...known.seen('uuid'), ...words]
    return encodeURIComponent(from < 9 ? draw(fc.constantFrom(...others)) : draw(hostileText)) || '-'
  })
}

function queryOf(draw: Draw, values: SchemaValues, operation: Operation): string {
  const search = new URLSearchParams()
  for (const entry of (operation.spec.parameters as JsonSchema[]) ?? []) {
    const parameter = values.resolve(entry)
    if (parameter.in !== 'query' || (!parameter.required && draw(fc.nat(3)) > 0)) continue
    const value = values.of(parameter.schema, parameter.name)
    if (Array.isArray(value) && value.length === 0) continue
    search.set(parameter.name, String(value))
  }
  return search.size > 0 ? `?${search}` : ''
}

const set = (request: GeneratedRequest, name: string, ...of: string[]) => {
  request.headers = [...request.headers.filter(one => one[0] !== name), ...of.map(value => [name, value] as [string, string])]
}
const json = (request: GeneratedRequest, body: GeneratedRequest['body']) => {
  request.body = request.method === 'GET' ? null : body
  if (!request.headers.some(one => one[0] === 'content-type')) set(request, 'content-type', 'application/json')
}

/** Variants of the body and its headers. */
const frames: Record<string, (request: GeneratedRequest, draw: Draw) => void> = {
  'cut off': (request, draw) => json(request, (request.body as string)?.slice(0, draw(fc.nat(20))) ?? '{'),
  empty: request => json(request, ''),
  'no object': (request, draw) =>
    json(request, draw(fc.constantFrom('null', '[]', '"x"', '7', 'true', '[{}]', ' ', '{}{}', '{} x'))),
  'byte order mark': request => json(request, `\ufeff${request.body ?? '{}'}`),
  'not UTF-8': request => json(request, new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
  'UTF-16': request => json(request, new Uint8Array(Buffer.from(String(request.body ?? '{}'), 'utf16le'))),
  'too large': request => json(request, `{"name":"${'x'.repeat(1024 * 1024)}"}`),
  'media type': (request, draw) => {
    json(request, request.body ?? '{}')
    const types = ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded']
    set(request, 'content-type', draw(fc.constantFrom(...types, 'application/json; charset=latin1', 'json', '/', ';', ',')))
  },
  'no media type': request => {
    // Bytes have no default content type, unlike strings, which are sent as text/plain.
    json(request, new Uint8Array(Buffer.from(String(request.body ?? '{}'))))
    set(request, 'content-type')
  },
  encoding: (request, draw) => {
    json(request, request.body ?? '{}')
    set(request, 'content-encoding', draw(fc.constantFrom('gzip', 'br', 'identity', 'x', 'gzip, gzip', '')))
  },
  'unexpected body': request => json(request, '{"nonsense":1}'),
}

const junk = fc.oneof(
  fc.constantFrom('', '*', '"', '""', '"1', 'W/"1"', '"1", "2"', '"999999999999999999999.x"', ',,,', 'null', '-1', 'wait=999999'),
  fc.string({
    unit: fc.integer({ min: 0x20, max: 0xff }).map(one => String.fromCharCode(one === 0x7f ? 0x20 : one)),
    maxLength: 60,
  }),
  fc.constant('x'.repeat(4_000)),
)
const headerNames = [
  'if-match',
  'if-none-match',
  'idempotency-key',
  'prefer',
  'bailiwick-workspace',
  'bailiwick-csrf',
  'x-request-id',
  'origin',
  'accept',
  'accept-language',
  'range',
  'expect',
  'x-forwarded-for',
  'forwarded',
  'cookie',
  'authorization',
  'user-agent',
  'x-http-method-override',
  'traceparent',
]

/** Variants of the method and headers. */
const heads: Record<string, (request: GeneratedRequest, draw: Draw) => void> = {
  'junk in a header': (request, draw) => set(request, draw(fc.constantFrom(...headerNames)), draw(junk)),
  'a header twice': (request, draw) => set(request, draw(fc.constantFrom(...headerNames)), draw(junk), draw(junk)),
  'key used before': (request, draw) => set(request, 'idempotency-key', draw(fc.constantFrom('one', 'two'))),
  'many headers': request => {
    for (let at = 0; at < 100; at++) request.headers.push([`x-filler-${at}`, 'x'.repeat(60)])
  },
  'another method': (request, draw) => {
    request.method = draw(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'))
    if (request.method === 'GET' || request.method === 'HEAD') request.body = null
  },
  'condition on anything': request => set(request, 'if-none-match', '*'),
}

/** Variants of the path and query. */
const addresses: Record<string, (request: GeneratedRequest, draw: Draw) => void> = {
  'junk in the path': (request, draw) => {
    const parts = request.target.split('?')[0]!.split('/')
    const at = draw(fc.integer({ min: 2, max: parts.length - 1 }))
    const odd = [
      '%00',
      '%zz',
      '%',
      '%2e%2e',
      '%2f',
      '..',
      '.',
      '',
      '%ff',
      '%ED%A0%80',
      '%252e',
      ';a=b',
      '*',
      '%0d%0aX:1',
      'constructor',
    ]
    parts[at] = draw(fc.constantFrom(...odd, `${parts[at]}%00`, `${parts[at]}%20`, 'x'.repeat(3_000)))
    request.target = parts.join('/')
  },
  'slash at the end': request => (request.target = request.target.replace(/(\?|$)/, '/$1')),
  'unknown parameter': (request, draw) =>
    more(
      request,
      draw(fc.constantFrom('nonsense=1', 'constructor=1', '__proto__=1', 'toString', '=', '&&', '[]=1', '%00=1', '%zz=%zz')),
    ),
  'parameter twice': request => more(request, request.target.split('?')[1] || 'limit=1&limit=1'),
  'array of a parameter': (request, draw) =>
    more(request, draw(fc.constantFrom('limit[]=1', 'limit[0]=1', 'sort=id,id', 'sort=', 'sort=,,')))!,
  'junk in a parameter': (request, draw) => {
    const name = draw(
      fc.constantFrom('limit', 'cursor', 'sort', 'include', 'q', 'created_at[gte]', 'status', 'format', 'rid', 'every'),
    )
    const cursors = ['AAAA', 'A'.repeat(999), '%', 'eyJ2IjpbXX0']
    const value = draw(
      fc.oneof(hostileText, fc.constantFrom(...cursors, '1e2', '0x10', ' 1', '1.0', '99999999999999999999', '\0', '-0')),
    )
    more(request, `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  },
  'token in the query': request => more(request, 'access_token=bw_live_nonsense'),
  'long query': request => more(request, `q=${'x'.repeat(6_000)}`),
}

const more = (request: GeneratedRequest, text: string) => {
  request.target += (request.target.includes('?') ? '&' : '?') + text
}
