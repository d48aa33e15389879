import { isDeepStrictEqual } from 'node:util'
import { Type } from '@sinclair/typebox'
import type { AccountCheck } from '../../../adapters/adapter'
import { readCursorPages } from '../../../adapters/cursor-pages'
import { mayHaveApplied } from '../../../adapters/failure'
import { secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { xmlText } from '../../../adapters/xml'
import { newUuid4 } from '../../../core/ids'
import { grouped } from '../../../core/shapes'
import { flatMapInTurns } from '../../../core/time-slices'
import { catchFormatError } from '../../../dns/format-error'
import { isObject } from '../../../dns/octets'
import { rrsetKey } from '../zones/names'
import { apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import {
  ProviderError,
  resultOf,
  skippedBy,
  type AdapterContext,
  type Caps,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderKind,
  type ProviderRrset,
  type ProviderZone,
  type Snapshot,
  type UnsupportedRrset,
} from './provider'
import { accountOfKey } from './route53-account'
import { Route53Client, Route53Refusal } from './route53-client'
import {
  absoluteName,
  apiName,
  apiValue,
  listOf,
  recordsOfSets,
  unsupportedAtRoute53,
  unsupportedTypes,
  type ApiRecordSet,
} from './route53-records'
import { rejectedOps } from './route53-rejections'
import { sameRrset } from './same-rrset'
import { batchesWithin, halvesOf } from './steps-by-name'

const publicApi = 'https://route53.amazonaws.com'

const credential = { pattern: '^[\\x21-\\x7e]+$', 'x-rule': 'must be printable ASCII without spaces.', writeOnly: true }

const form = settingsForm({
  access_key_id: Type.String({
    minLength: 16,
    maxLength: 128,
    pattern: '^[A-Z0-9]+$',
    'x-rule': 'must be uppercase letters and digits.',
    description: 'Access key ID of an IAM user with access to Route 53.',
    examples: ['AKIAIOSFODNN7EXAMPLE'],
  }),
  secret_access_key: Type.String({
    ...secret,
    ...credential,
    minLength: 16,
    maxLength: 200,
    description: 'Secret access key. Stored encrypted.',
  }),
  ...grouped('Connection', {
    session_token: Type.Optional(
      Type.String({
        ...secret,
        ...credential,
        minLength: 16,
        maxLength: 2048,
        description: 'Session token of temporary credentials, which expire. Stored encrypted.',
      }),
    ),
    delegation_set_id: Type.Optional(
      Type.String({
        maxLength: 32,
        pattern: '^[A-Z0-9]+$',
        'x-rule': 'must be uppercase letters and digits.',
        description: 'Reusable delegation set for new zones, so that they have the same name servers.',
        examples: ['N1PA6795SAMPLE'],
      }),
    ),
    base_url: baseUrl(publicApi),
  }),
})
type Route53Settings = SettingsOf<typeof form>

// Route 53, Maximums on ChangeResourceRecordSets requests.
const maxElements = 1000
const maxCharacters = 32_000

const caps: Caps = {
  unit: 'rrset',
  atomic: 'batch',
  cas: 'exact',
  unsupported: unsupportedTypes,
  ttl: { min: 0, max: 2_147_483_647 },
  batchOps: 1000,
  // Route 53, Quotas on records.
  recordsMax: 400,
  rechunksTxt: false,
  alias: 'expand',
  apexNs: 'rw',
  // An account has five requests per second (Route 53, Maximum API requests); others use it too.
  pace: { perSecond: 4, burst: 20 },
}

/** Public hosted zones at Amazon Route 53, via its API (docs.aws.amazon.com/Route53/latest/APIReference). */
export const route53: ProviderKind<Route53Settings> = {
  kind: 'route53',
  title: 'Amazon Route 53',
  ...form,
  caps,
  validate: validateBaseUrl,
  open: (settings, around) => new Route53(settings, around),
}

class Route53 implements DnsProvider {
  readonly caps = caps
  readonly #client: Route53Client
  /** Values that Route 53 formats differently, by zone and `rrsetKey`, as last read. */
  readonly #spellings = new Map<string, Map<string, { rrset: ProviderRrset; texts: string[] }>>()

  constructor(
    private readonly settings: Route53Settings,
    private readonly around: AdapterContext,
  ) {
    this.#client = new Route53Client({ ...settings, base_url: apiUrl(settings, publicApi) }, around)
  }

  async check(): Promise<AccountCheck> {
    const { zones, next } = await this.#zonePage({})
    const { access_key_id, session_token } = this.settings
    const account = accountOfKey(access_key_id)
    const count = next ? `more than ${zones.length}` : zones.length
    return {
      detail:
        `Amazon Route 53${account === null ? '' : ` account ${account}`}, access key ${access_key_id}: ` +
        `${count} public hosted ${zones.length === 1 && !next ? 'zone' : 'zones'}`,
      warnings: session_token === undefined ? [] : ['Temporary credentials expire. Use an access key of an IAM user instead.'],
    }
  }

  async listZones(): Promise<ProviderZone[]> {
    const { rows: zones } = await readCursorPages<Query, ProviderZone>(this.around.clock, {}, async query => {
      const page = await this.#zonePage(query)
      return { rows: page.zones, next: page.next }
    })
    if (new Set(zones.map(one => one.ref)).size < zones.length) throw incomplete('the list of hosted zones has one twice')
    return zones
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    // Zones are listed from this name on, those with the same name first.
    const query = { dnsname: apiName('@', name), maxitems: String(zonesPerPage) }
    const page = await this.#client.get('/hostedzonesbyname', query, 'ListHostedZonesByNameResponse')
    const found = publicZonesOf(page).filter(zone => zone.name === name)
    if (found.length > 1)
      throw new ProviderError(
        'refused',
        `There are ${found.length} public hosted zones named ${name} in the account: ${found.map(one => one.ref).join(', ')}. Delete all but one.`,
      )
    return found[0] ?? null
  }

  async createZone(name: string): Promise<ProviderZone> {
    const { delegation_set_id } = this.settings
    const body =
      element('Name', apiName('@', name)) +
      element('CallerReference', `bailiwick ${newUuid4()}`) +
      (delegation_set_id === undefined ? '' : element('DelegationSetId', delegation_set_id))
    const created = await this.#client.post('/hostedzone', 'CreateHostedZoneRequest', body, 'CreateHostedZoneResponse')
    const zone = zoneOf(created.HostedZone)
    if (zone?.name !== name) throw invalidFormat('has no created zone')
    return zone
  }

  async read(zone: ProviderZone): Promise<Snapshot> {
    const { sets, pages } = await this.#sets(zone)
    // A record set that moved from a later page to an earlier one would be missing.
    if (pages > 1 && (await this.#count(zone)) !== sets.length && !(await areSame((await this.#sets(zone)).sets, sets)))
      throw incomplete('the zone changed while it was read')
    const parts = await flatMapInTurns(sets, set => [recordsOfSets([set], zone.name)])
    if (!parts.some(one => one.hasSoa)) throw incomplete('the zone has no SOA record')
    const spellings = await flatMapInTurns(
      parts.flatMap(({ rrsets, texts }) => rrsets.map(rrset => ({ rrset, texts: texts.get(rrset)! }))),
      one => (one.rrset.values.some((value, place) => apiValue(one.rrset.type, value) !== one.texts[place]) ? [one] : []),
    )
    this.#spellings.set(String(zone.ref), new Map(spellings.map(one => [rrsetKey(one.rrset), one])))
    return { rrsets: parts.flatMap(one => one.rrsets), foreign: parts.flatMap(one => one.foreign) }
  }

  async #sets(zone: ProviderZone): Promise<{ sets: ApiRecordSet[]; pages: number }> {
    const { rows: sets, pages } = await readCursorPages<Query, ApiRecordSet>(this.around.clock, {}, async query => {
      const page = await this.#client.get(
        `${pathOf(zone)}/rrset`,
        { ...query, maxitems: String(setsPerPage) },
        'ListResourceRecordSetsResponse',
      )
      return {
        rows: listOf(page.ResourceRecordSets, 'ResourceRecordSet').filter(isObject),
        next: nextOf(page, { name: 'NextRecordName', type: 'NextRecordType' }, { identifier: 'NextRecordIdentifier' }),
      }
    })
    if (new Set(sets.map(identityOf)).size < sets.length) throw incomplete('the zone has a record set twice')
    return { sets, pages }
  }

  async #count(zone: ProviderZone): Promise<number> {
    const { HostedZone } = await this.#client.get(pathOf(zone), {}, 'GetHostedZoneResponse')
    return isObject(HostedZone) ? Number(HostedZone.ResourceRecordSetCount) : NaN
  }

  findUnsupported(rrset: ProviderRrset): UnsupportedRrset[] {
    return unsupportedAtRoute53(rrset)
  }

  /**
   * Applies batches one after another, each atomically. A step deletes the record set exactly as it was read and creates the new one,
   * so that the batch fails if it has changed. Stops at the first batch that fails.
   */
  async apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    const changes = new Map(ops.map(op => [op, this.#changeOf(zone, op)]))
    const limits = [
      { max: maxElements, sizeOf: (op: Op) => changes.get(op)!.elements },
      { max: maxCharacters, sizeOf: (op: Op) => changes.get(op)!.characters },
    ]
    const results: OpResult[] = []
    for (const batch of batchesWithin(ops, limits)) {
      const isTooLarge = limits.some(({ max, sizeOf }) => sizeOf(batch[0]!) > max)
      if (results.some(one => one.outcome !== 'done')) results.push(...batch.map(skipped))
      else if (isTooLarge) results.push(...batch.map(op => resultOf(op, 'refused', tooLarge)))
      else results.push(...(await this.#batch(zone, batch, changes, results.length === 0)))
    }
    return results
  }

  /** @param isFirst nothing was applied before, so errors can be thrown */
  async #batch(
    zone: ProviderZone,
    ops: readonly Op[],
    changes: ReadonlyMap<Op, ChangeXml>,
    isFirst: boolean,
  ): Promise<OpResult[]> {
    const body = element('ChangeBatch', element('Changes', ops.map(op => changes.get(op)!.xml).join(''), true), true)
    try {
      await this.#client.post(
        `${pathOf(zone)}/rrset/`,
        'ChangeResourceRecordSetsRequest',
        body,
        'ChangeResourceRecordSetsResponse',
      )
      return ops.map(op => resultOf(op, 'done'))
    } catch (error) {
      if (!(error instanceof ProviderError)) throw error
      if (error instanceof Route53Refusal) {
        const rejected = rejectedOps(ops, error.reasons, zone.name)
        if (rejected) return rejected
        // The message doesn’t say which change it is about.
        const halves = halvesOf(ops)
        if (!halves) return ops.map(op => resultOf(op, 'refused', error.message))
        const first = await this.#batch(zone, halves[0], changes, isFirst)
        if (first.some(one => one.outcome !== 'done')) return [...first, ...halves[1].map(skipped)]
        return [...first, ...(await this.#batch(zone, halves[1], changes, false))]
      }
      if (mayHaveApplied(error)) return ops.map(op => resultOf(op, 'unknown', error.message))
      if (isFirst) throw error
      return ops.map(op => skippedBy(op, error))
    }
  }

  #changeOf(zone: ProviderZone, { before, after }: Op): ChangeXml {
    const parts: { action: string; rrset: ProviderRrset; texts: string[] }[] = []
    if (before) parts.push({ action: 'DELETE', rrset: before, texts: this.#textsOf(zone, before) })
    if (after) parts.push({ action: 'CREATE', rrset: after, texts: after.values.map(value => apiValue(after.type, value)) })
    const texts = parts.flatMap(one => one.texts)
    const xml = parts.map(one =>
      element('Change', element('Action', one.action) + recordSetXml(one.rrset, one.texts, zone.name), true),
    )
    return { xml: xml.join(''), elements: texts.length, characters: texts.reduce((sum, text) => sum + text.length, 0) }
  }

  /** Values of an rrset as they were read. */
  #textsOf({ ref }: ProviderZone, rrset: ProviderRrset): string[] {
    const known = this.#spellings.get(String(ref))?.get(rrsetKey(rrset))
    return known && sameRrset(known.rrset, rrset) ? known.texts : rrset.values.map(value => apiValue(rrset.type, value))
  }

  async #zonePage(query: Query): Promise<ZonePage> {
    const page = await this.#client.get('/hostedzone', { ...query, maxitems: String(zonesPerPage) }, 'ListHostedZonesResponse')
    return { zones: publicZonesOf(page), next: nextOf(page, { marker: 'NextMarker' }) }
  }
}

type Query = Record<string, string>

/** Public zones of a page, and the query for the next page; null if it is the last one. */
interface ZonePage {
  zones: ProviderZone[]
  next: Query | null
}

/** A step as XML, with what counts towards the limits of a batch. */
interface ChangeXml {
  xml: string
  elements: number
  characters: number
}

// Maximums of the API.
const zonesPerPage = 100
const setsPerPage = 300

const element = (name: string, content: string, isXml = false): string =>
  `<${name}>${isXml ? content : xmlText(content)}</${name}>`

function recordSetXml({ name, type, ttl }: ProviderRrset, texts: readonly string[], zoneName: string): string {
  const records = texts.map(text => element('ResourceRecord', element('Value', text), true))
  return element(
    'ResourceRecordSet',
    element('Name', apiName(name, zoneName)) +
      element('Type', type) +
      element('TTL', String(ttl)) +
      element('ResourceRecords', records.join(''), true),
    true,
  )
}

const publicZonesOf = (page: Record<string, unknown>): ProviderZone[] =>
  listOf(page.HostedZones, 'HostedZone').flatMap(one => zoneOf(one) ?? [])

/** Parses a hosted zone; null for private zones and names that are not DNS names. @throws ProviderError `invalid_response` */
function zoneOf(listed: unknown): ProviderZone | null {
  const { Id, Name, Config } = isObject(listed) ? listed : {}
  if (typeof Id !== 'string' || typeof Name !== 'string') throw invalidFormat('has a hosted zone without an ID or name')
  if (isObject(Config) && Config.PrivateZone === 'true') return null
  return catchFormatError(
    () => ({ name: absoluteName(Name).slice(0, -1), ref: Id.replace(/^\/hostedzone\//, '') }),
    () => null,
  )
}

/** The query for the page after this one; null if it is the last. @throws ProviderError `incomplete` if that is unclear */
function nextOf(page: Record<string, unknown>, required: Query, optional: Query = {}): Query | null {
  if (page.IsTruncated === 'false') return null
  const taken = Object.entries({ ...required, ...optional }).flatMap(([parameter, member]) => {
    const value = page[member]
    return typeof value === 'string' && value !== '' ? [[parameter, value] as const] : []
  })
  const next: Query = Object.fromEntries(taken)
  if (page.IsTruncated !== 'true' || Object.keys(required).some(parameter => next[parameter] === undefined))
    throw incomplete('the response doesn’t say where the next page starts')
  return next
}

async function areSame(some: readonly ApiRecordSet[], others: readonly ApiRecordSet[]): Promise<boolean> {
  if (some.length !== others.length) return false
  const differing = await flatMapInTurns(some.entries(), ([place, one]) => (isDeepStrictEqual(one, others[place]) ? [] : [one]))
  return differing.length === 0
}

const identityOf = ({ Name, Type, SetIdentifier }: ApiRecordSet): string => [Name, Type, SetIdentifier].join(' ')

function pathOf({ ref }: ProviderZone): string {
  if (ref === null) throw new ProviderError('zone_not_found', 'The ID of the hosted zone is unknown.')
  return `/hostedzone/${encodeURIComponent(ref)}`
}

const skipped = (op: Op): OpResult => resultOf(op, 'skipped', 'A previous change failed.')

const tooLarge = `Route 53 allows ${maxElements} records and ${maxCharacters.toLocaleString('en-US')} characters per request, and this change has more.`
const incomplete = (what: string) => new ProviderError('incomplete', `Incomplete response of Route 53: ${what}.`)
const invalidFormat = (what: string) => new ProviderError('invalid_response', `The response of Route 53 ${what}.`)
