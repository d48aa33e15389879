import { DnsFormatError } from '../../dns/format-error'
import { rdataOfText, textOf } from '../../dns/rdata'
import { isTypeName } from '../../dns/type-codes'

/** A record in the format of the API. */
interface ZoneRecord {
  content: string
  disabled: boolean
}
export interface Rrset {
  name: string
  type: string
  ttl: number
  records: ZoneRecord[]
  comments: { content: string; account: string; modified_at: number }[]
}
interface Zone {
  name: string
  kind: string
  soaEditApi: string
  rrsets: Map<string, Rrset>
}

/**
 * The HTTP API of a PowerDNS Authoritative Server 4.7 with its zones in memory. Responses are the same as those of the real
 * server.
 */
export interface PowerDns {
  apiKey: string
  zones: Map<string, Zone>
  /** Returns the error for an RRset to reject in addition to the server's own rules, or null to accept it. */
  rejects: (rrset: { name: string; type: string }) => string | null
  /** Changes a zone directly, without validation, as if edited on the server. Null values delete the RRset. */
  put(zone: string, name: string, type: string, ttl: number, values: string[] | null, more?: Partial<Rrset>): void
  /** Creates a zone directly, as if created on the server. */
  createZone(zone: string, nameservers: readonly string[]): void
  /** Handles a request. @param body of the request */
  handle(request: Request, body: string): Response
}

/** @param now ms UTC, for serials */
export function powerDns(apiKey: string, now: () => number): PowerDns {
  const server: PowerDns = {
    apiKey,
    zones: new Map(),
    rejects: () => null,
    put(zoneName, name, type, ttl, values, more = {}) {
      const zone = server.zones.get(zoneName)!
      const key = keyOf(name, type)
      if (values === null) zone.rrsets.delete(key)
      else {
        const records = values.map(content => ({ content, disabled: false }))
        zone.rrsets.set(key, { name, type, ttl, records, comments: [], ...more })
      }
      updateSerial(zone, now())
    },
    createZone: (name, nameservers) => void createZone(server, now(), { name, kind: 'Native', nameservers }),
    handle(request, body) {
      const url = new URL(request.url)
      if (request.headers.get('x-api-key') !== server.apiKey)
        return plain(401, 'Unauthorized', { 'www-authenticate': 'X-API-Key realm="PowerDNS"' })
      const prefix = '/api/v1/servers/localhost'
      if (!url.pathname.startsWith(prefix)) return plain(404, 'Not Found')
      return respond(server, now(), request.method, url.pathname.slice(prefix.length), url.searchParams, body)
    },
  }
  return server
}

function respond(server: PowerDns, now: number, method: string, path: string, query: URLSearchParams, body: string): Response {
  if (path === '' && method === 'GET')
    return Response.json({ type: 'Server', id: 'localhost', daemon_type: 'authoritative', version: '4.7.3' })
  if (path === '/zones' && method === 'GET') {
    const name = query.get('zone')
    const listed = [...server.zones.values()].filter(zone => name === null || zone.name === name.toLowerCase())
    return Response.json(listed.map(zone => zoneJson(zone, false)))
  }
  if (path === '/zones' && method === 'POST') return withErrors(() => createZone(server, now, parsed(body)))
  const zone = path.startsWith('/zones/')
    ? server.zones.get(nameOfId(decodeURIComponent(path.slice('/zones/'.length))))
    : undefined
  if (!zone) return plain(404, 'Not Found')
  if (method === 'GET') return Response.json(zoneJson(zone, query.get('rrsets') !== 'false'))
  if (method === 'PATCH') return withErrors(() => patchZone(server, now, zone, parsed(body)))
  return plain(405, 'Method Not Allowed')
}

function createZone(server: PowerDns, now: number, input: any): Response {
  rejectRelative(input.name)
  for (const one of input.nameservers ?? []) if (!one.endsWith('.')) throw new Rejected(`Nameserver is not canonical: '${one}'`)
  const name = input.name.toLowerCase()
  if (server.zones.has(name)) return plain(409, 'Conflict')
  const zone: Zone = { name, kind: input.kind, soaEditApi: input.soa_edit_api ?? 'DEFAULT', rrsets: new Map() }
  const records = [
    { content: `a.misconfigured.dns.server.invalid. hostmaster.${name} ${day(now)}01 10800 3600 604800 3600`, disabled: false },
  ]
  zone.rrsets.set(keyOf(name, 'SOA'), { name, type: 'SOA', ttl: 3600, records, comments: [] })
  const servers = (input.nameservers ?? []).map((content: string) => ({ content, disabled: false }))
  if (servers.length > 0) zone.rrsets.set(keyOf(name, 'NS'), { name, type: 'NS', ttl: 3600, records: servers, comments: [] })
  server.zones.set(name, zone)
  return Response.json(zoneJson(zone, true), { status: 201 })
}

