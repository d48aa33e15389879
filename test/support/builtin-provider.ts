import type { AccountCheck } from '../../src/adapters/adapter'
import { lowerName } from '../../src/dns/name'
import { rdataOfContent, textOf } from '../../src/dns/rdata'
import { requestJson, jsonOf, retryAfterOf, type JsonResponse } from '../../src/adapters/json-http'
import {
  ProviderError,
  resultOf,
  type Caps,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderRrset,
  type ProviderZone,
  type Snapshot,
  type AdapterContext,
} from '../../src/features/dns/providers/provider'
import { sameRrset } from '../../src/features/dns/providers/same-rrset'
import { originOf, rrsetKey } from '../../src/features/dns/zones/names'

const caps: Caps = {
  unit: 'rrset',
  atomic: 'zone',
  // If-Match with the version of the zone, which every change increases.
  cas: 'serial',
  unsupported: new Set(),
  ttl: { min: 0, max: 0x7fffffff },
  batchOps: 1000,
  rechunksTxt: false,
  alias: 'native',
  apexNs: 'rw',
}

/**
 * The built-in provider as seen by API clients, so that it can be tested with the provider contract.
 * @param access address of a hub, and a token with write access to DNS
 */
export const builtinProvider = (access: { url: string; token: string }, around: AdapterContext): DnsProvider =>
  new BuiltinProvider(access, around)

class BuiltinProvider implements DnsProvider {
  readonly caps = caps

  constructor(
    private readonly access: { url: string; token: string },
    private readonly around: AdapterContext,
  ) {}

  async check(): Promise<AccountCheck> {
    await this.#get('/v1/dns/zones?limit=1')
    return { detail: `Bailiwick at ${this.access.url}`, warnings: [] }
  }

  async listZones(): Promise<ProviderZone[]> {
    const zones: ProviderZone[] = []
    for (let query = '?limit=100'; ;) {
      const { data, pagination } = jsonOf(await this.#get(`/v1/dns/zones${query}`)) as any
      zones.push(...data.map(zoneFound))
      if (!pagination.has_more) return zones
      query = `?limit=100&cursor=${pagination.next_cursor}`
    }
  }

  async findZone(name: string): Promise<ProviderZone | null> {
    const { data } = jsonOf(await this.#get(`/v1/dns/zones?name=${encodeURIComponent(name)}`)) as any
    return data.length === 0 ? null : zoneFound(data[0])
  }

  async createZone(name: string, nameservers: readonly string[]): Promise<ProviderZone> {
    const answer = await this.#change('POST', '/v1/dns/zones', { name, nameservers })
    if (answer.status !== 201) throw new ProviderError('refused', answer.text)
    return zoneFound(jsonOf(answer) as any)
  }

  async read(zone: ProviderZone): Promise<Snapshot> {
    const exported = jsonOf(await this.#get(`${await this.#path(zone)}/export?format=json`)) as any
    return { rrsets: exported.rrsets.map((one: any) => rrsetFound(one, zone)), serial: exported.serial }
  }

  async readSerial(zone: ProviderZone): Promise<number> {
    return (jsonOf(await this.#get(await this.#path(zone))) as any).serial
  }

  // Unsupported values are reported when they are sent.
  findUnsupported = () => []

  async apply(zone: ProviderZone, ops: readonly Op[]): Promise<OpResult[]> {
    if (ops.length === 0) return []
    const path = await this.#path(zone)
    const version = (await this.#get(path)).headers.get('etag')!
    const there = new Map((await this.read(zone)).rrsets.map(one => [rrsetKey(one), one]))
    const isStale = (op: Op) => !sameRrset(there.get(rrsetKey(op)) ?? null, op.before)
    if (ops.some(isStale)) return ops.map(op => resultOf(op, isStale(op) ? 'stale' : 'skipped'))
    const rrsets = ops.map(({ name, type, after }) => ({
      name: name === '@' ? name : `${name}.${originOf(zone.name)}`,
      type,
      ...(after && { ttl: after.ttl, ...(after.options && { options: after.options }) }),
      records: (after?.values ?? []).map(value => ({ content: textOf(type, value) })),
    }))
    let answer: JsonResponse
    try {
      answer = await this.#change('PUT', `${path}/rrsets`, { rrsets }, { 'if-match': version })
    } catch (error) {
      if (error instanceof ProviderError && error.ambiguous) return ops.map(op => resultOf(op, 'unknown', error.message))
      throw error
    }
    if (answer.status === 200) return ops.map(op => resultOf(op, 'done'))
    if (answer.status === 412) return ops.map(op => resultOf(op, 'stale'))
    // Nothing was applied; the errors identify the step.
    const wrong = new Set((answer.json as any).errors?.map((one: any) => Number(/^#\/rrsets\/(\d+)/.exec(one.pointer)?.[1])))
    return ops.map((op, place) => resultOf(op, wrong.has(place) ? 'refused' : 'skipped', answer.text))
  }

  async #path({ name, ref }: ProviderZone): Promise<string> {
    const id = ref ?? (await this.findZone(name))?.ref
    if (!id) throw new ProviderError('zone_not_found', `There is no zone ${name}.`)
    return `/v1/dns/zones/${id}`
  }

  async #get(path: string): Promise<JsonResponse> {
    const answer = await this.#ask({ url: this.access.url + path })
    if (answer.status !== 200) throw new ProviderError(answer.status === 404 ? 'zone_not_found' : 'refused', answer.text)
    return answer
  }

  #change(method: 'POST' | 'PUT', path: string, body: object, headers: Record<string, string> = {}): Promise<JsonResponse> {
    return this.#ask({ url: this.access.url + path, method, body: JSON.stringify(body), headers })
  }

  async #ask({ headers, ...request }: { url: string; method?: 'POST' | 'PUT'; body?: string; headers?: object }) {
    const own = { authorization: `Bearer ${this.access.token}`, 'content-type': 'application/json' }
    const answer = await requestJson(
      this.around,
      { ...request, headers: { ...own, ...headers } },
      { maxBodyBytes: 64 * 1024 * 1024 },
    )
    if (answer.status === 401 || answer.status === 403) throw new ProviderError('unauthorized', answer.text)
    if (answer.status === 429) throw new ProviderError('throttled', answer.text, retryAfterOf(answer, this.around))
    return answer
  }
}

const zoneFound = ({ name, id }: { name: string; id: string }): ProviderZone => ({ name, ref: id })

const rrsetFound = ({ name, type, ttl, options, records }: any, zone: ProviderZone): ProviderRrset => ({
  name: lowerName(name),
  type,
  ttl,
  values: records.map((one: any) => rdataOfContent(type, one.content, originOf(zone.name))),
  ...(options && { options }),
})
