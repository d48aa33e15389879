import type { AccountCheck } from '../../../adapters/adapter'
import { X509Certificate } from 'node:crypto'
import { Type } from '@sinclair/typebox'
import { destination, secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { invalid, type FieldProblem } from '../../../core/problem'
import { grouped, Line, Prose, Words } from '../../../core/shapes'
import { absoluteOf, rrsetKey } from '../zones/names'
import { PowerDnsClient } from './power-dns-client'
import { applyBatch, batchesOf } from './power-dns-batches'
import { parseZoneResponse, type PowerDnsZone } from './power-dns-zone'
import { urlProblem } from '../../../adapters/json-http'
import {
  ProviderError,
  resultOf,
  type Caps,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderKind,
  type ProviderRrset,
  type ProviderZone,
  type AdapterContext,
  type UnsupportedRrset,
} from './provider'
import { sameRrset } from './same-rrset'
import { parseCreatedZone, parseZones } from './zone-listing'

const form = settingsForm({
  url: Line({
    ...destination,
    minLength: 1,
    maxLength: 2048,
    description:
      'URL of the PowerDNS webserver (`webserver-address`, `webserver-port`), http or https, without the path of the API.',
    examples: ['https://pdns.example.net:8081'],
  }),
  api_key: Type.String({
    ...secret,
    pattern: '^[\\x21-\\x7e]{1,512}$',
    'x-rule': 'must be 1 to 512 visible ASCII characters.',
    description: 'API key (`api-key` setting of PowerDNS).',
    examples: ['changeme-9f2c41'],
  }),
  ...grouped('Connection', {
    server_id: Type.Optional(
      Line({
        ...destination,
        minLength: 1,
        maxLength: 100,
        default: 'localhost',
        description: 'Server ID. Keep `localhost`, unless a proxy in front of PowerDNS uses other IDs.',
      }),
    ),
    zone_kind: Type.Optional(
      Words(['Native', 'Master'], {
        default: 'Native',
        description: 'Kind of new zones: `Native` for database replication, `Master` if PowerDNS notifies secondaries.',
      }),
    ),
    ca: Type.Optional(
      Prose({ ...destination, maxLength: 65_536, description: 'PEM certificates to trust instead of the public CAs.' }),
    ),
  }),
})
type Settings = SettingsOf<typeof form>

const caps: Caps = {
  unit: 'rrset',
  atomic: 'batch',
  // The API has no preconditions: the current state is compared right before writing.
  cas: 'none',
  unsupported: new Set(),
  ttl: { min: 0, max: 0x7fffffff },
  batchOps: 1000,
  rechunksTxt: false,
  alias: 'native',
  apexNs: 'rw',
}

/** PowerDNS Authoritative Server 4.7 and later, via its HTTP API (doc.powerdns.com/authoritative/http-api). */
export const powerDns: ProviderKind<Settings> = {
  kind: 'powerdns',
  title: 'PowerDNS Authoritative Server',
  ...form,
  caps,
  validate(settings) {
    const problems = [urlProblem('url', settings.url) ?? pathProblem(settings.url), caProblem(settings.ca)].filter(
      one => one !== null,
    )
    if (problems.length > 0) throw invalid(problems)
  },
  open: (settings, around) => new PowerDns(settings, around),
}

/** The API path is added automatically; a proxy may prepend another path. */
const pathProblem = (url: string): FieldProblem | null =>
  /\/api\/v\d+(?:\/servers.*)?\/*$/i.test(url)
    ? { pointer: '#/settings/url', code: 'format', detail: 'must not include the API path, such as /api/v1.' }
    : null

class PowerDns implements DnsProvider {
  readonly caps = caps
  readonly #client: PowerDnsClient

  constructor(
    private readonly settings: Settings,
    around: AdapterContext,
  ) {
    this.#client = new PowerDnsClient({ ...settings, server_id: settings.server_id ?? 'localhost' }, around)
  }

  async check(): Promise<AccountCheck> {
    const { daemon_type, version } = objectOf(await this.#client.get('', { totalMs: 15_000 }))
    if (daemon_type !== 'authoritative' || typeof version !== 'string')
      throw new ProviderError('invalid_response', 'This is not the API of a PowerDNS Authoritative Server.')
    const warnings = isOld(version) ? [`Version ${version.slice(0, 40)} is older than 4.7, the oldest supported version.`] : []
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
    const created = await this.#client.change('POST', '/zones', {
      name: `${name}.`,
      kind: this.settings.zone_kind ?? 'Native',
      nameservers: nameservers.map(one => absoluteOf('@', one.replace(/\.$/, ''))),
      // Otherwise API changes don't increase the serial, and secondaries don't see them.
      soa_edit_api: 'DEFAULT',
    })
    return parseCreatedZone(created)
  }

  async read(zone: ProviderZone) {
    const { rrsets, foreign, serial } = await this.#zone(zone)
    return { rrsets: [...rrsets.values()], foreign, serial }
  }

  findUnsupported({ name, type, ttl }: ProviderRrset): UnsupportedRrset[] {
    if (!/^(@|[a-z0-9_/.*-]+)$/.test(name))
      return [
        {
          name,
          type,
          detail: 'Apart from wildcards, PowerDNS supports only letters, digits, underscores, slashes, and hyphens in names.',
        },
      ]
    // It would accept a larger TTL, but serve 0 (RFC 2181 section 8).
    const fits = ttl >= caps.ttl.min && ttl <= caps.ttl.max
    return fits ? [] : [{ name, type, detail: `The TTL must be between ${caps.ttl.min} and ${caps.ttl.max}.` }]
  }

  async apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    const here = await this.#zone(zone, new Set(ops.map(rrsetKey)))
    if (here.isSecondary)
      return ops.map(op => resultOf(op, 'refused', 'The zone is a secondary zone at this server. Change it at its primary.'))
    const refused = this.#unsupportedAmong(ops) ?? staleAmong(ops, here)
    if (refused) return refused
    const results: OpResult[] = []
    const send = (rrsets: object[]) => this.#client.change('PATCH', pathOf(zone), { rrsets })
    for (const batch of batchesOf(ops, zone.name, here, caps.batchOps)) {
      const done = await applyBatch(batch, zone.name, here, send, results.length === 0)
      results.push(...done)
      if (done.some(one => one.outcome !== 'done')) break
    }
    return [...results, ...ops.slice(results.length).map(skipped)]
  }

  #unsupportedAmong(ops: readonly Op[]): OpResult[] | null {
    const details = ops.map(op => op.after && this.findUnsupported(op.after)[0]?.detail)
    if (!details.some(Boolean)) return null
    return ops.map((op, place) => {
      const detail = details[place]
      return detail ? resultOf(op, 'refused', detail) : skipped(op)
    })
  }

  async #zones(query: string): Promise<ProviderZone[]> {
    const listed = await this.#client.get(`/zones${query}`)
    if (!Array.isArray(listed)) throw new ProviderError('invalid_response', 'The response is not a list of zones.')
    return parseZones(listed)
  }

  async #zone(zone: ProviderZone, only?: ReadonlySet<string>): Promise<PowerDnsZone> {
    return await parseZoneResponse(objectOf(await this.#client.get(pathOf(zone))), zone.name, only)
  }
}

/** Results if the zone has changed since it was read: nothing is applied. Null otherwise. */
function staleAmong(ops: readonly Op[], here: PowerDnsZone): OpResult[] | null {
  const isStale = (op: Op) => !sameRrset(op.before, here.rrsets.get(rrsetKey(op)) ?? null)
  if (!ops.some(isStale)) return null
  return ops.map(op => (isStale(op) ? resultOf(op, 'stale', 'Changed at the server since it was read.') : skipped(op)))
}

const skipped = (op: Op): OpResult => resultOf(op, 'skipped')

// Zone ids of the server have their own escapes, such as `=2F` for a slash.
const pathOf = ({ name, ref }: ProviderZone): string => `/zones/${encodeURIComponent(ref ?? `${name}.`.replaceAll('/', '=2F'))}`

function objectOf(response: unknown): Record<string, unknown> {
  if (typeof response === 'object' && response !== null && !Array.isArray(response)) return response as Record<string, unknown>
  throw new ProviderError('invalid_response', 'The response is not a JSON object.')
}

/** Development versions have no number and count as new. */
function isOld(version: string): boolean {
  const [, major, minor] = /^(\d+)\.(\d+)/.exec(version) ?? []
  return major !== undefined && (Number(major) < 4 || (Number(major) === 4 && Number(minor) < 7))
}

function caProblem(pem: string | undefined): FieldProblem | null {
  // Certificates are shown to everyone who can view the provider.
  if (pem?.includes('PRIVATE KEY')) return { pointer: '#/settings/ca', code: 'format', detail: 'must not contain a private key.' }
  try {
    if (pem === undefined || new X509Certificate(pem).raw.byteLength > 0) return null
  } catch {
    // Reported below.
  }
  return { pointer: '#/settings/ca', code: 'format', detail: 'must be PEM certificates.' }
}
