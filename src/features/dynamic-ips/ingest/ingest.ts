import { type Static, type TSchema, Type } from '@sinclair/typebox'
import { Elysia, type AnyElysia } from 'elysia'
import { limiterOf, rateLimited } from '../../../access/limiter'
import type { RateVerdict } from '../../../access/rate-limits'
import { mediaTypeOf, readStart } from '../../../api/request-body'
import { area, route } from '../../../api/route'
import type { RouteInput } from '../../../api/route-declaration'
import { callerIp, callerUsesHttps, requestId, type Peer } from '../../../api/serve'
import type { Ctx } from '../../../core/ctx'
import type { Hub } from '../../../core/hub'
import { rateLimitKey } from '../../../core/net/address'
import { invalid } from '../../../core/problem'
import { Nullable, Shape, Words } from '../../../core/shapes'
import { fieldProblems } from '../../../core/validate'
import { answerOf } from './answers'
import { DynamicIpReceipt, receiptOf } from './answers/json'
import { maxHosts, type Dialect } from './call'
import { later, plainAnswer, type Answer } from './outcome'
import { decodePercent, maxCharacters, parsePairs, queryOf, type Pair } from './raw-query'
import { receiveReport, type IngestRequest } from './receive'

type Context = { request: Request; server: Peer | null; hub: Hub }
type Handler = (context: Context) => Answer | Promise<Answer>

const reportAs =
  (dialect: Dialect, offline = false): Handler =>
  context =>
    handleReport(context, () => dialect, offline)

/** The paths that clients have built in, with the responses that they expect. */
const clientPaths: Record<string, Handler> = {
  '/nic/update': reportAs('dyndns2'),
  '/v3/update': reportAs('dyndns2'),
  '/nic/delete': reportAs('dyndns2', true),
  '/api/update': reportAs('dynv6'),
  '/update': context => handleReport(context, dialectOf, false),
  '/update/:domains/:token': reportAs('duckdns'),
  '/update/:domains/:token/:ip': reportAs('duckdns'),
  // The page of Dyn, which clients search for the address.
  '/checkip': context =>
    handleAddress(context, 'text/html; charset=utf-8', address => `${checkPageStart}${address}</body></html>\r\n`),
  '/myip': context => handleAddress(context, 'text/plain; charset=utf-8', address => `${address}\n`),
}

const checkPageStart = '<html><head><title>Current IP Check</title></head><body>Current IP Address: '

export const dynamicIpClientRoutes: AnyElysia = Object.entries(clientPaths)
  .flatMap(([path, handler]) => [path, `${path}/`].map((form): [string, Handler] => [form, handler]))
  .reduce(
    (app: AnyElysia, [path, handler]) => app.all(path, context => respond(context, handler), { parse: 'none' }),
    new Elysia({ name: 'dynamic-ip-clients' }) as AnyElysia,
  )

/** Whether a path, as it was sent, is one that clients have built in. Some send a second slash at the start. */
export const isClientPath = (path: string): boolean =>
  /^\/+(?:(?:nic|v3|api)\/update|nic\/delete|update(?:\/[^/]*){0,3}|checkip|myip)\/?$/.test(path)

async function respond(of: unknown, handler: Handler): Promise<Response> {
  const context = of as Context
  const { method } = context.request
  // A program that previews links sends HEAD.
  if (method !== 'GET' && method !== 'POST')
    return responseOf(plainAnswer(405, 'Method not allowed. Allowed: GET, POST.\n', { Allow: 'GET, POST' }), method)
  return responseOf(await handler(context), method)
}

const responseOf = ({ status, body, headers }: Answer, method: string): Response =>
  new Response(method === 'HEAD' ? null : body, { status, headers })

async function handleReport(context: Context, dialectOf: (pairs: readonly Pair[]) => Dialect, offline: boolean): Promise<Answer> {
  const { request, server, hub } = context
  const query = parsePairs(queryOf(request.url))
  let dialect = dialectOf(query.pairs)
  try {
    const form = parsePairs(await formOf(request))
    dialect = dialectOf([...query.pairs, ...form.pairs])
    const outcome = await receiveReport(hub, {
      dialect,
      offline,
      path: pathPairs(request.url),
      query: query.pairs,
      form: form.pairs,
      tooLong: query.tooLong || form.tooLong,
      ...senderOf(request),
      address: callerIp(hub, request, server),
      https: callerUsesHttps(hub, request, server),
    })
    return answerOf(dialect, outcome)
  } catch (error) {
    hub.log.error({ err: error, request_id: requestId(request) }, 'a report of a dynamic IP client failed')
    return answerOf(dialect, unavailable)
  }
}

