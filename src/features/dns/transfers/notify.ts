import { and, eq, inArray } from 'drizzle-orm'
import { workspacePolicy } from '../../../access/network-policy'
import { queryServer } from '../../../dns/client/query-server'
import { QueryFailed } from '../../../dns/client/failure'
import { rcodeMessage } from '../../../dns/client/signed-answer'
import { CLASS, message, OPCODE, RCODE, type ResourceRecord } from '../../../dns/message'
import type { TsigKey } from '../../../dns/tsig'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { sequentialLanes } from '../../../core/jobs/lanes'
import { hasOtherHubs } from '../../../core/live-hubs'
import type { JobDraft } from '../../../core/jobs/draft'
import { EgressRefused } from '../../../core/net/egress'
import { egressOf } from '../../../core/net/hub-egress'
import { DecryptionFailed } from '../../../core/secrets'
import { incrementCounter } from '../../../core/metric-counters'
import { nameServerSynced } from '../publish/name-server'
import { soaFieldsOf, soaRdataOf } from '../zones/soa-fields'
import { dnsZones } from '../zones/tables'
import { originOf } from '../zones/names'
import { catalogSoa, findCatalog, isCatalog } from './catalog'
import { notifyKind, type NotifyPayload } from './notify-draft'
import { openKey } from './rights'
import { dnsSecondaries, dnsTsigKeys } from './tables'

type SecondaryRow = typeof dnsSecondaries.$inferSelect

// Five rounds within a minute. After that, secondaries rely on the SOA refresh interval.
const retryDelaysMs = [2_000, 5_000, 15_000, 30_000]
const timeoutMs = 2_500
// By then every hub serves the change, so a secondary behind a load balancer finds it at any of them.
const finalRoundMs = 1_500
const concurrency = 64
const maxPerWorkspace = 16

/** Sends NOTIFY messages to secondaries (RFC 1996). Retries only those that did not respond. */
export const notifyJob: JobKind<NotifyPayload> = {
  kind: notifyKind,
  concurrency,
  lanes: { ...sequentialLanes, maxPerLane: maxPerWorkspace },
  leaseMs: 30_000,
  retryAfter: attempts => retryDelaysMs[attempts - 1] ?? null,
  async run(hub, { payload, lane }) {
    const zone = await changedZone(hub, payload.zone_id)
    if (!zone) return undefined
    const secondaries = await hub.read
      .select()
      .from(dnsSecondaries)
      .where(
        and(
          eq(dnsSecondaries.workspaceId, zone.workspaceId),
          payload.secondary_ids && inArray(dnsSecondaries.id, payload.secondary_ids),
        ),
      )
    if (secondaries.length === 0) return undefined
    // Notified too early, secondaries would query this hub and find nothing new.
    await nameServerSynced(hub)
    const results = await Promise.all(secondaries.map(async one => ({ one, ...(await notify(hub, one, zone.soa)) })))
    const again = nextRounds(
      hub,
      payload,
      lane,
      results.filter(({ isReached }) => !isReached).map(({ one }) => one.id),
      payload.round === 1 && (await hasOtherHubs(hub)),
    )
    return async tx => {
      for (const { one, at, isReached, error } of results)
        await tx
          .update(dnsSecondaries)
          .set({ notifiedAt: at, ...(isReached && { acknowledgedAt: hub.clock.now() }), error })
          .where(eq(dnsSecondaries.id, one.id))
      return { result: undefined, jobs: again }
    }
  },
}

interface Changed {
  workspaceId: string
  soa: ResourceRecord
}

/** Null if it was deleted or is not served. */
async function changedZone(hub: Hub, id: string): Promise<Changed | null> {
  if (isCatalog(id)) {
    const catalog = await findCatalog(hub.read, id)
    if (!catalog) return null
    const { rdata, ...soa } = catalogSoa(catalog)
    return { workspaceId: catalog.workspaceId, soa: { ...soa, class: CLASS.IN, rdata: rdata[0]! } }
  }
  const [zone] = await hub.read.select().from(dnsZones).where(eq(dnsZones.id, id))
  if (zone?.status !== 'active' || !zone.isServed) return null
  const { workspaceId, name, serial, soaTtl: ttl } = zone
  const rdata = soaRdataOf(soaFieldsOf(zone), serial)
  return { workspaceId, soa: { name: originOf(name), type: 'SOA', class: CLASS.IN, ttl, rdata } }
}

/** Sends one NOTIFY. `isReached`: a response arrived, whatever its RCODE. */
async function notify(hub: Hub, to: SecondaryRow, soa: ResourceRecord) {
  const at = hub.clock.now()
  try {
    const key = await keyOf(hub, to)
    const policy = await workspacePolicy(hub.read, to.workspaceId, false)
    const vetted = await egressOf(hub).vetHost(to.address, to.port, policy)
    const request = message({
      id: 0,
      opcode: OPCODE.NOTIFY,
      flags: { aa: true },
      question: [{ name: soa.name, type: 'SOA', class: CLASS.IN }],
      answer: [soa],
    })
    const { rcode } = await queryServer({ at: vetted, key, now: () => hub.clock.now() }, request, { timeoutMs })
    incrementCounter(hub, 'dns_notifies', rcode === RCODE.NOERROR ? 'answered' : 'refused')
    return { at, isReached: true, error: rcode === RCODE.NOERROR ? null : `${soa.name} ${rcodeMessage(rcode)}` }
  } catch (error) {
    if (!(error instanceof QueryFailed) && !(error instanceof EgressRefused) && !(error instanceof DecryptionFailed)) throw error
    incrementCounter(hub, 'dns_notifies', 'failed')
    // Other secondaries are still notified, and this one shows the error.
    if (error instanceof DecryptionFailed)
      return { at, isReached: false, error: 'The secret of its TSIG key can’t be decrypted.' }
    // A refusal is a response: a retry would not change it.
    const isReached = error instanceof QueryFailed && (error.failure === 'bad_key' || error.failure === 'refused')
    return { at, isReached, error: error.message }
  }
}

async function keyOf(hub: Hub, { keyId }: SecondaryRow): Promise<TsigKey | null> {
  if (keyId === null) return null
  const [row] = await hub.read.select().from(dnsTsigKeys).where(eq(dnsTsigKeys.id, keyId))
  return row ? await openKey(hub, row) : null
}

function nextRounds(hub: Hub, { zone_id, round }: NotifyPayload, lane: string, missed: string[], others: boolean): JobDraft[] {
  const pause = retryDelaysMs[round - 1]
  const draft = (payload: Omit<NotifyPayload, 'zone_id'>, ms: number, why: string): JobDraft => ({
    kind: notifyKind,
    lane,
    payload: { zone_id, ...payload },
    runAt: hub.clock.now() + ms,
    uniqueKey: `${zone_id} ${why}`,
    replaces: true,
  })
  return [
    ...(missed.length > 0 && pause !== undefined ? [draft({ round: round + 1, secondary_ids: missed }, pause, 'again')] : []),
    ...(others ? [draft({ round: retryDelaysMs.length + 1 }, finalRoundMs, 'others')] : []),
  ]
}
