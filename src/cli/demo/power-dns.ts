import { DnsFormatError } from '../../core/dns/format-error'
import { rdataOfText, textOf } from '../../core/dns/rdata'
import { isTypeName } from '../../core/dns/type-codes'

/** A record as the API has it. */
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
export interface Zone {
  name: string
  kind: string
  soaEditApi: string
  rrsets: Map<string, Rrset>
}

/** The HTTP API of a PowerDNS Authoritative Server 4.7 with its zones in memory. What it says is what the real one says. */
export interface PowerDns {
  apiKey: string
  zones: Map<string, Zone>
  /** What it says of an rrset that it does not take, beside its own rules; null for those that it takes. */
  refuses: (rrset: { name: string; type: string }) => string | null
  /** Changes a zone as somebody else: no rule is asked. Null values remove the rrset. */
  put(zone: string, name: string, type: string, ttl: number, values: string[] | null, more?: Partial<Rrset>): void
  /** Makes a zone as somebody else. */
  make(zone: string, nameservers: readonly string[]): void
  /** Answers a request. @param body as it came */
  answer(request: Request, body: string): Response
}

/** @param now ms UTC, for serials */
export function powerDns(apiKey: string, now: () => number): PowerDns {
  const here: PowerDns = {
    apiKey,
    zones: new Map(),
    refuses: () => null,
    put(zoneName, name, type, ttl, values, more = {}) {
      const zone = here.zones.get(zoneName)!
      const key = keyOf(name, type)
      if (values === null) zone.rrsets.delete(key)
      else {
        const records = values.map(content => ({ content, disabled: false }))
        zone.rrsets.set(key, { name, type, ttl, records, comments: [], ...more })
      }
      raiseSerial(zone, now())
    },
    make: (name, nameservers) => void made(here, now(), { name, kind: 'Native', nameservers }),
    answer(request, body) {
      const url = new URL(request.url)
      if (request.headers.get('x-api-key') !== here.apiKey)
        return plain(401, 'Unauthorized', { 'www-authenticate': 'X-API-Key realm="PowerDNS"' })
      const server = '/api/v1/servers/localhost'
      if (!url.pathname.startsWith(server)) return plain(404, 'Not Found')
      return answered(here, now(), request.method, url.pathname.slice(server.length), url.searchParams, body)
    },
  }
  return here
}

function answered(here: PowerDns, now: number, method: string, path: string, query: URLSearchParams, body: string): Response {
  if (path === '' && method === 'GET')
    return Response.json({ type: 'Server', id: 'localhost', daemon_type: 'authoritative', version: '4.7.3' })
  if (path === '/zones' && method === 'GET') {
    const named = query.get('zone')
    const listed = [...here.zones.values()].filter(zone => named === null || zone.name === named.toLowerCase())
    return Response.json(listed.map(zone => zoneJson(zone, false)))
  }
  if (path === '/zones' && method === 'POST') return judged(() => made(here, now, parsed(body)))
  const zone = path.startsWith('/zones/') ? here.zones.get(nameOfId(decodeURIComponent(path.slice('/zones/'.length)))) : undefined
  if (!zone) return plain(404, 'Not Found')
  if (method === 'GET') return Response.json(zoneJson(zone, query.get('rrsets') !== 'false'))
  if (method === 'PATCH') return judged(() => patched(here, now, zone, parsed(body)))
  return plain(405, 'Method Not Allowed')
}

function made(here: PowerDns, now: number, given: any): Response {
  refuseRelative(given.name)
  for (const one of given.nameservers ?? []) if (!one.endsWith('.')) throw new Refused(`Nameserver is not canonical: '${one}'`)
  const name = given.name.toLowerCase()
  if (here.zones.has(name)) return plain(409, 'Conflict')
  const zone: Zone = { name, kind: given.kind, soaEditApi: given.soa_edit_api ?? 'DEFAULT', rrsets: new Map() }
  const records = [
    { content: `a.misconfigured.dns.server.invalid. hostmaster.${name} ${day(now)}01 10800 3600 604800 3600`, disabled: false },
  ]
  zone.rrsets.set(keyOf(name, 'SOA'), { name, type: 'SOA', ttl: 3600, records, comments: [] })
  const servers = (given.nameservers ?? []).map((content: string) => ({ content, disabled: false }))
  if (servers.length > 0) zone.rrsets.set(keyOf(name, 'NS'), { name, type: 'NS', ttl: 3600, records: servers, comments: [] })
  here.zones.set(name, zone)
  return Response.json(zoneJson(zone, true), { status: 201 })
}