/** Applies all changes or none, like the transaction of the real server. */
function patchZone(server: PowerDns, now: number, zone: Zone, { rrsets }: { rrsets: any[] }): Response {
  const draft = new Map(zone.rrsets)
  const seen = new Set<string>()
  for (const one of rrsets) {
    rejectRelative(one.name)
    if (!/^[a-z0-9_/.*-]+$/i.test(one.name))
      throw new Rejected(`Name '${one.name.replaceAll(' ', '\\032')}' contains unsupported characters`)
    if (!isTypeName(one.type)) throw new Rejected(`RRset ${one.name} IN ${one.type}: unknown type given`)
    const rejection = server.rejects(one)
    if (rejection !== null) throw new Rejected(rejection)
    const name = one.name.toLowerCase()
    const key = keyOf(name, one.type)
    if (seen.has(`${key} ${one.changetype}`))
      throw new Rejected(`Duplicate RRset ${one.name} IN ${one.type} with changetype: ${one.changetype}`)
    seen.add(`${key} ${one.changetype}`)
    if (one.changetype === 'DELETE') draft.delete(key)
    else if (one.changetype === 'REPLACE') replace(zone, draft, { ...one, name }, key)
    else throw new Rejected('Changetype not understood')
  }
  zone.rrsets = draft
  updateSerial(zone, now)
  return new Response(null, { status: 204 })
}

function replace(zone: Zone, draft: Map<string, Rrset>, one: any, key: string): void {
  const title = `RRset ${one.name} IN ${one.type}`
  if (one.name !== zone.name && !one.name.endsWith(`.${zone.name}`)) throw new Rejected(`${title}: Name is out of zone`)
  if (!Number.isInteger(one.ttl)) throw new Rejected("Key 'ttl' not an Integer or not present")
  const records: ZoneRecord[] = one.records.map(({ content, disabled }: any) => ({
    content: canonical(one.name, one.type, content),
    disabled: disabled ?? false,
  }))
  for (const [place, { content }] of records.entries())
    if (records.some((other, at) => at < place && other.content === content))
      throw new Rejected(`Duplicate record in ${title} with content "${content}"`)
  if (single.has(one.type) && records.length > 1) throw new Rejected(`${title} has more than one record`)
  for (const other of draft.values()) {
    if (other.name !== one.name || other.type === one.type) continue
    if (one.type === 'CNAME' || other.type === 'CNAME') throw new Rejected(`${title}: Conflicts with pre-existing RRset`)
  }
  const comments = one.comments ?? draft.get(key)?.comments ?? []
  if (records.length === 0) draft.delete(key)
  else draft.set(key, { name: one.name, type: one.type, ttl: one.ttl, records, comments })
}

const single = new Set(['CNAME', 'DNAME', 'SOA'])

/** Validates that a value has the canonical format of the server, which is the only one it accepts. Case is ignored. */
function canonical(name: string, type: string, content: string): string {
  const record = `Record ${name}/${type} '${content}'`
  let written: string
  try {
    written = serverFormat(textOf(type, rdataOfText(type, content, '.')))
  } catch (error) {
    if (error instanceof DnsFormatError)
      throw new Rejected(`${record}: Parsing record content (try 'pdnsutil check-zone'): ${error.message}`)
    throw error
  }
  if (written.toLowerCase() !== content.toLowerCase())
    throw new Rejected(`${record}: Not in expected format (parsed as '${written}')`)
  return content
}

// Where the canonical format of the real server differs from ours.
const serverFormat = (text: string): string => (text === '\\# 0' ? '\\# 0 ' : text.replaceAll(/\\([$()@;])(?=[^"]*$)/g, '$1'))

const keyOf = (name: string, type: string) => `${name.toLowerCase()} ${type}`
const nameOfId = (id: string): string => id.replaceAll('=2F', '/').toLowerCase()

/**
 * Updates the serial by the rules of `soa_edit_api` DEFAULT: the date and two digits, or the next number if that is not higher.
 */
function updateSerial(zone: Zone, now: number): void {
  const soa = zone.rrsets.get(keyOf(zone.name, 'SOA'))!
  const words = soa.records[0]!.content.split(' ')
  words[2] = String(Math.max(Number(words[2]) + 1, Number(`${day(now)}01`)))
  zone.rrsets.set(keyOf(zone.name, 'SOA'), { ...soa, records: [{ content: words.join(' '), disabled: false }] })
}

const day = (now: number) => new Date(now).toISOString().slice(0, 10).replaceAll('-', '')

function zoneJson(zone: Zone, whole: boolean) {
  const serial = Number(zone.rrsets.get(keyOf(zone.name, 'SOA'))!.records[0]!.content.split(' ')[2])
  const id = zone.name.replaceAll('/', '=2F')
  return {
    id,
    name: zone.name,
    kind: zone.kind,
    serial,
    edited_serial: serial,
    dnssec: false,
    soa_edit_api: zone.soaEditApi,
    url: `/api/v1/servers/localhost/zones/${id}`,
    ...(whole && { rrsets: [...zone.rrsets.values()] }),
  }
}

class Rejected extends Error {}

function withErrors(act: () => Response): Response {
  try {
    return act()
  } catch (error) {
    if (error instanceof SyntaxError) return plain(400, 'Bad Request')
    if (error instanceof Rejected) return Response.json({ error: error.message }, { status: 422 })
    throw error
  }
}

const parsed = (body: string): any => JSON.parse(body)

function rejectRelative(name: string): void {
  if (!name.endsWith('.')) throw new Rejected(`DNS Name '${name}' is not canonical`)
}

const plain = (status: number, text: string, headers: Record<string, string> = {}) =>
  new Response(text, { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers } })
