import { and, eq } from 'drizzle-orm'
import { limiterOf } from '../../../access/limiter'
import { failedCredentials } from '../../../access/rate-limits'
import { countOf, limitNotices, lockLimit } from '../../../access/plans'
import { planOf } from '../../../access/workspaces'
import { record } from '../../../core/change'
import { sha256Hex } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'
import { insertHeartbeat } from '../heartbeats'
import { scheduleDueCheck } from '../status/due-timer'
import { parsePingUrl, parseRunId, type PingUrl } from './url'
import { hashesOfSlug, workspaceOfKey } from './keys'
import { heartbeatExists, recordPing, type RecordedPing } from './pings'
import { checkSchedule, type Schedule } from '../schedule/schedule'
import { heartbeats } from '../tables'

/** A request to any of the ping APIs. */
export interface PingRequest {
  /** The decoded path segments after the prefix. */
  parts: readonly string[]
  query: URLSearchParams
  method: string
  source: string
  userAgent: string
  /** Null if the request has no body. */
  body: Uint8Array | null
}

/** The result, which each API turns into its own response. */
export type PingResult =
  | { outcome: 'recorded'; created: boolean; ping: NonNullable<RecordedPing> }
  | { outcome: 'not found' | 'invalid url format' | 'invalid uuid format' | 'invalid schedule' | 'ambiguous slug' }
  | { outcome: 'rate limited'; retryAfterSeconds: number }

// Keeps a client in a loop from filling the disk. Far above what a job with the shortest period needs.
const maxPingsPerMinute = 600

/** Handles a ping from any of the ping APIs. Resolves when it is stored. */
export async function receivePing(hub: Hub, request: PingRequest): Promise<PingResult> {
  const url = parsePingUrl(request.parts)
  if (typeof url === 'string') return url === 'not found' ? unknownUrl(hub, request) : { outcome: url }
  const rid = parseRunId(request.query.get('rid'))
  if (rid === false) return { outcome: 'invalid uuid format' }

  const found = await findHeartbeat(hub, url, request.query)
  if (found === null) return unknownUrl(hub, request)
  if (typeof found === 'string') return { outcome: found }
  const now = hub.clock.now()
  const verdict = limiterOf(hub).take([{ name: 'pings', key: found.hash, quota: maxPingsPerMinute, windowSeconds: 60 }], now)
  if (!verdict.allowed) return { outcome: 'rate limited', retryAfterSeconds: verdict.retryAfterSeconds }
  const ping = await recordPing(hub, {
    uuidHash: found.hash,
    kind: url.kind,
    exitStatus: url.exitStatus,
    rid,
    at: now,
    method: request.method,
    source: request.source,
    userAgent: request.userAgent.slice(0, 200),
    body: request.body?.length ? request.body : null,
  })
  return ping ? { outcome: 'recorded', created: found.created, ping } : unknownUrl(hub, request)
}

/** Counts an unknown URL as failed credentials, so that URLs can’t be guessed by brute force. */
function unknownUrl(hub: Hub, request: PingRequest): PingResult {
  const verdict = limiterOf(hub).take([failedCredentials(request.source, hub.config.failedCredentialsPerMinute)], hub.clock.now())
  return verdict.allowed ? { outcome: 'not found' } : { outcome: 'rate limited', retryAfterSeconds: verdict.retryAfterSeconds }
}

interface FoundHeartbeat {
  hash: string
  created: boolean
}

async function findHeartbeat(
  hub: Hub,
  { target }: PingUrl,
  query: URLSearchParams,
): Promise<FoundHeartbeat | 'ambiguous slug' | 'invalid schedule' | null> {
  if ('uuid' in target) {
    const hash = sha256Hex(target.uuid)
    return (await heartbeatExists(hub, hash)) ? { hash, created: false } : null
  }
  const workspaceId = await workspaceOfKey(hub, target.key)
  if (workspaceId === null) return null
  const hashes = await hashesOfSlug(hub, workspaceId, target.slug)
  if (hashes.length > 1) return 'ambiguous slug'
  if (hashes[0]) return { hash: hashes[0], created: false }
  return query.get('create') === '1' ? await createBySlug(hub, workspaceId, target.slug, query) : null
}

/** Creates a heartbeat on its first ping by slug with `?create=1`. `every` and `grace` set its schedule. */
async function createBySlug(
  hub: Hub,
  workspaceId: string,
  slug: string,
  query: URLSearchParams,
): Promise<FoundHeartbeat | 'invalid schedule' | null> {
  const schedule: Schedule = {
    kind: 'period',
    period_seconds: parseDuration(query.get('every')) ?? 86_400,
    grace_seconds: parseDuration(query.get('grace')) ?? 3600,
  }
  if (checkSchedule(schedule).length > 0) return 'invalid schedule'
  const { limits, planId } = await planOf(hub.read, workspaceId)
  const found = await record(hub, async tx => {
    // Check again under the lock: a concurrent first ping may have created it.
    await lockLimit(tx, 'heartbeats', workspaceId)
    const [existing] = await tx
      .select({ hash: heartbeats.uuidHash })
      .from(heartbeats)
      .where(and(eq(heartbeats.workspaceId, workspaceId), eq(heartbeats.slug, slug)))
    if (existing) return { result: { hash: existing.hash, downAt: null, created: false } }
    const max = limits.heartbeats
    const used = max === null ? 0 : await countOf(tx, 'heartbeat', workspaceId)
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
          reason: 'Created by its first ping.',
        },
      ],
    }
  })
  if (found) scheduleDueCheck(hub, found.downAt)
  return found
}

/** Parses `90`, `90s`, `30m`, `12h`, `7d`, or `2w` to seconds. Null: absent. NaN: invalid. */
function parseDuration(text: string | null): number | null {
  if (text === null) return null
  const match = /^(\d{1,9})([smhdw]?)$/.exec(text)
  return match ? Number(match[1]) * { '': 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }[match[2] as '' | 's']! : Number.NaN
}