/** All of it or nothing, as the transaction of the real one. */
function patched(here: PowerDns, now: number, zone: Zone, { rrsets }: { rrsets: any[] }): Response {
  const draft = new Map(zone.rrsets)
  const seen = new Set<string>()
  for (const one of rrsets) {
    refuseRelative(one.name)
    if (!/^[a-z0-9_/.*-]+$/i.test(one.name))
      throw new Refused(`Name '${one.name.replaceAll(' ', '\\032')}' contains unsupported characters`)
    if (!isTypeName(one.type)) throw new Refused(`RRset ${one.name} IN ${one.type}: unknown type given`)
    const refused = here.refuses(one)
    if (refused !== null) throw new Refused(refused)
    const name = one.name.toLowerCase()
    const key = keyOf(name, one.type)
    if (seen.has(`${key} ${one.changetype}`))
      throw new Refused(`Duplicate RRset ${one.name} IN ${one.type} with changetype: ${one.changetype}`)
    seen.add(`${key} ${one.changetype}`)
    if (one.changetype === 'DELETE') draft.delete(key)
    else if (one.changetype === 'REPLACE') replace(zone, draft, { ...one, name }, key)
    else throw new Refused('Changetype not understood')
  }
  zone.rrsets = draft
  raiseSerial(zone, now)
  return new Response(null, { status: 204 })
}

function replace(zone: Zone, draft: Map<string, Rrset>, one: any, key: string): void {
  const title = `RRset ${one.name} IN ${one.type}`
  if (one.name !== zone.name && !one.name.endsWith(`.${zone.name}`)) throw new Refused(`${title}: Name is out of zone`)
  if (!Number.isInteger(one.ttl)) throw new Refused("Key 'ttl' not an Integer or not present")
  const records: ZoneRecord[] = one.records.map(({ content, disabled }: any) => ({
    content: canonical(one.name, one.type, content),
    disabled: disabled ?? false,
  }))
  for (const [place, { content }] of records.entries())
    if (records.some((other, at) => at < place && other.content === content))
      throw new Refused(`Duplicate record in ${title} with content "${content}"`)
  if (single.has(one.type) && records.length > 1) throw new Refused(`${title} has more than one record`)
  for (const other of draft.values()) {
    if (other.name !== one.name || other.type === one.type) continue
    if (one.type === 'CNAME' || other.type === 'CNAME') throw new Refused(`${title}: Conflicts with pre-existing RRset`)
  }
  const comments = one.comments ?? draft.get(key)?.comments ?? []
  if (records.length === 0) draft.delete(key)
  else draft.set(key, { name: one.name, type: one.type, ttl: one.ttl, records, comments })
}

const single = new Set(['CNAME', 'DNAME', 'SOA'])

/** The value as the server would write it, in which alone it takes one: of the case of letters it thinks nothing. */
function canonical(name: string, type: string, content: string): string {
  const record = `Record ${name}/${type} '${content}'`
  let written: string
  try {
    written = spelled(textOf(type, rdataOfText(type, content, '.')))
  } catch (error) {
    if (error instanceof DnsFormatError)
      throw new Refused(`${record}: Parsing record content (try 'pdnsutil check-zone'): ${error.message}`)
    throw error
  }
  if (written.toLowerCase() !== content.toLowerCase())
    throw new Refused(`${record}: Not in expected format (parsed as '${written}')`)
  return content
}

// Where the real one writes otherwise than a zone file of ours would.
const spelled = (text: string): string => (text === '\\# 0' ? '\\# 0 ' : text.replaceAll(/\\([$()@;])(?=[^"]*$)/g, '$1'))

const keyOf = (name: string, type: string) => `${name.toLowerCase()} ${type}`
const nameOfId = (id: string): string => id.replaceAll('=2F', '/').toLowerCase()

/** What a zone is under `soa_edit_api` DEFAULT: the date and two digits, or one more where that is no progress. */
function raiseSerial(zone: Zone, now: number): void {
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

class Refused extends Error {}

function judged(act: () => Response): Response {
  try {
    return act()
  } catch (error) {
    if (error instanceof SyntaxError) return plain(400, 'Bad Request')
    if (error instanceof Refused) return Response.json({ error: error.message }, { status: 422 })
    throw error
  }
}

const parsed = (body: string): any => JSON.parse(body)

function refuseRelative(name: string): void {
  if (!name.endsWith('.')) throw new Refused(`DNS Name '${name}' is not canonical`)
}

const plain = (status: number, text: string, headers: Record<string, string> = {}) =>
  new Response(text, { status, headers: { 'content-type': 'text/plain; charset=utf-8', ...headers } })
