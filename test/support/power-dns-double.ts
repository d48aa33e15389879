import { DnsFormatError } from '../../src/core/dns/format-error'
import { rdataOfText, textOf } from '../../src/core/dns/rdata'
import { isTypeName } from '../../src/core/dns/type-codes'

/** A record as the API has it. */
interface DoubleRecord {
  content: string
  disabled: boolean
}
interface DoubleRrset {
  name: string
  type: string
  ttl: number
  records: DoubleRecord[]
  comments: { content: string; account: string; modified_at: number }[]
}
interface DoubleZone {
  name: string
  kind: string
  soaEditApi: string
  rrsets: Map<string, DoubleRrset>
}

/** How an answer goes wrong: a status, no answer for good, a body that ends in the middle, or a connection that ends before any. */
export type Trouble =
  | { status: number; body?: string; headers?: Record<string, string> }
  | 'hang'
  | 'hang after doing it'
  | 'cut body'
  | 'cut connection'
  | 'cut connection after doing it'
  | 'half of the rrsets'
  /** So many rrsets, the SOA and the NS of the apex first, in an answer that is whole otherwise. */
  | { rrsets: number }
  | 'a gigabyte'

/** The HTTP API of a PowerDNS Authoritative Server 4.7 with its zones in memory. What it says is what the real one says. */
export interface PowerDnsDouble {
  url: string
  apiKey: string
  zones: Map<string, DoubleZone>
  /** Requests so far, such as `PATCH /zones/example.com.`. */
  asked: string[]
  /** What becomes of a request, when it is no answer; null for those that are answered as they should be. */
  trouble: (request: string) => Trouble | null | Promise<Trouble | null>
  /** What it says of an rrset that it does not take, beside its own rules; null for those that it takes. */
  refuses: (rrset: { name: string; type: string }) => string | null
  /** Changes a zone as somebody else: no rule is asked. Null values remove the rrset. */
  put(zone: string, name: string, type: string, ttl: number, values: string[] | null, more?: Partial<DoubleRrset>): void
  stop(): void
}

export function powerDnsDouble(apiKey = 'key-of-the-double'): PowerDnsDouble {
  const here: PowerDnsDouble = {
    url: '',
    apiKey,
    zones: new Map(),
    asked: [],
    trouble: () => null,
    refuses: () => null,
    put(zoneName, name, type, ttl, values, more = {}) {
      const zone = here.zones.get(zoneName)!
      const key = keyOf(name, type)
      if (values === null) zone.rrsets.delete(key)
      else {
        const records = values.map(content => ({ content, disabled: false }))
        zone.rrsets.set(key, { name, type, ttl, records, comments: [], ...more })
      }
      raiseSerial(zone)
    },
    stop: () => void server.stop(true),
  }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      const url = new URL(request.url)
      const path = url.pathname.replace(/^\/api\/v1/, '')
      const body = await request.text()
      const inServer = path.startsWith('/servers/localhost')
      const asked = `${request.method} ${path.replace('/servers/localhost', '')}`
      here.asked.push(asked)
      const trouble = await here.trouble(asked)
      if (trouble === 'hang') return await never()
      if (trouble === 'cut connection') return cutBefore()
      if (trouble !== null && typeof trouble === 'object' && 'status' in trouble)
        return new Response(trouble.body ?? `{"error": "trouble"}`, { status: trouble.status, headers: trouble.headers ?? {} })
      if (trouble === 'a gigabyte') return endless()
      if (request.headers.get('x-api-key') !== here.apiKey)
        return plain(401, 'Unauthorized', { 'www-authenticate': 'X-API-Key realm="PowerDNS"' })
      if (!inServer || !url.pathname.startsWith('/api/v1/')) return plain(404, 'Not Found')
      const answer = answered(here, request.method, path.slice('/servers/localhost'.length), url.searchParams, body)
      if (trouble === 'hang after doing it') return await never()
      if (trouble === 'cut connection after doing it') return cutBefore()
      if (trouble === 'cut body') return cutInside(await answer.text())
      if (trouble === 'half of the rrsets') return halved((await answer.json()) as { rrsets: unknown[] })
      if (trouble !== null && typeof trouble === 'object')
        return reduced((await answer.json()) as { rrsets: DoubleRrset[] }, trouble.rrsets)
      return answer
    },
  })
  here.url = `http://127.0.0.1:${server.port}`
  return here
}

