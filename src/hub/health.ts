import { eq, sql } from 'drizzle-orm'
import { migrations } from '../../migrations/list'
import { isPostgres } from '../core/db/dialect'
import { freeBytes, inMebibytes, leastFree } from '../core/disk'
import { hubs, instanceFacts } from '../core/db/tables'
import type { Hub } from '../core/hub'
import { hubTimeoutMs, nextRunAt } from '../core/jobs/queue'
import type { Worker } from '../core/jobs/worker'
import { Problem } from '../core/problem'
import { recorderOf } from '../features/monitors/series/recorder'
import { monitoringHealth } from '../features/monitors/live/standing'

/**
 * One thing that a hub needs to serve: whether it is well, and if not, what is wrong in a sentence. A hub with something `degraded`
 * is ready all the same: sending its callers elsewhere would help nobody.
 */
export interface Check {
  status: 'ok' | 'degraded' | 'failing'
  detail: string | null
}
export type CheckName = 'database' | 'migrations' | 'master_key' | 'jobs' | 'presence' | 'storage' | 'monitoring'
export interface Readiness {
  status: 'ready' | 'not_ready'
  checks: Record<CheckName, Check>
}

/**
 * Whether this hub can serve, looked at no more than once a second: whoever asks more often gets the last finding.
 */
export async function readiness(hub: Hub, worker: Worker): Promise<Readiness> {
  const now = hub.clock.now()
  const last = findings.get(hub)
  if (last && now >= last.at && now - last.at < keptMs) return await last.found
  const found = examine(hub, worker)
  findings.set(hub, { at: now, found })
  return await found
}

/** A hub that is not ready, as the error it answers with. */
export function notReady(found: Readiness): Problem {
  const failing = Object.entries(found.checks)
    .filter(([, check]) => check.status === 'failing')
    .map(([name, check]) => `${name}: ${check.detail}`)
  return new Problem('not_ready', failing.join(' '), { headers: { 'Retry-After': '1' }, members: { checks: found.checks } })
}

const keptMs = 1000
const findings = new WeakMap<Hub, { at: number; found: Promise<Readiness> }>()
// A database that answers slower than this serves nobody.
const longestAnswerMs = 2000
// A due job that nobody takes for this long means that the worker stands still: it looks at least once a second.
const longestWaitMs = 30_000

async function examine(hub: Hub, worker: Worker): Promise<Readiness> {
  const [database, migrated, masterKey, jobs, presence, storage] = await Promise.all([
    checked(() => databaseAnswers(hub)),
    checked(() => migrationsDone(hub)),
    checked(() => masterKeyFits(hub)),
    checked(() => jobsMove(hub, worker)),
    checked(() => isPresent(hub)),
    checked(() => hasRoom(hub)),
  ])
  const monitoring = monitoringHealth(hub)
  const checks = { database, migrations: migrated, master_key: masterKey, jobs, presence, storage, monitoring }
  return { status: Object.values(checks).some(one => one.status === 'failing') ? 'not_ready' : 'ready', checks }
}

/** What is wrong, or null. What a database error says stays in the log: it may name hosts and users. */
async function checked(look: () => Promise<string | null>): Promise<Check> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<string>(resolve => {
    timer = setTimeout(() => resolve(`The database has not answered within ${longestAnswerMs} ms.`), longestAnswerMs)
  })
  try {
    const detail = await Promise.race([look(), late])
    return { status: detail === null ? 'ok' : 'failing', detail }
  } catch {
    return { status: 'failing', detail: 'The database does not answer.' }
  } finally {
    clearTimeout(timer)
  }
}

async function databaseAnswers(hub: Hub): Promise<string | null> {
  await hub.read.select({ name: instanceFacts.name }).from(instanceFacts).limit(1)
  return null
}

/** A newer hub on the same database may have changed the tables under this one. */
async function migrationsDone(hub: Hub): Promise<string | null> {
  const rows = await hub.read.select({ tag: sql<string>`tag` }).from(sql`_migrations`)
  const applied = new Set(rows.map(row => row.tag))
  const known = (isPostgres ? migrations.postgres : migrations.sqlite).map(step => step.tag)
  const missing = known.filter(tag => !applied.has(tag))
  const strange = [...applied].filter(tag => !known.includes(tag))
  if (missing.length > 0) return `Migration ${missing[0]} is not applied.`
  return strange.length > 0 ? `The database was changed by a newer version (migration ${strange[0]}): replace this one.` : null
}

async function masterKeyFits(hub: Hub): Promise<string | null> {
  const [row] = await hub.read
    .select({ value: instanceFacts.value })
    .from(instanceFacts)
    .where(eq(instanceFacts.name, 'master_key_canary'))
  return hub.keys.knows(row?.value.split('.')[0] ?? '') ? null : 'The master key is not the one this database was made with.'
}

async function jobsMove(hub: Hub, worker: Worker): Promise<string | null> {
  for (const [kind, running] of Object.entries(worker.counts())) {
    // What runs will end, and make room; what waits while nothing of its kind runs was forgotten.
    if (running > 0) continue
    const due = await nextRunAt(hub.read, kind)
    if (due !== null && hub.clock.now() - due > longestWaitMs) return `Jobs of the kind ${kind} are due and nobody takes them.`
  }
  return null
}

async function isPresent(hub: Hub): Promise<string | null> {
  const [row] = await hub.read.select({ seenAt: hubs.seenAt }).from(hubs).where(eq(hubs.id, hub.id))
  if (!row) return 'This hub is not entered among the running ones.'
  return hub.clock.now() - row.seenAt <= hubTimeoutMs
    ? null
    : 'This hub could not renew its presence in the database. Other hubs of the database, where there are any, take over its jobs.'
}

/** What is stored on this machine's disk, and whether the last writes found the disk of the database full, wherever it is. */
async function hasRoom(hub: Hub): Promise<string | null> {
  if (hub.store.isFull()) return 'The disk of the database is full, and nothing can be written: make room.'
  const series = recorderOf(hub).trouble()
  if (series || hub.config.databaseUrl) return series
  const free = await freeBytes(hub.config.data)
  return free < leastFree
    ? `The disk of the data folder has ${inMebibytes(free)} left, and writes are about to fail: make room.`
    : null
}
