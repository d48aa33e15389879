import { createHash, createHmac, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { XMLParser } from 'fast-xml-parser'
import {
  compare,
  escapedName,
  nameServers,
  orderOf,
  Route53Zone,
  types,
  type Route53Change,
  type Route53Set,
} from './route53-zone'

/** A received request. */
export interface Route53Request {
  method: string
  /** Path below the API version, such as `/hostedzone`. */
  path: string
  query: URLSearchParams
  body: string
}

/**
 * Simulated failures of a request. `lost`: processed, then the connection closes without a response. `silent`: processed, but no
 * response ever comes. `dropped`: the connection closes before it is processed. `cut`: the response is truncated. `html`: a proxy
 * returns a page with status 502, `odd` with 200. `busy`: `PriorRequestNotComplete`.
 */
export type Route53Fault =
  'lost' | 'silent' | 'dropped' | 'cut' | 'html' | 'odd' | 'throttled' | 'busy' | 'denied' | 'unavailable'

/** The API of Route 53 for hosted zones and record sets, on a free local port. */
export class Route53Double {
  readonly accessKeyId = 'AKIAQNZGKIQY56JQ7WML'
  readonly secretAccessKey = `${randomBytes(20).toString('hex')}`
  /** Required if set. */
  sessionToken: string | null = null
  zones: Route53Zone[] = []
  readonly requests: Route53Request[] = []
  /** Chooses a failure for a request; null for none. */
  fault: (request: Route53Request) => Route53Fault | null | undefined = () => null
  /** Changes a list of record sets before it is paginated. */
  listed: (sets: Route53Set[], request: Route53Request) => Route53Set[] = sets => sets
  /** Called before a page of record sets is built. */
  beforePage: (request: Route53Request) => void = () => {}
  /** Changes a response body. */
  answered: (xml: string, request: Route53Request) => string = xml => xml
  /** The two forms of errors in a batch that AWS documents. */
  batchErrors: 'ErrorResponse' | 'InvalidChangeBatch' = 'ErrorResponse'
  /** Tokens of the rate limit, which are restored at 10 per second. */
  bucket = Infinity
  /** Milliseconds of any clock. */
  now: () => number = () => Date.now()
  #bucketAt = 0
  readonly #changes = new Map<string, number>()
  readonly #server = createServer((request, response) => void this.#serve(request, response))

  /** Value for `base_url`. */
  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as { port: number }).port}`
  }

  async start(): Promise<this> {
    await new Promise<void>(listening => this.#server.listen(0, '127.0.0.1', listening))
    return this
  }

  stop(): void {
    this.#server.close()
    this.#server.closeAllConnections()
  }

  zone(name: string, isPrivate = false): Route53Zone {
    const zone = new Route53Zone(
      `Z${randomBytes(10).toString('hex').toUpperCase()}`,
      name,
      randomBytes(8).toString('hex'),
      isPrivate,
    )
    this.zones.push(zone)
    return zone
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = []
    for await (const part of request) parts.push(part as Buffer)
    const body = Buffer.concat(parts).toString()
    const url = new URL(request.url!, 'http://double')
    const received = { method: request.method!, path: url.pathname.replace('/2013-04-01', ''), query: url.searchParams, body }
    this.requests.push(received)
    const fault = this.fault(received)
    if (fault === 'dropped') return void request.socket.destroy()
    const { status, xml, headers } = this.#answer(received, request, url, fault)
    if (fault === 'silent') return
    if (fault === 'lost') return void request.socket.destroy()
    if (fault === 'html' || fault === 'odd') {
      response.writeHead(fault === 'html' ? 502 : 200, { 'content-type': 'text/html' })
      return void response.end('<!DOCTYPE html><html><body>proxy</body></html>')
    }
    const text = this.answered(`<?xml version="1.0"?>\n${xml}`, received)
    response.writeHead(status, { 'content-type': 'text/xml', 'x-amzn-requestid': requestId, ...headers })
    response.end(fault === 'cut' ? text.slice(0, text.length >> 1) : text)
  }

  #answer(received: Route53Request, request: IncomingMessage, url: URL, fault: Route53Fault | null | undefined): Answer {
    try {
      this.#take()
      if (fault === 'throttled') throw throttled()
      if (fault === 'busy')
        throw new Refused(
          400,
          'PriorRequestNotComplete',
          'The request was rejected because Route 53 was still processing a prior request.',
        )
      if (fault === 'denied')
        throw new Refused(403, 'InvalidClientTokenId', 'The security token included in the request is invalid')
      if (fault === 'unavailable') throw new Refused(503, 'ServiceUnavailable', 'Service is unavailable.')
      this.#authenticate(request, url, received.body)
      return { headers: {}, ...this.#route(received) }
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      const { status, code, message, list } = error
      const xml =
        list && this.batchErrors === 'InvalidChangeBatch'
          ? root(
              'InvalidChangeBatch',
              el('Messages', list.map(one => el('Message', text(one))).join('')) + el('RequestId', requestId),
            )
          : root(
              'ErrorResponse',
              el('Error', el('Type', 'Sender') + el('Code', code) + el('Message', text(message))) + el('RequestId', requestId),
            )
      return { status, xml, headers: {} }
    }
  }

  #take(): void {
    if (this.bucket === Infinity) return
    this.bucket = Math.min(50, this.bucket + ((this.now() - this.#bucketAt) / 1000) * 10)
    this.#bucketAt = this.now()
    if (this.bucket < 1) throw throttled()
    this.bucket--
  }

  /** Signature Version 4. */
  #authenticate(request: IncomingMessage, url: URL, body: string): void {
    const { authorization = '', 'x-amz-date': date = '', 'x-amz-security-token': sessionToken } = request.headers
    if (!authorization) throw new Refused(403, 'MissingAuthenticationToken', 'Missing Authentication Token')
    const [, keyId, day, signedHeaders, signature] =
      /^AWS4-HMAC-SHA256 Credential=([A-Z0-9]+)\/(\d{8})\/us-east-1\/route53\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/.exec(
        authorization,
      ) ?? []
    if (!keyId) throw new Refused(403, 'IncompleteSignature', 'Authorization header is not complete.')
    if (keyId !== this.accessKeyId || (this.sessionToken !== null && sessionToken !== this.sessionToken))
      throw new Refused(403, 'InvalidClientTokenId', 'The security token included in the request is invalid.')
    const names = signedHeaders!.split(';')
    if (!names.includes('host') || !names.includes('x-amz-date'))
      throw new Refused(403, 'IncompleteSignature', 'Headers are not signed.')
    const canonical = [
      request.method,
      url.pathname.split('/').map(rfc3986).join('/'),
      [...url.searchParams]
        .map(([one, value]) => `${rfc3986(one)}=${rfc3986(value)}`)
        .sort()
        .join('&'),
      ...names.map(one => `${one}:${String(request.headers[one]).trim().replaceAll(/\s+/g, ' ')}`),
      '',
      signedHeaders,
      sha256(body),
    ].join('\n')
    const toSign = ['AWS4-HMAC-SHA256', date, `${day}/us-east-1/route53/aws4_request`, sha256(canonical)].join('\n')
    const key = [day!, 'us-east-1', 'route53', 'aws4_request'].reduce<string | Buffer>(
      (secret, part) => hmac(secret, part),
      `AWS4${this.secretAccessKey}`,
    )
    if (hmac(key, toSign).toString('hex') !== signature)
      throw new Refused(
        403,
        'SignatureDoesNotMatch',
        'The request signature we calculated does not match the signature you provided.',
      )
    const at = Date.parse(String(date).replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'))
    if (!(Math.abs(this.now() - at) < 300_000))
      throw new Refused(403, 'SignatureDoesNotMatch', `Signature expired: ${String(date)} is now earlier than the allowed time`)
  }

  #route(request: Route53Request): Omit<Answer, 'headers'> & Partial<Answer> {
    const { method, path, query } = request
    const [, kind, id, below] = path.split('/').map(decodeURIComponent)
    if (path === '/hostedzone' && method === 'GET') return { status: 200, xml: this.#zoneList(query) }
    if (path === '/hostedzone' && method === 'POST') return this.#createZone(request.body)
    if (path === '/hostedzonesbyname' && method === 'GET') return { status: 200, xml: this.#zonesByName(query) }
    if (kind === 'change' && method === 'GET') return { status: 200, xml: root('GetChangeResponse', this.#changeInfo(id!)) }
    if (path === '/healthcheck' && method === 'GET')
      return {
        status: 200,
        xml: root('ListHealthChecksResponse', el('HealthChecks', '') + el('IsTruncated', 'false') + el('MaxItems', '100')),
      }
    if (kind !== 'hostedzone' || !id) throw new Refused(404, 'UnknownOperationException', '')
    const zone = this.zones.find(one => one.id === id)
    if (!zone) throw new Refused(404, 'NoSuchHostedZone', `No hosted zone found with ID: ${id}`)
    if (below === undefined && method === 'GET')
      return { status: 200, xml: root('GetHostedZoneResponse', this.#shown(zone) + delegationSet) }
    if (below === undefined && method === 'DELETE') {
      if (zone.sets.length > 2)
        throw new Refused(
          400,
          'HostedZoneNotEmpty',
          'The specified hosted zone contains non-required resource record sets and so cannot be deleted.',
        )
      this.zones = this.zones.filter(one => one !== zone)
      return { status: 200, xml: root('DeleteHostedZoneResponse', this.#changed()) }
    }
    if (below === 'rrset' && method === 'GET') return { status: 200, xml: this.#setList(zone, request) }
    if (below === 'rrset' && method === 'POST') return { status: 200, xml: this.#changeSets(zone, request.body) }
    throw new Refused(404, 'UnknownOperationException', '')
  }

  #zoneList(query: URLSearchParams): string {
    const all = this.zones
    const start = query.get('marker') === null ? 0 : all.findIndex(one => one.id === query.get('marker'))
    if (start < 0) throw invalidInput('marker')
    const max = maxItems(query, 100)
    const next = all[start + max]
    return root(
      'ListHostedZonesResponse',
      el(
        'HostedZones',
        all
          .slice(start, start + max)
          .map(one => this.#shown(one))
          .join(''),
      ) +
        (query.has('marker') ? el('Marker', query.get('marker')!) : '') +
        el('IsTruncated', String(next !== undefined)) +
        (next ? el('NextMarker', next.id) : '') +
        el('MaxItems', String(max)),
    )
  }

  #zonesByName(query: URLSearchParams): string {
    const key = (name: string, id: string) => [...escapedName(name).split('.').toReversed(), ' ', id]
    const from = query.has('dnsname') ? key(query.get('dnsname')!, query.get('hostedzoneid') ?? '') : []
    const all = this.zones
      .filter(one => compare(key(one.name, one.id), from) >= 0)
      .toSorted((a, b) => compare(key(a.name, a.id), key(b.name, b.id)))
    const max = maxItems(query, 100)
    const next = all[max]
    return root(
      'ListHostedZonesByNameResponse',
      el(
        'HostedZones',
        all
          .slice(0, max)
          .map(one => this.#shown(one))
          .join(''),
      ) +
        (query.has('dnsname') ? el('DNSName', text(escapedName(query.get('dnsname')!))) : '') +
        el('IsTruncated', String(next !== undefined)) +
        (next ? el('NextDNSName', text(escapedName(next.name))) + el('NextHostedZoneId', next.id) : '') +
        el('MaxItems', String(max)),
    )
  }

  #createZone(body: string): Answer {
    const request = parsed(body, 'CreateHostedZoneRequest', ['Name', 'CallerReference', 'DelegationSetId', 'HostedZoneConfig'])
    const { Name, CallerReference, DelegationSetId } = request
    if (typeof Name !== 'string' || typeof CallerReference !== 'string' || CallerReference === '')
      throw invalidInput('CallerReference')
    if (DelegationSetId !== undefined && DelegationSetId !== 'N1PA6795SAMPLE')
      throw new Refused(400, 'NoSuchDelegationSet', 'The specified delegation set does not exist.')
    const name = escapedName(Name).slice(0, -1)
    if (!/^(?:(?:[a-z0-9_-]|\\\d{3})+\.)+[a-z0-9-]+$/.test(name))
      throw new Refused(400, 'InvalidDomainName', `${name} is not a valid domain name`)
    if (this.zones.some(one => one.callerReference === CallerReference))
      throw new Refused(
        409,
        'HostedZoneAlreadyExists',
        `A hosted zone has already been created with the specified caller reference.`,
      )
    const zone = new Route53Zone(`Z${randomBytes(10).toString('hex').toUpperCase()}`, name, CallerReference, false)
    this.zones.push(zone)
    const location = `https://route53.amazonaws.com/2013-04-01/hostedzone/${zone.id}`
    return {
      status: 201,
      xml: root('CreateHostedZoneResponse', this.#shown(zone) + this.#changed() + delegationSet),
      headers: { location },
    }
  }

  #setList(zone: Route53Zone, request: Route53Request): string {
    this.beforePage(request)
    const { query } = request
    for (const name of query.keys()) if (!['name', 'type', 'identifier', 'maxitems'].includes(name)) throw invalidInput(name)
    if (query.has('type') && !query.has('name')) throw invalidInput('type')
    if (query.has('identifier') && !query.has('type')) throw invalidInput('identifier')
    const from = query.has('name')
      ? orderOf({
          Name: escapedName(query.get('name')!),
          Type: query.get('type') ?? '',
          more: { SetIdentifier: query.get('identifier') ?? '' },
        })
      : []
    const max = maxItems(query, 300)
    const all = this.listed(zone.inOrder(), request).filter(one => compare(orderOf(one), from) >= 0)
    const next = all[max]
    return root(
      'ListResourceRecordSetsResponse',
      el('ResourceRecordSets', all.slice(0, max).map(shownSet).join('')) +
        el('IsTruncated', String(next !== undefined)) +
        (next ? el('NextRecordName', text(next.Name)) + el('NextRecordType', next.Type) : '') +
        (next?.more.SetIdentifier ? el('NextRecordIdentifier', next.more.SetIdentifier) : '') +
        el('MaxItems', String(max)),
    )
  }

  #changeSets(zone: Route53Zone, body: string): string {
    const { ChangeBatch } = parsed(body, 'ChangeResourceRecordSetsRequest', ['ChangeBatch'])
    const batch = strictly(ChangeBatch, ['Comment', 'Changes'])
    const changes = elements(batch.Changes, 'Change').map(changeOf)
    if (changes.length === 0) throw invalidInput('Changes')
    const weight = ({ action }: Route53Change) => (action === 'UPSERT' ? 2 : 1)
    const values = changes.flatMap(one => (one.set.values ?? []).map(value => ({ size: weight(one), value })))
    const total = values.reduce((sum, one) => sum + one.size, 0)
    if (total > 1000) throw invalidBatch([`Number of records limit of 1000 exceeded: the batch has ${total}.`])
    if (values.reduce((sum, one) => sum + one.size * one.value.length, 0) > 32_000)
      throw invalidBatch(['Number of characters of all Value elements exceeds the limit of 32000.'])
    const problems = zone.change(changes)
    if (problems.length > 0) throw invalidBatch(problems)
    return root('ChangeResourceRecordSetsResponse', this.#changed())
  }

  /** A new change, which takes a minute until all servers have it. */
  #changed(): string {
    const id = `C${randomBytes(8).toString('hex').toUpperCase()}`
    this.#changes.set(id, this.now())
    return this.#changeInfo(id)
  }

  #changeInfo(id: string): string {
    const at = this.#changes.get(id)
    if (at === undefined) throw new Refused(404, 'NoSuchChange', `Could not find resource with ID: ${id}`)
    const status = this.now() - at >= 60_000 ? 'INSYNC' : 'PENDING'
    return el('ChangeInfo', el('Id', `/change/${id}`) + el('Status', status) + el('SubmittedAt', new Date(at).toISOString()))
  }

  #shown({ id, name, callerReference, isPrivate, sets }: Route53Zone): string {
    return el(
      'HostedZone',
      el('Id', `/hostedzone/${id}`) +
        el('Name', text(escapedName(name))) +
        el('CallerReference', text(callerReference)) +
        el('Config', el('PrivateZone', String(isPrivate))) +
        el('ResourceRecordSetCount', String(sets.length)),
    )
  }
}

