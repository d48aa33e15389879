import type { AccountCheck } from '../../../adapters/adapter'
import { settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { pluralize } from '../../../core/pluralize'
import { grouped } from '../../../core/shapes'
import { flatMapInTurns } from '../../../core/time-slices'
import { isObject } from '../../../dns/octets'
import { HetznerError, hetznerApi, hetznerPace } from '../../../vendors/hetzner'
import { rrsetKey } from '../zones/names'
import { apiToken, apiUrl, baseUrl, validateBaseUrl } from '../../../adapters/api-settings'
import { HetznerClient } from './hetzner-client'
import {
  foreignOfRows,
  hetznerTtl,
  recordsOf,
  rrsetsOfRows,
  unsupportedAtHetzner,
  unsupportedTypes,
  type HetznerRrset,
} from './hetzner-rrsets'
import {
  ProviderError,
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
import { rechunked, sameRrset, sameValues } from './same-rrset'
import { applyInOrder } from './steps-in-order'
import { parseCreatedZone, parseZones } from './zone-listing'

const form = settingsForm({
  api_token: apiToken('API token of the Hetzner project with the zones, with read and write permissions.'),
  ...grouped('Connection', {
    base_url: baseUrl(hetznerApi),
  }),
})
type HetznerSettings = SettingsOf<typeof form>

const caps: Caps = {
  unit: 'rrset',
  atomic: 'none',
  // The API has no preconditions: the current state is compared right before writing.
  cas: 'none',
  unsupported: unsupportedTypes,
  ttl: hetznerTtl,
  // Each step is at least two requests, and its action can take seconds.
  batchOps: 20,
  recordsMax: 50,
  rechunksTxt: true,
  alias: 'expand',
  apexNs: 'rw',
  pace: hetznerPace,
}

/** Zones in a project at Hetzner, via the Hetzner Cloud API. */
export const hetzner: ProviderKind<HetznerSettings> = {
  kind: 'hetzner',
  title: 'Hetzner',
  ...form,
  caps,
  validate: validateBaseUrl,
  open: (settings, around) => new Hetzner(settings, around),
}

class Hetzner implements DnsProvider {
  readonly caps = caps
  readonly #client: HetznerClient
  /** Rrsets of the last read that can't be changed, by {@link rrsetKey}. */
  #protected = new Set<string>()
  /** As last read, by zone name. */
  readonly #defaultTtls = new Map<string, number>()

  constructor({ base_url, api_token }: HetznerSettings, around: AdapterContext) {
    this.#client = new HetznerClient({ base_url: apiUrl({ base_url }, hetznerApi), api_token }, around)
  }

  /** The API doesn't return the name of the project, so its zones identify it. */
  async check(): Promise<AccountCheck> {
    const rows = await this.#zoneRows('')
    const names = rows.map(row => String(row.name))
    const secondary = rows.filter(isSecondary).map(row => String(row.name))
    return {
      detail: `Hetzner project with ${pluralize(names.length, 'zones')}${examplesOf(names)}`,
      warnings:
        secondary.length === 0
          ? []
          : [
              `Secondary zones can’t be managed at Hetzner: ${examplesOf(secondary).slice(2)}. Change them at their primary server.`,
            ],
    }
  }

  async listZones(): Promise<ProviderZone[]> {
    return parseZones((await this.#zoneRows('')).map(withTextId))
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    const rows = await this.#zoneRows(`&name=${encodeURIComponent(name)}`)
    return parseZones(rows.map(withTextId)).find(zone => zone.name === name) ?? null
  }

  async createZone(name: string): Promise<ProviderZone> {
    const { zone } = await this.#client.change('POST', '/zones', { name, mode: 'primary' })
    const created = parseCreatedZone(isObject(zone) ? withTextId(zone) : zone)
    await this.#appeared(created)
    return created
  }

  async read(zone: ProviderZone): Promise<Snapshot> {
    const defaultTtl = await this.#defaultTtl(zone)
    const rows = await this.#rows(zone, '')
    const rrsets = await flatMapInTurns(rows, row => rrsetsOfRows([row], zone.name, defaultTtl))
    this.#protected = new Set(rrsets.filter(one => one.isProtected).map(rrsetKey))
    return {
      rrsets: rrsets.map(({ name, type, ttl, values }) => ({ name, type, ttl, values })),
      foreign: foreignOfRows(rows, rrsets),
    }
  }

  findUnsupported(rrset: ProviderRrset): UnsupportedRrset[] {
    const { name, type } = rrset
    const isProtected = this.#protected.has(rrsetKey(rrset))
    return [...unsupportedAtHetzner(rrset), ...(isProtected ? [{ name, type, detail: protectedDetail }] : [])]
  }

  /** Applies one rrset after another. Values and TTL are changed by two requests. */
  async apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    if (ops.length === 0) return []
    const defaultTtl = this.#defaultTtls.get(zone.name) ?? (await this.#defaultTtl(zone))
    const look = async (name: string) => {
      const rows = await this.#rows(zone, `&name=${encodeURIComponent(name)}`)
      const rrsets = rrsetsOfRows(rows, zone.name, defaultTtl)
      // Foreign ones are unlike anything that was read, so that nothing is sent for them.
      const foreign = foreignOfRows(rows, rrsets).map(one => ({
        ...one,
        ttl: 0,
        values: [],
        comments: new Map(),
        isProtected: false,
      }))
      return new Map<string, HetznerRrset>([...rrsets, ...foreign].map(one => [rrsetKey(one), one]))
    }
    return await applyInOrder<HetznerRrset>(ops, {
      look,
      refusal: (op, there) =>
        there?.isProtected ? protectedDetail : op.after ? unsupportedAtHetzner(op.after)[0]?.detail : undefined,
      send: async (op, there) => {
        try {
          await this.#send(zone, op, there)
          return 'done'
        } catch (error) {
          if (!(error instanceof HetznerError)) throw error
          if (error.code === 'token_readonly') throw new HetznerError(error.code, 'refused', error.message)
          if (error.code === 'protected') throw new HetznerError(error.code, 'refused', protectedDetail)
          // The rrset was just read, so it is the rrset that is missing, not the zone.
          if (there && error.failure === 'zone_not_found') return 'stale'
          if (!isContested.has(error.code)) throw error
          // Someone else, or an earlier request whose response was lost, is changing it.
          await this.#client.pause(contestedPauseMs)
          const now = (await look(op.name)).get(rrsetKey(op)) ?? null
          return isSame(op.after, now) ? 'done' : 'stale'
        }
      },
    })
  }

  async #send(zone: ProviderZone, { name, type, after }: Op, there: HetznerRrset | undefined): Promise<void> {
    const rrsets = `${pathOf(zone)}/rrsets`
    const one = `${rrsets}/${encodeURIComponent(name)}/${type}`
    if (!after) {
      await this.#client.change('DELETE', one)
      return
    }
    if (!there) {
      await this.#client.change('POST', rrsets, { name, type, ttl: after.ttl, records: recordsOf(after) })
      return
    }
    const changesValues = !sameValues(type, there.values, after.values)
    if (changesValues) await this.#client.change('POST', `${one}/actions/set_records`, { records: recordsOf(after, there) })
    if (there.ttl === after.ttl) return
    try {
      await this.#client.change('POST', `${one}/actions/change_ttl`, { ttl: after.ttl })
    } catch (error) {
      if (!changesValues || !(error instanceof ProviderError)) throw error
      throw new ProviderError(
        error.failure,
        `The records were changed, but not the TTL. ${error.message}`,
        error.retryAfterMs,
        true,
      )
    }
  }

  /** Waits for a new zone, which can be missing at first although it was created. The next sync retries if it takes longer. */
  async #appeared(zone: ProviderZone): Promise<void> {
    for (let attempt = 1; attempt <= maxAppearAttempts; attempt++)
      try {
        await this.#client.get(pathOf(zone))
        return
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error
        await this.#client.pause(contestedPauseMs)
      }
  }

  async #zoneRows(filter: string): Promise<Record<string, unknown>[]> {
    return await this.#client.all(`/zones?sort=id${filter}`, 'zones', zonesPerPage)
  }

  async #rows(zone: ProviderZone, filter: string): Promise<Record<string, unknown>[]> {
    return await this.#client.all(`${pathOf(zone)}/rrsets?sort=id${filter}`, 'rrsets', rrsetsPerPage)
  }

  /** TTL of rrsets without their own. @throws ProviderError `refused` if the zone is a secondary */
  async #defaultTtl(zone: ProviderZone): Promise<number> {
    const row = (await this.#client.get(pathOf(zone))).zone
    if (!isObject(row) || !Number.isSafeInteger(row.ttl))
      throw new ProviderError('invalid_response', 'The zone at Hetzner has no default TTL.')
    if (isSecondary(row))
      throw new ProviderError('refused', `${zone.name} is a secondary zone at Hetzner. Change it at its primary server.`)
    this.#defaultTtls.set(zone.name, row.ttl as number)
    return row.ttl as number
  }
}

// Maximums of the API.
const zonesPerPage = 50
const rrsetsPerPage = 100

const protectedDetail = 'The record set is protected from changes. Remove its protection in the Hetzner Console.'

// An action is running in the zone, or the rrset exists already.
const isContested = new Set(['locked', 'conflict', 'uniqueness_error'])
const contestedPauseMs = 1000
const maxAppearAttempts = 5

const isSame = (a: ProviderRrset | null, b: ProviderRrset | null): boolean => sameRrset(joined(a), joined(b))

const joined = (one: ProviderRrset | null) => one && { ...one, values: one.values.map(value => rechunked(one.type, value)) }

const isSecondary = (row: Record<string, unknown>): boolean => row.mode === 'secondary'

const withTextId = (row: Record<string, unknown>) => ({ ...row, id: Number.isSafeInteger(row.id) ? String(row.id) : row.id })

const pathOf = ({ name, ref }: ProviderZone): string => `/zones/${encodeURIComponent(ref ?? name)}`

/** The first three names of a list. */
function examplesOf(names: readonly string[]): string {
  if (names.length === 0) return ''
  return `: ${names.slice(0, 3).join(', ')}${names.length > 3 ? ', …' : ''}`
}
