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

/** A request that was made up. */
export interface Ask {
  operation: Operation
  method: string
  /** Path and query, as they go on the wire. */
  target: string
  headers: [name: string, value: string][]
  body: string | Uint8Array<ArrayBuffer> | null
  /** Whether all of it is as the document says: then only rules beyond the document can refuse it. */
  valid: boolean
  /** What is odd about it. */
  how: string
}

export const operationsOf = (document: JsonSchema): Operation[] =>
  Object.entries<JsonSchema>(document.paths).flatMap(([path, methods]) =>
    Object.entries<JsonSchema>(methods).map(([method, spec]) => ({ method: method.toUpperCase(), path, spec })),
  )

/** Makes up a request to an operation: a valid one, one whose body is broken, or one whose frame is. */
export function makeUp(draw: Draw, document: JsonSchema, known: Known, operation: Operation): Ask {
  const values = new SchemaValues(document, draw, known)
  const content = Object.entries<JsonSchema>(values.resolve(operation.spec.requestBody ?? {}).content ?? {})
  const ask: Ask = {
    operation,
    method: operation.method,
    target: pathOf(draw, operation, known) + queryOf(draw, values, operation),
    headers: [],
    body: null,
    valid: true,
    how: 'valid',
  }
  const kind = draw(fc.constantFrom('valid', 'valid', 'valid', 'body', 'body', 'frame', 'head', 'address'))
  const [type, media] = content.length > 0 ? draw(fc.constantFrom(...content)) : ['', null]
  if (media) {
    ask.headers.push(['content-type', type])
    const body = media.schema && /json/.test(type) ? values.body(media as never) : draw(hostileText)
    ask.body = typeof body === 'string' && !/json/.test(type) ? body : JSON.stringify(body)
    if (kind === 'body' && /json/.test(type)) {
      const broken = breakBody(draw, body)
      Object.assign(ask, { body: broken.text, how: broken.how, valid: false })
    }
  }
  if (kind === 'frame') oddly(draw, ask, frames)
  if (kind === 'head') oddly(draw, ask, heads)
  if (kind === 'address') oddly(draw, ask, addresses)
  return ask
}

function oddly(draw: Draw, ask: Ask, ways: Record<string, (ask: Ask, draw: Draw) => void>): void {
  ask.how = draw(fc.constantFrom(...Object.keys(ways)))
  ask.valid = false
  ways[ask.how]!(ask, draw)
}

const words = ['1', '0', 'start', 'fail', 'log', '255', 'nightly-backup', 'unlimited', 'monitor.alert']

// Parameters that answers tell under other names.
const toldAs: Record<string, string[]> = { target: ['uuid', 'ping_key'], suffix: ['slug'] }

function pathOf(draw: Draw, operation: Operation, known: Known): string {
  const collection = operation.path.slice(0, operation.path.indexOf('/{'))
  return operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const own = name === 'id' ? known.seen(collection) : (toldAs[name] ?? [name]).flatMap(one => known.seen(one))
    const from = draw(fc.integer({ min: 0, max: 9 }))
    if (own.length > 0 && from < 7) return encodeURIComponent(draw(fc.constantFrom(...own)))
    const others = [...known.seen('id'), ...known.seen('uuid'), ...words]
    return encodeURIComponent(from < 9 ? draw(fc.constantFrom(...others)) : draw(hostileText)) || '-'
  })
}

function queryOf(draw: Draw, values: SchemaValues, operation: Operation): string {
  const search = new URLSearchParams()
  for (const given of (operation.spec.parameters as JsonSchema[]) ?? []) {
    const parameter = values.resolve(given)
    if (parameter.in !== 'query' || (!parameter.required && draw(fc.nat(3)) > 0)) continue
    const value = values.of(parameter.schema, parameter.name)
    if (Array.isArray(value) && value.length === 0) continue
    search.set(parameter.name, String(value))
  }
  return search.size > 0 ? `?${search}` : ''
}

const set = (ask: Ask, name: string, ...of: string[]) => {
  ask.headers = [...ask.headers.filter(one => one[0] !== name), ...of.map(value => [name, value] as [string, string])]
}
const json = (ask: Ask, body: Ask['body']) => {
  ask.body = ask.method === 'GET' ? null : body
  if (!ask.headers.some(one => one[0] === 'content-type')) set(ask, 'content-type', 'application/json')
}