// Clients repeat their report after the next interval anyway.
const unavailable = later('', 60)

/** The path `/update` belongs to two dialects. */
const dialectOf = (pairs: readonly Pair[]): Dialect =>
  ['domains', 'token'].every(name => pairs.some(one => one[0] === name)) ? 'duckdns' : 'dyndns2'

/** The parameters in the path of DuckDNS: `/update/<domains>/<token>/<ip>`. */
function pathPairs(url: string): Pair[] {
  const path = url.slice(url.indexOf('/', url.indexOf('://') + 3)).split(/[?#]/, 1)[0]!
  const [, first, ...values] = path.split('/')
  if (first !== 'update') return []
  return values.flatMap((value, at): Pair[] => (value === '' ? [] : [[['domains', 'token', 'ip'][at]!, decodePercent(value)]]))
}

async function formOf(request: Request): Promise<string> {
  if (request.method !== 'POST' || !request.body || mediaTypeOf(request) !== 'application/x-www-form-urlencoded') return ''
  return new TextDecoder().decode(await readStart(request.body, maxCharacters + 1))
}

const senderOf = (request: Request): Pick<IngestRequest, 'userAgent' | 'authorization'> => ({
  userAgent: request.headers.get('user-agent'),
  authorization: request.headers.get('authorization'),
})

function handleAddress({ request, server, hub }: Context, type: string, body: (address: string) => string): Answer {
  const address = callerIp(hub, request, server)
  const verdict = countLookup(hub, address)
  if (verdict.allowed) return plainAnswer(200, body(address), { 'Content-Type': type })
  return answerOf('dyndns2', later('', verdict.retryAfterSeconds, true))
}

const countLookup = (hub: Hub, address: string): RateVerdict =>
  limiterOf(hub).take([{ name: 'dynamic-ip-address', key: rateLimitKey(address), quota: 60, windowSeconds: 60 }], hub.clock.now())

const authorization =
  'Requires the token of the source: as the password of Basic authentication, as a Bearer token, or as the parameter `token`. Limited ' +
  'to 120 requests a minute per source, and to six changes a minute for each address family.'

const token = Type.Optional(
  Type.String({ maxLength: 200, description: 'Token of the source, if it is not in the Authorization header.' }),
)
const text = (description: string) => Type.Optional(Type.String({ maxLength: 2000, description }))

const hostsNote =
  'Default: all hosts of the source. A report always updates all hosts, except that a host with an address of its own keeps it ' +
  'until a report that includes the host.'

const reportQuery = Shape({
  hostname: text(`Hosts to include in the response, separated by commas, at most ${maxHosts}. ${hostsNote}`),
  myip: text('IPv4 address, IPv6 address, or both, separated by a comma. `auto`: the address of the connection.'),
  ipv4: text(
    'IPv4 address. `auto`: the address of the connection, if it is an IPv4 address. `preserve`: keep it. `-`: remove it.',
  ),
  ipv6: text(
    'IPv6 address. `auto`: the address of the connection, if it is an IPv6 address. `preserve`: keep it. `-`: remove it.',
  ),
  prefix: text('IPv6 prefix with its length, from /48 to /64, such as `2001:db8:1::/56`. `-`: remove it.'),
  token,
})

const hosts = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 255 }), {
    maxItems: maxHosts,
    description: `Fully qualified names of the hosts to include in the response. ${hostsNote}`,
  }),
)
const reported = (what: string) =>
  Type.Optional(
    Nullable(Type.String({ minLength: 1, maxLength: 100 }), {
      description: `${what} Null removes it; if omitted, it stays the same.`,
    }),
  )

const ClientReport = Shape(
  {
    hosts,
    ipv4: reported('IPv4 address.'),
    ipv6: reported('IPv6 address.'),
    prefix6: reported('IPv6 prefix with its length, from /48 to /64, such as `2001:db8:1::/56`.'),
  },
  {
    $id: 'DynamicIpClientReport',
    description: 'Addresses that a client reports. Without any, the address of the connection is used.',
    examples: [{ hosts: ['office.example.com'], ipv4: '203.0.113.42' }],
  },
)
const ClientOffline = Shape(
  { hosts },
  {
    $id: 'DynamicIpClientOffline',
    description: 'The hosts to include in the response.',
    examples: [{}],
  },
)