interface Answer {
  status: number
  xml: string
  headers: Record<string, string>
}

class Refused extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly list?: readonly string[],
  ) {
    super(message)
  }
}

const invalidBatch = (problems: readonly string[]) => new Refused(400, 'InvalidChangeBatch', `[${problems.join(', ')}]`, problems)
const invalidInput = (what: string) =>
  new Refused(400, 'InvalidInput', `1 validation error detected: ${what} failed to satisfy constraint`)
const throttled = () => new Refused(400, 'Throttling', 'Rate exceeded')

const namespace = 'https://route53.amazonaws.com/doc/2013-04-01/'
const requestId = 'a1b2c3d4-e5f6-11ea-b8b5-123456789abc'
const root = (name: string, xml: string): string => `<${name} xmlns="${namespace}">${xml}</${name}>`
const el = (name: string, xml: string): string => `<${name}>${xml}</${name}>`
const text = (value: string): string =>
  value.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

const delegationSet = el('DelegationSet', el('NameServers', nameServers.map(one => el('NameServer', one)).join('')))

function shownSet({ Name, Type, TTL, values, more }: Route53Set): string {
  return el(
    'ResourceRecordSet',
    el('Name', text(Name)) +
      el('Type', Type) +
      Object.entries(more)
        .map(([member, xml]) => el(member, xml))
        .join('') +
      (TTL === undefined ? '' : el('TTL', String(TTL))) +
      (values ? el('ResourceRecords', values.map(one => el('ResourceRecord', el('Value', text(one)))).join('')) : ''),
  )
}

