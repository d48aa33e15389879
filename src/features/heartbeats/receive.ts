import { and, eq } from 'drizzle-orm'
import { limiterOf } from '../../access/limiter'
import { failedCredentials } from '../../access/rate-limits'
import { limitNotices, takeTurns } from '../../access/plans'
import { planOf } from '../../access/workspaces'
import { record } from '../../core/change'
import { sha256Hex } from '../../core/crypto'
import type { Hub } from '../../core/hub'
import { countHeartbeats, insertHeartbeat } from './heartbeats'
import { dueChanged } from './alarm'
import { readPingAddress, readRunId, type PingAddress } from './ping-address'
import { hashesOfSlug, workspaceOfKey } from './ping-keys'
import { isKnown, takePing, type Arrival, type Taken } from './pings'
import { checkSchedule, type Schedule } from './schedule'
import { heartbeats } from './tables'

/** A ping as any of the ping APIs received it. */
export interface Received {
  /** The parts of the address behind its prefix, decoded. */
  parts: readonly string[]
  query: URLSearchParams
  method: string
  source: string
  userAgent: string
  /** Null where the method carries none. */
  body: Uint8Array | null
}

/** What became of it, for each API to say in its own words. */
export type Receipt =
  | { outcome: 'taken'; created: boolean; taken: NonNullable<Taken> }
  | { outcome: 'not found' | 'invalid url format' | 'invalid uuid format' | 'invalid schedule' | 'ambiguous slug' }
  | { outcome: 'rate limited'; retryAfterSeconds: number }

// A client in a loop must not fill the disk; ten a second is beyond any job. It is far above four a period of the shortest one.
const pingsPerMinute = 600

/** Takes a ping, whichever address it came by. It is on the disk when this resolves. */
export async function receivePing(hub: Hub, received: Received): Promise<Receipt> {
  const address = readPingAddress(received.parts)
  if (typeof address === 'string') return address === 'not found' ? missed(hub, received) : { outcome: address }
  const rid = readRunId(received.query.get('rid'))
  if (rid === false) return { outcome: 'invalid uuid format' }

  const found = await hashOf(hub, address, received.query)
  if (found === null) return missed(hub, received)
  if (typeof found === 'string') return { outcome: found }
  const now = hub.clock.now()
  const verdict = limiterOf(hub).take([{ name: 'pings', key: found.hash, quota: pingsPerMinute, windowSeconds: 60 }], now)
  if (!verdict.allowed) return { outcome: 'rate limited', retryAfterSeconds: verdict.retryAfterSeconds }
  const arrival: Arrival = {
    uuidHash: found.hash,
    kind: address.kind,
    exitStatus: address.exitStatus,
    rid,
    at: now,
    method: received.method,
    source: received.source,
    userAgent: received.userAgent.slice(0, 200),
    body: received.body?.length ? received.body : null,
  }
  const taken = await takePing(hub, arrival)
  return taken ? { outcome: 'taken', created: found.created, taken } : missed(hub, received)
}

/** Wrong addresses are credentials that were wrong: counted, so that nobody tries them by the million. */
function missed(hub: Hub, received: Received): Receipt {
  const verdict = limiterOf(hub).take(
    [failedCredentials(received.source, hub.config.failedCredentialsPerMinute)],
    hub.clock.now(),
  )
  return verdict.allowed ? { outcome: 'not found' } : { outcome: 'rate limited', retryAfterSeconds: verdict.retryAfterSeconds }
}

interface Found {
  hash: string
  created: boolean
}

async function hashOf(
  hub: Hub,
  { by }: PingAddress,
  query: URLSearchParams,
): Promise<Found | 'ambiguous slug' | 'invalid schedule' | null> {
  if ('uuid' in by) {
    const hash = sha256Hex(by.uuid)
    return (await isKnown(hub, hash)) ? { hash, created: false } : null
  }
  const workspaceId = await workspaceOfKey(hub, by.key)
  if (workspaceId === null) return null
  const hashes = await hashesOfSlug(hub, workspaceId, by.slug)
  if (hashes.length > 1) return 'ambiguous slug'
  if (hashes[0]) return { hash: hashes[0], created: false }
  return query.get('create') === '1' ? await createBySlug(hub, workspaceId, by.slug, query) : null
}

/** Makes the heartbeat a first ping by slug asks for: `?create=1`, with `every` and `grace` as wished. */
async function createBySlug(
  hub: Hub,
  workspaceId: string,
  slug: string,
  query: URLSearchParams,
): Promise<Found | 'invalid schedule' | null> {
  const schedule: Schedule = {
    kind: 'period',
    period_seconds: seconds(query.get('every')) ?? 86_400,
    grace_seconds: seconds(query.get('grace')) ?? 3600,
  }
  if (checkSchedule(schedule).length > 0) return 'invalid schedule'
  const { limits, planId } = await planOf(hub.read, workspaceId)
  const made = await record(hub, async tx => {
    // Two first pings may come together: the second finds here what the first made.
    await takeTurns(tx, 'heartbeats', workspaceId)
    const [there] = await tx
      .select({ hash: heartbeats.uuidHash })
      .from(heartbeats)
      .where(and(eq(heartbeats.workspaceId, workspaceId), eq(heartbeats.slug, slug)))
    if (there) return { result: { hash: there.hash, downAt: null, created: false } }
    const max = limits.heartbeats
    const used = max === null ? 0 : await countHeartbeats(tx, workspaceId)
    if (max !== null && used >= max) return { result: null }
    const { row, uuid } = await insertHeartbeat(tx, { hub, workspaceId }, { name: slug, slug, schedule })
    return {
      result: { hash: sha256Hex(uuid), downAt: row.downAt, created: true },
      notices: max === null ? [] : limitNotices({ workspaceId, limit: 'heartbeats', max, used, planId }),
      audits: [
        {
          workspaceId,
          action: 'heartbeat.create',
          actor: { type: 'ingest', id: row.id, name: slug, hint: null },
          targets: [{ type: 'heartbeat', id: row.id, name: slug }],
          context: { ip: null, user_agent: null, request_id: null, idempotency_key: null, channel: 'ingest' },
          reason: 'Made by its first ping.',
        },
      ],
    }
  })
  if (made) dueChanged(hub, made.downAt)
  return made
}

/** `90`, `90s`, `30m`, `12h`, `7d`, `2w` in seconds; null when absent, NaN when it is none of them. */
function seconds(text: string | null): number | null {
  if (text === null) return null
  const match = /^(\d{1,9})([smhdw]?)$/.exec(text)
  return match ? Number(match[1]) * { '': 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }[match[2] as '' | 's']! : Number.NaN
}