const CallerAddress = Shape(
  {
    address: Type.String({ description: 'IP address of the connection.' }),
    family: Words(['ipv4', 'ipv6'], { description: 'Address family.' }),
  },
  {
    $id: 'CallerAddress',
    description: 'The IP address from which a request was sent.',
    examples: [{ address: '203.0.113.42', family: 'ipv4' }],
  },
)

const reportDescription = `Reports the current addresses of a dynamic IP source. The records of all its hosts are updated in the same transaction. ${authorization}`
const problems = ['invalid_token', 'validation_failed', 'overloaded'] as const

/** The same with JSON, under /v1. */
export const jsonReportRoutes: AnyElysia = area('dynamic-ip-reports', 'Ingest', [
  route({
    method: 'GET',
    path: '/v1/ingest/dynamic-ips/update',
    guard: 'ingest',
    action: 'dynamic_ip.report',
    operationId: 'reportAddressesByGet',
    summary: 'Report addresses (GET)',
    description: `${reportDescription} HEAD is not allowed.`,
    noHead: true,
    query: reportQuery,
    response: DynamicIpReceipt,
    problems,
    run: (ctx, asked) => receiveJson(ctx, asked, null, false),
  }),
  route({
    method: 'POST',
    path: '/v1/ingest/dynamic-ips/update',
    guard: 'ingest',
    action: 'dynamic_ip.report',
    operationId: 'reportAddresses',
    summary: 'Report addresses',
    description: reportDescription,
    query: Shape({ token }),
    body: ClientReport,
    // The handler checks the token first.
    envelope: Type.Unknown(),
    response: DynamicIpReceipt,
    problems,
    run: (ctx, asked) => receiveJson(ctx, asked, { schema: ClientReport, body: asked.body }, false),
  }),
  route({
    method: 'POST',
    path: '/v1/ingest/dynamic-ips/offline',
    guard: 'ingest',
    action: 'dynamic_ip.report',
    operationId: 'reportOffline',
    summary: 'Report that the addresses are gone',
    description: `Removes the IPv4 and IPv6 address of a dynamic IP source, and the records that have them. The IPv6 prefix is kept. ${authorization}`,
    query: Shape({ token }),
    body: ClientOffline,
    envelope: Type.Unknown(),
    response: DynamicIpReceipt,
    problems,
    run: (ctx, asked) => receiveJson(ctx, asked, { schema: ClientOffline, body: asked.body }, true),
  }),
  route({
    method: 'GET',
    path: '/v1/ingest/dynamic-ips/address',
    guard: 'ingest',
    operationId: 'getCallerAddress',
    summary: 'Get your IP address',
    description:
      'Returns the IP address from which the request was sent. No token required. Limited to 60 requests a minute per IP address.',
    response: CallerAddress,
    async run({ hub }, { ip }) {
      const verdict = countLookup(hub, ip)
      if (!verdict.allowed) throw rateLimited(verdict)
      return { address: ip, family: ip.includes(':') ? 'ipv6' : 'ipv4' }
    },
  }),
])

/** The parameters of a JSON body. */
function pairsOf({ hosts = [], ...values }: Static<typeof ClientReport>): Pair[] {
  const names = { ipv4: 'ipv4', ipv6: 'ipv6', prefix6: 'prefix' } as const
  const addresses = (['ipv4', 'ipv6', 'prefix6'] as const).flatMap((member): Pair[] =>
    values[member] === undefined ? [] : [[names[member], values[member] ?? '-']],
  )
  return hosts.length > 0 ? [['hostname', hosts.join(',')], ...addresses] : addresses
}

async function receiveJson(
  { hub }: Ctx,
  { request, ip, isHttps }: Pick<RouteInput<unknown, unknown>, 'request' | 'ip' | 'isHttps'>,
  sent: { schema: TSchema; body: Static<typeof ClientReport> } | null,
  offline: boolean,
): Promise<Static<typeof DynamicIpReceipt>> {
  const problems = sent ? fieldProblems(sent.schema, sent.body) : []
  const query = parsePairs(queryOf(request.url))
  const outcome = await receiveReport(hub, {
    dialect: 'json',
    offline,
    path: [],
    query: query.pairs,
    form: sent && problems.length === 0 ? pairsOf(sent.body) : [],
    tooLong: query.tooLong,
    validate() {
      if (problems.length > 0) throw invalid(problems)
    },
    ...senderOf(request),
    address: ip,
    https: isHttps,
  })
  return receiptOf(outcome)
}