function answered(here: PowerDnsDouble, method: string, path: string, query: URLSearchParams, body: string): Response {
  if (path === '' && method === 'GET')
    return Response.json({ type: 'Server', id: 'localhost', daemon_type: 'authoritative', version: '4.7.3' })
  if (path === '/zones' && method === 'GET') {
    const named = query.get('zone')
    const listed = [...here.zones.values()].filter(zone => named === null || zone.name === named.toLowerCase())
    return Response.json(listed.map(zone => zoneJson(zone, false)))
  }
  if (path === '/zones' && method === 'POST') return judged(() => made(here, parsed(body)))
  const zone = path.startsWith('/zones/') ? here.zones.get(nameOfId(decodeURIComponent(path.slice('/zones/'.length)))) : undefined
  if (!zone) return plain(404, 'Not Found')
  if (method === 'GET') return Response.json(zoneJson(zone, query.get('rrsets') !== 'false'))
  if (method === 'PATCH') return judged(() => patched(here, zone, parsed(body)))
  return plain(405, 'Method Not Allowed')
}

function made(here: PowerDnsDouble, given: any): Response {
  refuseRelative(given.name)
  for (const one of given.nameservers ?? []) if (!one.endsWith('.')) throw new Refused(`Nameserver is not canonical: '${one}'`)
  const name = given.name.toLowerCase()
  if (here.zones.has(name)) return plain(409, 'Conflict')
  const zone: DoubleZone = { name, kind: given.kind, soaEditApi: given.soa_edit_api ?? 'DEFAULT', rrsets: new Map() }
  const records = [
    { content: `a.misconfigured.dns.server.invalid. hostmaster.${name} ${today()}01 10800 3600 604800 3600`, disabled: false },
  ]
  zone.rrsets.set(keyOf(name, 'SOA'), { name, type: 'SOA', ttl: 3600, records, comments: [] })
  const servers = (given.nameservers ?? []).map((content: string) => ({ content, disabled: false }))
  if (servers.length > 0) zone.rrsets.set(keyOf(name, 'NS'), { name, type: 'NS', ttl: 3600, records: servers, comments: [] })
  here.zones.set(name, zone)
  return Response.json(zoneJson(zone, true), { status: 201 })
}

/** All of it or nothing, as the transaction of the real one. */
function patched(here: PowerDnsDouble, zone: DoubleZone, { rrsets }: { rrsets: any[] }): Response {
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
  raiseSerial(zone)
  return new Response(null, { status: 204 })
}

function replace(zone: DoubleZone, draft: Map<string, DoubleRrset>, one: any, key: string): void {
  const title = `RRset ${one.name} IN ${one.type}`
  if (one.name !== zone.name && !one.name.endsWith(`.${zone.name}`)) throw new Refused(`${title}: Name is out of zone`)
  if (!Number.isInteger(one.ttl)) throw new Refused("Key 'ttl' not an Integer or not present")
  const records: DoubleRecord[] = one.records.map(({ content, disabled }: any) => ({
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
function raiseSerial(zone: DoubleZone): void {
  const soa = zone.rrsets.get(keyOf(zone.name, 'SOA'))!
  const words = soa.records[0]!.content.split(' ')
  words[2] = String(Math.max(Number(words[2]) + 1, Number(`${today()}01`)))
  zone.rrsets.set(keyOf(zone.name, 'SOA'), { ...soa, records: [{ content: words.join(' '), disabled: false }] })
}

const today = () => new Date().toISOString().slice(0, 10).replaceAll('-', '')

function zoneJson(zone: DoubleZone, whole: boolean) {
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

const never = () => new Promise<never>(() => {})

// A stream that fails ends its connection; what it fails with would be printed.
const cutInside = (text: string) =>
  new Response(
    new ReadableStream({
      async pull(controller) {
        controller.enqueue(text.slice(0, Math.floor(text.length / 2)))
        await Bun.sleep(1)
        controller.error(undefined)
      },
    }),
    { headers: { 'content-type': 'application/json' } },
  )

/** Ends the connection in place of an answer. */
export const cutBefore = () => new Response(new ReadableStream({ start: controller => controller.error(undefined) }))

const halved = (zone: { rrsets: unknown[] }) => {
  const soaFirst = zone.rrsets.toSorted((a, b) => Number((b as any).type === 'SOA') - Number((a as any).type === 'SOA'))
  return Response.json({ ...zone, rrsets: soaFirst.slice(Math.ceil(soaFirst.length / 2)) })
}

const reduced = (zone: { rrsets: DoubleRrset[] }, kept: number) => {
  const first = (one: DoubleRrset) => ['SOA', 'NS'].indexOf(one.type) + 1 || 3
  return Response.json({ ...zone, rrsets: zone.rrsets.toSorted((a, b) => first(a) - first(b)).slice(0, kept) })
}

function endless(): Response {
  const chunk = new Uint8Array(1024 * 1024).fill(32)
  let left = 1024
  return new Response(
    new ReadableStream({
      pull(controller) {
        if (left-- > 0) controller.enqueue(chunk)
        else controller.close()
      },
    }),
  )
}