type Parsed = Record<string, unknown>

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  htmlEntities: true,
  trimValues: false,
})

function parsed(body: string, name: string, members: readonly string[]): Parsed {
  let document: Parsed
  try {
    document = parser.parse(body, true) as Parsed
  } catch {
    throw new Refused(400, 'MalformedInput', 'Unable to parse the request')
  }
  const element = document[name] as Parsed | undefined
  if (!element || element['@xmlns'] !== namespace) throw new Refused(400, 'MalformedInput', 'Unexpected root element')
  return strictly(element, [...members, '@xmlns'])
}

/** An element with only these members; whitespace between them is ignored. */
function strictly(element: unknown, members: readonly string[]): Parsed {
  if (typeof element !== 'object' || element === null || Array.isArray(element)) throw invalidInput('element')
  for (const [name, value] of Object.entries(element)) {
    if (name === '#text' && /^\s*$/.test(String(value))) continue
    if (!members.includes(name)) throw new Refused(400, 'MalformedInput', `Unexpected element ${name}`)
  }
  return element as Parsed
}

const elements = (list: unknown, name: string): unknown[] => {
  const { [name]: found } = strictly(list ?? {}, [name])
  return found === undefined ? [] : Array.isArray(found) ? found : [found]
}

const routing = ['SetIdentifier', 'Weight', 'Region', 'Failover', 'MultiValueAnswer', 'HealthCheckId', 'TrafficPolicyInstanceId']
const structures = ['AliasTarget', 'GeoLocation']

