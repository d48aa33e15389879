import { X509Certificate } from 'node:crypto'
import { Type, type Static } from '@sinclair/typebox'
import { invalid, type FieldProblem } from '../../../core/problem'
import { Line, Prose, Shape, Words } from '../../../core/shapes'
import { absoluteOf } from '../zone-names'
import { PowerDnsClient } from './power-dns-client'
import { applyBatch, batchesOf } from './power-dns-batches'
import { zoneOfAnswer, type PowerDnsZone } from './power-dns-zone'
import { urlProblem } from './json-http'
import {
  ProviderError,
  type Caps,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderCheck,
  type ProviderKind,
  type ProviderRrset,
  type ProviderZone,
  type Surroundings,
  type Unfit,
} from './provider'
import { sameRrset, stepKey } from './same-rrset'
import { zoneMade, zonesTold } from './zone-told'

const settings = Shape({
  url: Line({
    minLength: 1,
    maxLength: 2048,
    description:
      'Address of the webserver of PowerDNS (`webserver-address`, `webserver-port`), http or https, without `/api/v1`.',
    examples: ['https://pdns.example.net:8081'],
  }),
  server_id: Type.Optional(
    Line({
      minLength: 1,
      maxLength: 100,
      default: 'localhost',
      description: 'The server behind that address. PowerDNS itself knows `localhost` alone.',
    }),
  ),
  api_key: Type.String({
    pattern: '^[\\x21-\\x7e]{1,512}$',
    'x-rule': 'must be of 1 to 512 visible ASCII characters.',
    description: 'The `api-key` of PowerDNS.',
    examples: ['changeme-9f2c41'],
  }),
  zone_kind: Type.Optional(
    Words(['Native', 'Master'], {
      default: 'Native',
      description:
        'Kind of zones that are made: `Native` where databases are replicated, `Master` where PowerDNS notifies secondaries.',
    }),
  ),
  ca: Type.Optional(
    Prose({ maxLength: 65_536, description: 'PEM certificates that are trusted in place of the public authorities.' }),
  ),
})
type Settings = Static<typeof settings>

const caps: Caps = {
  unit: 'rrset',
  atomic: 'batch',
  // The API has no conditions: what is there is compared a moment before it is written.
  cas: 'none',
  unsupported: new Set(),
  ttl: { min: 0, max: 0x7fffffff },
  batchOps: 1000,
  rechunksTxt: false,
  alias: 'native',
  apexNs: 'rw',
}

/** PowerDNS Authoritative Server 4.7 and later, by its HTTP API (doc.powerdns.com/authoritative/http-api). */
export const powerDns: ProviderKind<Settings> = {
  kind: 'powerdns',
  title: 'PowerDNS Authoritative Server',
  settings,
  secrets: ['api_key'],
  destination: ['url', 'server_id', 'ca'],
  caps,
  refuse(given) {
    const problems = [urlProblem('url', given.url) ?? pathProblem(given.url), caProblem(given.ca)].filter(one => one !== null)
    if (problems.length > 0) throw invalid(problems)
  },
  open: (given, around) => new PowerDns(given, around),
}

