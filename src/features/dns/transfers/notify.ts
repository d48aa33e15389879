import { and, eq, gt, inArray } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { hubs } from '../../../core/db/tables'
import { ask } from '../../../core/dns-client/ask'
import { AskFailed } from '../../../core/dns-client/failure'
import { refusal } from '../../../core/dns-client/signed-answer'
import { CLASS, message, OPCODE, RCODE, type ResourceRecord } from '../../../core/dns/message'
import type { TsigKey } from '../../../core/dns/tsig'
import type { Hub } from '../../../core/hub'
import type { JobKind } from '../../../core/jobs/job'
import { inTurns } from '../../../core/jobs/lanes'
import { hubTimeoutMs, type JobDraft } from '../../../core/jobs/queue'
import { EgressRefused, networkPolicy } from '../../../core/net/egress'
import { egressOf } from '../../../core/net/hub-egress'
import { NotOpened } from '../../../core/secrets'
import { tally } from '../../../core/tally'
import { nameServerCaughtUp } from '../name-server'
import { soaMembers, soaRdataOf } from '../soa-members'
import { dnsZones } from '../tables'
import { originOf } from '../zone-names'
import { catalogSoa, findCatalog, isCatalog } from './catalog'
import { notifyKind, type NotifyPayload } from './notify-draft'
import { openKey } from './rights'
import { dnsSecondaries, dnsTsigKeys } from './tables'

type SecondaryRow = typeof dnsSecondaries.$inferSelect

// Five rounds within a minute. Whoever has not answered by then asks for the serial by itself, as often as the SOA says.
const pausesMs = [2_000, 5_000, 15_000, 30_000]
const askMs = 2_500
// By then every hub of the database answers with the change, so a server that asks another one than told it finds it there.
const othersMs = 1_500
const concurrency = 64
const mostOfWorkspace = 16

/** Tells secondaries that a zone changed (RFC 1996). A server that has gone is told again, and the others are not. */
export const notifyJob: JobKind<NotifyPayload> = {
  kind: notifyKind,
  concurrency,
  lanes: { ...inTurns, mostInLane: mostOfWorkspace },
  leaseMs: 30_000,
  retryAfter: attempts => pausesMs[attempts - 1] ?? null,
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
    // Told before this hub answers with the change, they would find nothing new.
    await nameServerCaughtUp(hub)
    const results = await Promise.all(secondaries.map(async one => ({ one, ...(await tell(hub, one, zone.soa)) })))
    const again = nextRounds(
      hub,
      payload,
      lane,
      results.filter(({ isReached }) => !isReached).map(({ one }) => one.id),
      payload.round === 1 && (await hasOthers(hub)),
    )
    return async tx => {
      for (const { one, at, isReached, problem } of results)
        await tx
          .update(dnsSecondaries)
          .set({ notifiedAt: at, ...(isReached && { answeredAt: hub.clock.now() }), problem })
          .where(eq(dnsSecondaries.id, one.id))
      return { result: undefined, jobs: again }
    }
  },
}

interface Changed {
  workspaceId: string
  soa: ResourceRecord
}

/** Null when it is gone, or not served. */
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
  const rdata = soaRdataOf(soaMembers(zone), serial)
  return { workspaceId, soa: { name: originOf(name), type: 'SOA', class: CLASS.IN, ttl, rdata } }
}

/** Sends one NOTIFY. `isReached`: an answer came, whatever it says. */
async function tell(hub: Hub, to: SecondaryRow, soa: ResourceRecord) {
  const at = hub.clock.now()
  try {
    const key = await keyOf(hub, to)
    const [workspace] = await hub.read
      .select({ policy: workspaces.networkPolicy })
      .from(workspaces)
      .where(eq(workspaces.id, to.workspaceId))
    const policy = networkPolicy(workspace!.policy, { carriesSecret: false })
    const vetted = await egressOf(hub).vetHost(to.address, to.port, policy)
    const notify = message({
      id: 0,
      opcode: OPCODE.NOTIFY,
      flags: { aa: true },
      question: [{ name: soa.name, type: 'SOA', class: CLASS.IN }],
      answer: [soa],
    })
    const { rcode } = await ask({ at: vetted, key, now: () => hub.clock.now() }, notify, { timeoutMs: askMs })
    tally(hub, 'dns_notifies', rcode === RCODE.NOERROR ? 'answered' : 'refused')
    return { at, isReached: true, problem: rcode === RCODE.NOERROR ? null : `${soa.name} ${refusal(rcode)}` }
  } catch (error) {
    if (!(error instanceof AskFailed) && !(error instanceof EgressRefused) && !(error instanceof NotOpened)) throw error
    tally(hub, 'dns_notifies', 'failed')
    // The others are told, and whoever looks at this one sees why it is not.
    if (error instanceof NotOpened) return { at, isReached: false, problem: 'The secret of its key cannot be opened.' }
    // A refusal is an answer; to be told the same again changes nothing about it.
    const isReached = error instanceof AskFailed && (error.failure === 'bad_key' || error.failure === 'refused')
    return { at, isReached, problem: error.message }
  }
}

async function keyOf(hub: Hub, { keyId }: SecondaryRow): Promise<TsigKey | null> {
  if (keyId === null) return null
  const [row] = await hub.read.select().from(dnsTsigKeys).where(eq(dnsTsigKeys.id, keyId))
  return row ? await openKey(hub, row) : null
}

function nextRounds(hub: Hub, { zone_id, round }: NotifyPayload, lane: string, missed: string[], others: boolean): JobDraft[] {
  const pause = pausesMs[round - 1]
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
    ...(others ? [draft({ round: pausesMs.length + 1 }, othersMs, 'others')] : []),
  ]
}

async function hasOthers(hub: Hub): Promise<boolean> {
  const rows = await hub.read
    .select({ id: hubs.id })
    .from(hubs)
    .where(gt(hubs.seenAt, hub.clock.now() - hubTimeoutMs))
    .limit(2)
  return rows.some(row => row.id !== hub.id)
}