function changeOf(listed: unknown): Route53Change {
  const { Action, ResourceRecordSet } = strictly(listed, ['Action', 'ResourceRecordSet'])
  const set = strictly(ResourceRecordSet, ['Name', 'Type', 'TTL', 'ResourceRecords', ...routing, ...structures])
  const { Name, Type, TTL, ResourceRecords } = set
  if (Action !== 'CREATE' && Action !== 'DELETE' && Action !== 'UPSERT') throw invalidInput('Action')
  if (typeof Name !== 'string' || Name.length > 1024 || typeof Type !== 'string' || !types.includes(Type))
    throw invalidInput('Type')
  const values =
    ResourceRecords === undefined
      ? undefined
      : elements(ResourceRecords, 'ResourceRecord').map(one => String(strictly(one, ['Value']).Value))
  const plain = TTL !== undefined && values !== undefined && values.length > 0
  if (!plain && set.AliasTarget === undefined && set.TrafficPolicyInstanceId === undefined)
    throw invalidInput('Expected exactly one of [AliasTarget, all of [TTL, and ResourceRecords], or TrafficPolicyInstanceId]')
  if (TTL !== undefined && !(/^\d{1,10}$/.test(String(TTL)) && Number(TTL) <= 2_147_483_647)) throw invalidInput('TTL')
  const more = Object.fromEntries([
    ...routing.filter(one => set[one] !== undefined).map(one => [one, text(String(set[one]))]),
    ...structures.filter(one => set[one] !== undefined).map(one => [one, xmlOf(set[one] as Parsed)]),
  ])
  return { action: Action, set: { Name: escapedName(Name), Type, ...(plain && { TTL: Number(TTL), values }), more } }
}

const xmlOf = (element: Parsed): string =>
  Object.entries(element)
    .filter(([name]) => name !== '#text')
    .map(([name, value]) => el(name, text(String(value))))
    .join('')

function maxItems(query: URLSearchParams, max: number): number {
  const wanted = query.get('maxitems') ?? String(max)
  if (!/^\d+$/.test(wanted) || Number(wanted) < 1) throw invalidInput('maxitems')
  return Math.min(Number(wanted), max)
}

const sha256 = (data: string): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string): Buffer => createHmac('sha256', key).update(data).digest()
const rfc3986 = (part: string): string =>
  encodeURIComponent(part).replaceAll(/[!'()*]/g, one => `%${one.charCodeAt(0).toString(16).toUpperCase()}`)