/** The path of the API is the same at every server; a proxy may have it below another. */
const pathProblem = (url: string): FieldProblem | null =>
  /\/api\/v\d+(?:\/servers.*)?\/*$/i.test(url)
    ? { pointer: '#/settings/url', code: 'format', detail: 'must be without the path of the API, such as /api/v1.' }
    : null

class PowerDns implements DnsProvider {
  readonly caps = caps
  readonly #client: PowerDnsClient

  constructor(
    private readonly given: Settings,
    around: Surroundings,
  ) {
    this.#client = new PowerDnsClient({ ...given, server_id: given.server_id ?? 'localhost' }, around)
  }

  async check(): Promise<ProviderCheck> {
    const { daemon_type, version } = objectOf(await this.#client.get('', { totalMs: 15_000 }))
    if (daemon_type !== 'authoritative' || typeof version !== 'string')
      throw new ProviderError('invalid_answer', 'What answers there is not the API of a PowerDNS Authoritative Server.')
    const warnings = isOld(version) ? [`Version ${version.slice(0, 40)} is older than 4.7, the first that this is made for.`] : []
    return { detail: `PowerDNS ${version.slice(0, 40)}`, warnings }
  }

  listZones(): Promise<ProviderZone[]> {
    return this.#zones('?dnssec=false')
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    const found = await this.#zones(`?dnssec=false&zone=${encodeURIComponent(`${name}.`)}`)
    return found.find(zone => zone.name === name) ?? null
  }

  async createZone(name: string, nameservers: readonly string[]): Promise<ProviderZone> {
    const made = await this.#client.change('POST', '/zones', {
      name: `${name}.`,
      kind: this.given.zone_kind ?? 'Native',
      nameservers: nameservers.map(one => absoluteOf('@', one.replace(/\.$/, ''))),
      // Without, edits over the API would leave the serial, and secondaries would not see them.
      soa_edit_api: 'DEFAULT',
    })
    return zoneMade(made)
  }

  async read(zone: ProviderZone) {
    const { rrsets, serial } = await this.#zone(zone)
    return { rrsets: [...rrsets.values()], serial }
  }

  unfit({ name, type, ttl }: ProviderRrset): Unfit[] {
    if (!/^(@|[a-z0-9_/.*-]+)$/.test(name))
      return [{ name, type, detail: 'PowerDNS takes names of letters, digits, underscores, slashes and hyphens alone.' }]
    // It would take a greater one, and serve it as none (RFC 2181 section 8).
    const fits = ttl >= caps.ttl.min && ttl <= caps.ttl.max
    return fits ? [] : [{ name, type, detail: `A TTL must be from ${caps.ttl.min} to ${caps.ttl.max}.` }]
  }

  async apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    const here = await this.#zone(zone, new Set(ops.map(stepKey)))
    if (here.isSecondary)
      return ops.map(op => ({
        name: op.name,
        type: op.type,
        outcome: 'refused',
        detail: 'The zone is a secondary there: edit it at its primary.',
      }))
    const refused = this.#unfitAmong(ops) ?? staleAmong(ops, here)
    if (refused) return refused
    const results: OpResult[] = []
    const send = (rrsets: object[]) => this.#client.change('PATCH', pathOf(zone), { rrsets })
    for (const batch of batchesOf(ops, zone.name, here, caps.batchOps)) {
      const done = await applyBatch(batch, zone.name, here, send, results.length === 0)
      results.push(...done)
      if (done.some(one => one.outcome !== 'done')) break
    }
    return [...results, ...ops.slice(results.length).map(left)]
  }

  #unfitAmong(ops: readonly Op[]): OpResult[] | null {
    const details = ops.map(op => op.after && this.unfit(op.after)[0]?.detail)
    if (!details.some(Boolean)) return null
    return ops.map((op, place) => {
      const detail = details[place]
      return detail ? { name: op.name, type: op.type, outcome: 'refused', detail } : left(op)
    })
  }

  async #zones(query: string): Promise<ProviderZone[]> {
    const listed = await this.#client.get(`/zones${query}`)
    if (!Array.isArray(listed)) throw new ProviderError('invalid_answer', 'The list of zones is not a list.')
    return zonesTold(listed)
  }

  async #zone(zone: ProviderZone, only?: ReadonlySet<string>): Promise<PowerDnsZone> {
    return await zoneOfAnswer(objectOf(await this.#client.get(pathOf(zone))), zone.name, only)
  }
}

/** Where what was read is not there any more, the results of a plan of which nothing is done; else null. */
function staleAmong(ops: readonly Op[], here: PowerDnsZone): OpResult[] | null {
  const isStale = (op: Op) => !sameRrset(op.before, here.rrsets.get(stepKey(op)) ?? null)
  if (!ops.some(isStale)) return null
  return ops.map(op =>
    isStale(op)
      ? { name: op.name, type: op.type, outcome: 'stale', detail: 'It was changed at the server since it was read.' }
      : left(op),
  )
}

const left = ({ name, type }: Op): OpResult => ({ name, type, outcome: 'left' })

// The server's id of a zone has its own escapes, `=2F` for a slash.
const pathOf = ({ name, ref }: ProviderZone): string => `/zones/${encodeURIComponent(ref ?? `${name}.`.replaceAll('/', '=2F'))}`

function objectOf(answer: unknown): Record<string, unknown> {
  if (typeof answer === 'object' && answer !== null && !Array.isArray(answer)) return answer as Record<string, unknown>
  throw new ProviderError('invalid_answer', 'The answer is not an object.')
}

/** Development versions have no number, and are taken for new. */
function isOld(version: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return major !== undefined && (Number(major) < 4 || (Number(major) === 4 && Number(minor) < 7))
}

function caProblem(pem: string | undefined): FieldProblem | null {
  // Certificates are shown to all who may see the provider.
  if (pem?.includes('PRIVATE KEY')) return { pointer: '#/settings/ca', code: 'format', detail: 'must not hold a private key.' }
  try {
    if (pem === undefined || new X509Certificate(pem).raw.byteLength > 0) return null
  } catch {
    // It is told below, as what holds nothing is.
  }
  return { pointer: '#/settings/ca', code: 'format', detail: 'must be certificates in PEM.' }
}
