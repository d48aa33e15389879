import { readFileSync } from 'node:fs'
import { systemClock } from '../../core/clock'
import { openLog } from '../../core/log'
import { createEgress } from '../../core/net/egress'
import { validateSettings, type Settings } from '../../core/sealed-settings'
import { rdataOfText } from '../../dns/rdata'
import { providerKindOf } from '../../features/dns/providers'
import {
  ProviderError,
  type AdapterContext,
  type DnsProvider,
  type Op,
  type ProviderRrset,
  type ProviderZone,
} from '../../features/dns/providers/provider'
import { effectiveTtl } from '../../features/dns/sync/fingerprint'
import { inBatches } from '../../features/dns/sync/order'
import { Failure } from '../failure'
import { fetchUnrestricted } from '../unrestricted-fetch'
import type { Bench, Figure } from './bench'

type Pace = NonNullable<DnsProvider['caps']['pace']>

/** A zone to measure. */
interface Account {
  kind: string
  zone: string
  settings: Settings
}

/** `bailiwick bench provider-apply`: how many requests changes at a DNS provider need, and how long they take. */
export const providerApplyBench: Bench = {
  name: 'provider-apply',
  summary: 'Create, change and delete records at DNS providers',
  file: {
    name: 'accounts',
    description: 'JSON file with a list of accounts: the kind and the settings of a provider, and the name of a zone there',
  },
  options: [{ name: 'rrsets', description: 'Number of record sets', default: 100 }],
  async run(args, _, file) {
    const figures: Figure[] = []
    for (const account of accountsIn(file!)) {
      try {
        figures.push(...(await measured(account, args.rrsets!)))
      } catch (error) {
        throw error instanceof ProviderError ? new Failure(`${account.kind}: ${error.message}`) : error
      }
    }
    return {
      figures,
      notes: [
        `Each step is for ${args.rrsets!} record sets with one A record each, named bailiwick-bench-1 and so on, which are deleted at the end.`,
        'The wait for the rate limit is in addition to the time. It is how long a hub waits if it sent no requests before.',
      ],
    }
  },
}

function accountsIn(file: string): Account[] {
  const text = readFileSync(file, 'utf8')
  const isAccount = (one: any) =>
    typeof one?.kind === 'string' && typeof one.zone === 'string' && typeof one.settings === 'object'
  let listed: unknown
  try {
    listed = JSON.parse(text)
  } catch {
    // Reported below.
  }
  if (!Array.isArray(listed) || !listed.every(isAccount))
    throw new Failure(`${file} must be a JSON list of objects with "kind", "zone" and "settings".`)
  return listed
}

/** Requests that were sent, by purpose. */
interface Sent {
  reads: number
  writes: number
}

async function measured({ kind: name, zone: zoneName, settings }: Account, count: number): Promise<Figure[]> {
  const kind = providerKindOf(name)
  if (!kind) throw new Failure(`There is no kind of DNS provider named ${name}.`)
  const sent: Sent = { reads: 0, writes: 0 }
  const provider = kind.open(validateSettings(kind, settings), counting(sent))
  const zone = await provider.findZone(zoneName)
  if (!zone) throw new Failure(`${kind.title} has no zone ${zoneName}.`)
  const rrsets = (value: string): ProviderRrset[] =>
    Array.from({ length: count }, (_, n) => ({
      name: `bailiwick-bench-${n + 1}`,
      type: 'A',
      ttl: effectiveTtl(3600, provider.caps),
      values: [rdataOfText('A', value, null)],
    }))
  const own = async () => (await provider.read(zone)).rrsets.filter(one => one.name.startsWith('bailiwick-bench-'))
  if ((await own()).length > 0) throw new Failure(`${zoneName} has records named bailiwick-bench already. Delete them.`)
  const [created, changed] = [rrsets('192.0.2.1'), rrsets('192.0.2.2')]
  try {
    const of = (action: Op['action'], before: readonly ProviderRrset[] | null, after: readonly ProviderRrset[] | null): Op[] =>
      (after ?? before)!.map(({ name: at, type }, n) => ({
        action,
        name: at,
        type,
        before: before?.[n] ?? null,
        after: after?.[n] ?? null,
      }))
    const figures = [
      ...(await step(`${name}, create`, sent, provider, zone, of('create', null, created))),
      ...(await step(`${name}, change`, sent, provider, zone, of('update', inOrder(await own(), changed), changed))),
    ]
    return [
      ...figures,
      ...(await step(`${name}, delete`, sent, provider, zone, of('delete', inOrder(await own(), changed), null))),
    ]
  } finally {
    const left = await own().catch(() => [])
    if (left.length > 0)
      await apply(
        provider,
        zone,
        left.map(before => ({ ...before, action: 'delete', before, after: null })),
      )
  }
}

/** As they were read, because some providers return proxied records with other TTLs. */
const inOrder = (read: readonly ProviderRrset[], wanted: readonly ProviderRrset[]): ProviderRrset[] =>
  wanted.map(({ name }) => read.find(one => one.name === name)!)

/** Applies steps, and returns the requests and the time they needed. */
async function step(name: string, sent: Sent, provider: DnsProvider, zone: ProviderZone, ops: readonly Op[]): Promise<Figure[]> {
  Object.assign(sent, { reads: 0, writes: 0 })
  const startedAt = performance.now()
  await apply(provider, zone, ops)
  const seconds = (performance.now() - startedAt) / 1000
  return [
    { name: `${name}: requests that write`, value: sent.writes, unit: '' },
    { name: `${name}: requests that read`, value: sent.reads, unit: '' },
    { name: `${name}: time`, value: seconds, unit: 's' },
    { name: `${name}: wait for the rate limit`, value: pacedSeconds(provider.caps.pace, sent.reads + sent.writes), unit: 's' },
  ]
}

async function apply(provider: DnsProvider, zone: ProviderZone, ops: readonly Op[]): Promise<void> {
  for (const batch of inBatches(ops, zone.name, provider.caps.batchOps)) {
    const failed = (await provider.apply(zone, batch)).find(one => one.outcome !== 'done')
    if (failed) throw new Failure(`${failed.name} ${failed.type}: ${failed.detail ?? failed.outcome}`)
  }
}

/** How long a hub waits in total while it sends so many requests. A fifth of the rate is reserved for people. */
function pacedSeconds(pace: Pace | undefined, requests: number): number {
  if (!pace) return 0
  const { perSecond, burst } = pace
  return Math.max(0, requests - burst * 0.8) / (perSecond * 0.8)
}

/** Sends requests without the restrictions of a workspace, and counts them. */
function counting(sent: Sent): AdapterContext {
  const egress = createEgress({ ownListeners: () => [] })
  return {
    clock: systemClock,
    log: openLog('silent'),
    async request(request, limits = {}) {
      const isReading = request.method === undefined || request.method === 'GET' || request.method === 'HEAD'
      sent[isReading ? 'reads' : 'writes']++
      return await fetchUnrestricted(request, limits)
    },
    vet: (host, port) => egress.vetHost(host, port, { allowPrivate: true, allowRanges: [], requireHttps: false }),
  }
}
