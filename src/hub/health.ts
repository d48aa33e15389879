import { eq, sql } from 'drizzle-orm'
import { migrations } from '../../migrations/list'
import { isPostgres } from '../core/db/dialect'
import { freeBytes, formatMebibytes, minFreeBytes } from '../core/disk'
import { hubs, instanceFacts } from '../core/db/tables'
import type { Hub } from '../core/hub'
import { nextRunAtInOpenLanes } from '../core/jobs/queue'
import { hubTimeoutMs } from '../core/live-hubs'
import type { Worker } from '../core/jobs/worker'
import { Problem } from '../core/problem'
import { recorderOf } from '../features/monitors/series/recorder'
import { monitoringHealth } from '../features/monitors/live/health'

/** The result of a health check. A hub with a `degraded` check is still ready: sending its clients elsewhere would not help. */
interface HealthCheck {
  status: 'ok' | 'degraded' | 'failing'
  detail: string | null
}
type HealthCheckName = 'database' | 'migrations' | 'master_key' | 'jobs' | 'presence' | 'storage' | 'monitoring'
interface Readiness {
  status: 'ready' | 'not_ready'
  checks: Record<HealthCheckName, HealthCheck>
}

/** Returns whether this hub is ready. The checks run at most once a second. */
export async function readiness(hub: Hub): Promise<Readiness> {
  const now = hub.clock.now()
  const last = cache.get(hub)
  if (last && now >= last.at && now - last.at < cacheMs) return await last.result
  const result = runChecks(hub, workers.get(hub)!)
  cache.set(hub, { at: now, result })
  return await result
}

/** The error response of a hub that is not ready. */
export function notReady({ checks }: Readiness): Problem {
  const failing = Object.entries(checks)
    .filter(([, check]) => check.status === 'failing')
    .map(([name, check]) => `${name}: ${check.detail}`)
  return new Problem('not_ready', failing.join(' '), { headers: { 'Retry-After': '1' }, fields: { checks } })
}

/** Sets the worker whose jobs are checked. */
export const setWorker = (hub: Hub, worker: Worker): void => void workers.set(hub, worker)

const workers = new WeakMap<Hub, Worker>()
const cacheMs = 1000
const cache = new WeakMap<Hub, { at: number; result: Promise<Readiness> }>()
// A slower database makes the hub unusable.
const maxDatabaseMs = 2000
// The worker polls at least once a second, so a job that is due for longer than this means that the worker is stuck.
export const maxJobDelayMs = 30_000

async function runChecks(hub: Hub, worker: Worker): Promise<Readiness> {
  const [database, migrated, masterKey, jobs, presence, storage] = await Promise.all([
    runCheck(() => checkDatabase(hub)),
    runCheck(() => checkMigrations(hub)),
    runCheck(() => checkMasterKey(hub)),
    runCheck(() => checkJobs(hub, worker)),
    runCheck(() => checkPresence(hub)),
    runCheck(() => checkStorage(hub)),
  ])
  const monitoring = monitoringHealth(hub)
  const checks = { database, migrations: migrated, master_key: masterKey, jobs, presence, storage, monitoring }
  return { status: Object.values(checks).some(one => one.status === 'failing') ? 'not_ready' : 'ready', checks }
}

/** Runs a check, which returns what is wrong or null. Hides database errors, because they can contain hosts and users. */
async function runCheck(check: () => Promise<string | null>): Promise<HealthCheck> {
  let timer: ReturnType<typeof setTimeout> | undefined
  const timeout = new Promise<string>(resolve => {
    timer = setTimeout(() => resolve(`The database did not respond within ${maxDatabaseMs} ms.`), maxDatabaseMs)
  })
  try {
    const detail = await Promise.race([check(), timeout])
    return { status: detail === null ? 'ok' : 'failing', detail }
  } catch {
    return { status: 'failing', detail: 'The database does not respond.' }
  } finally {
    clearTimeout(timer)
  }
}

async function checkDatabase(hub: Hub): Promise<string | null> {
  await hub.read.select({ name: instanceFacts.name }).from(instanceFacts).limit(1)
  return null
}

/** A newer hub on the same database may have migrated it while this one is running. */
async function checkMigrations(hub: Hub): Promise<string | null> {
  const rows = await hub.read.select({ tag: sql<string>`tag` }).from(sql`_migrations`)
  const applied = new Set(rows.map(row => row.tag))
  const known = (isPostgres ? migrations.postgres : migrations.sqlite).map(step => step.tag)
  const missing = known.filter(tag => !applied.has(tag))
  const unknown = [...applied].filter(tag => !known.includes(tag))
  if (missing.length > 0) return `Migration ${missing[0]} has not been applied.`
  return unknown.length > 0 ? `The database was migrated by a newer version (migration ${unknown[0]}). Update this hub.` : null
}

async function checkMasterKey(hub: Hub): Promise<string | null> {
  const [row] = await hub.read
    .select({ value: instanceFacts.value })
    .from(instanceFacts)
    .where(eq(instanceFacts.name, 'master_key_canary'))
  return hub.keys.has(row?.value.split('.')[0] ?? '') ? null : 'The master key does not match this database.'
}

async function checkJobs(hub: Hub, worker: Worker): Promise<string | null> {
  for (const [kind, running] of Object.entries(worker.counts())) {
    // While jobs of a kind are running, others may be waiting for them. If none are running, due jobs should have started.
    if (running > 0) continue
    // Jobs of a lane wait while it is held, such as deliveries to a webhook endpoint that keeps failing.
    const overdue = hub.clock.now() - maxJobDelayMs
    const due = await nextRunAtInOpenLanes(hub.read, kind, overdue)
    if (due !== null && due < overdue) return `Jobs of the kind ${kind} are due but are not being run.`
  }
  return null
}

async function checkPresence(hub: Hub): Promise<string | null> {
  const [row] = await hub.read.select({ seenAt: hubs.seenAt }).from(hubs).where(eq(hubs.id, hub.id))
  if (!row) return 'This hub is not registered as running.'
  return hub.clock.now() - row.seenAt <= hubTimeoutMs
    ? null
    : 'This hub could not renew its presence in the database. Other hubs on the same database will run its jobs.'
}

/** Checks for free disk space: on the disk of the database, wherever it is, and in the data folder. */
async function checkStorage(hub: Hub): Promise<string | null> {
  if (hub.store.isFull()) return 'The disk of the database is full and nothing can be written. Free up disk space.'
  const series = recorderOf(hub).trouble()
  if (series || hub.config.databaseUrl) return series
  const free = await freeBytes(hub.config.data)
  return free < minFreeBytes
    ? `The disk of the data folder has only ${formatMebibytes(free)} left. Free up disk space before writes fail.`
    : null
}