/** What can be odd about the body as it is sent. */
const frames: Record<string, (ask: Ask, draw: Draw) => void> = {
  'cut off': (ask, draw) => json(ask, (ask.body as string)?.slice(0, draw(fc.nat(20))) ?? '{'),
  empty: ask => json(ask, ''),
  'no object': (ask, draw) => json(ask, draw(fc.constantFrom('null', '[]', '"x"', '7', 'true', '[{}]', ' ', '{}{}', '{} x'))),
  'byte order mark': ask => json(ask, `\ufeff${ask.body ?? '{}'}`),
  'not UTF-8': ask => json(ask, new Uint8Array([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d])),
  'UTF-16': ask => json(ask, new Uint8Array(Buffer.from(String(ask.body ?? '{}'), 'utf16le'))),
  'too large': ask => json(ask, `{"name":"${'x'.repeat(1024 * 1024)}"}`),
  'media type': (ask, draw) => {
    json(ask, ask.body ?? '{}')
    const types = ['text/plain', 'application/xml', 'multipart/form-data; boundary=x', 'application/x-www-form-urlencoded']
    set(ask, 'content-type', draw(fc.constantFrom(...types, 'application/json; charset=latin1', 'json', '/', ';', ',')))
  },
  'no media type': ask => {
    // Bytes have none by themselves; a text is sent as text/plain.
    json(ask, new Uint8Array(Buffer.from(String(ask.body ?? '{}'))))
    set(ask, 'content-type')
  },
  encoding: (ask, draw) => {
    json(ask, ask.body ?? '{}')
    set(ask, 'content-encoding', draw(fc.constantFrom('gzip', 'br', 'identity', 'x', 'gzip, gzip', '')))
  },
  'body without need': ask => json(ask, '{"nonsense":1}'),
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

/** What can be odd about the method and the headers. */
const heads: Record<string, (ask: Ask, draw: Draw) => void> = {
  'junk in a header': (ask, draw) => set(ask, draw(fc.constantFrom(...headerNames)), draw(junk)),
  'a header twice': (ask, draw) => set(ask, draw(fc.constantFrom(...headerNames)), draw(junk), draw(junk)),
  'key used before': (ask, draw) => set(ask, 'idempotency-key', draw(fc.constantFrom('one', 'two'))),
  'many headers': ask => {
    for (let at = 0; at < 100; at++) ask.headers.push([`x-filler-${at}`, 'x'.repeat(60)])
  },
  'another method': (ask, draw) => {
    ask.method = draw(fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS'))
    if (ask.method === 'GET' || ask.method === 'HEAD') ask.body = null
  },
  'condition on anything': ask => set(ask, 'if-none-match', '*'),
}

/** What can be odd about the path and the query. */
const addresses: Record<string, (ask: Ask, draw: Draw) => void> = {
  'junk in the path': (ask, draw) => {
    const parts = ask.target.split('?')[0]!.split('/')
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
    ask.target = parts.join('/')
  },
  'slash at the end': ask => (ask.target = ask.target.replace(/(\?|$)/, '/$1')),
  'unknown parameter': (ask, draw) =>
    more(
      ask,
      draw(fc.constantFrom('nonsense=1', 'constructor=1', '__proto__=1', 'toString', '=', '&&', '[]=1', '%00=1', '%zz=%zz')),
    ),
  'parameter twice': ask => more(ask, ask.target.split('?')[1] || 'limit=1&limit=1'),
  'array of a parameter': (ask, draw) =>
    more(ask, draw(fc.constantFrom('limit[]=1', 'limit[0]=1', 'sort=id,id', 'sort=', 'sort=,,')))!,
  'junk in a parameter': (ask, draw) => {
    const name = draw(
      fc.constantFrom('limit', 'cursor', 'sort', 'include', 'q', 'created_at[gte]', 'status', 'format', 'rid', 'every'),
    )
    const cursors = ['AAAA', 'A'.repeat(999), '%', 'eyJ2IjpbXX0']
    const value = draw(
      fc.oneof(hostileText, fc.constantFrom(...cursors, '1e2', '0x10', ' 1', '1.0', '99999999999999999999', '\0', '-0')),
    )
    more(ask, `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
  },
  'token in the query': ask => more(ask, 'access_token=bw_live_nonsense'),
  'long query': ask => more(ask, `q=${'x'.repeat(6_000)}`),
}

const more = (ask: Ask, text: string) => {
  ask.target += (ask.target.includes('?') ? '&' : '?') + text
}
