import { and, count, desc, eq, gt, lte, min } from 'drizzle-orm'
import { workspaces } from '../../access/tables'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { countRows } from '../../core/db/counts'
import { databaseSize } from '../../core/db/size'
import { hubs, jobs } from '../../core/db/tables'
import { diskSpace } from '../../core/disk'
import type { Hub } from '../../core/hub'
import { lastBackup } from '../../core/last-backup'
import { liveSince } from '../../core/live-hubs'
import { oneLine } from '../../core/one-line'
import { wrappingKeyId } from '../../core/secrets'
import { version } from '../../core/version'
import { hasMail, lastMail } from '../people/system-mail'
import { problemsOf } from './problems'
import type { InstallationProblemView, InstallationView } from './shapes'

/** What only the hub knows. */
export interface HubState {
  problems: InstallationProblemView[]
  /** When the oldest waiting job is due (ms UTC); null if none is waiting. */
  nextJobAt: number | null
  /** Whether a rotation of the master key is not completed. */
  isRotating: boolean
}
export type StateOfHub = (hub: Hub) => Promise<HubState>

const maxHubs = 100
const failedSinceMs = 30 * 86_400_000
// The last failed jobs that are looked at.
const maxFailed = 1000

export async function getInstallation({ hub }: Ctx, stateOf: StateOfHub): Promise<InstallationView> {
  const now = hub.clock.now()
  const [state, database, disk, backup, mail, requiredKeyId, [created]] = await Promise.all([
    stateOf(hub),
    databaseSize(hub.config, hub.read),
    diskSpace(hub.config.data),
    lastBackup(hub.read),
    lastMail(hub.read),
    wrappingKeyId(hub.read),
    hub.read.select({ at: min(workspaces.createdAt) }).from(workspaces),
  ])
  const createdAt = Number(created?.at ?? now)
  const facts: Omit<InstallationView, 'problems'> = {
    build: { version, runtime: `Bun ${Bun.version} on ${process.platform} ${process.arch}` },
    created_at: instant(createdAt),
    hubs: await hubViews(hub),
    database: {
      engine: database.engine,
      version: database.version,
      size_bytes: database.bytes,
      log_bytes: database.logBytes,
    },
    disk: { folder: hub.config.data, free_bytes: disk.free, total_bytes: disk.total },
    jobs: await jobCounts(hub, state.nextJobAt),
    mail: {
      configured: hasMail(hub),
      server: hub.config.smtpUrl?.host ?? null,
      from: hub.config.mailFrom,
      last_attempt_at: mail?.at ?? null,
      last_error: mail?.error ?? null,
    },
    backup: {
      last_at: backup?.created_at ?? null,
      form: backup?.form ?? null,
      size_bytes: backup?.bytes ?? null,
      with_series: backup?.with_series ?? false,
    },
    keys: {
      master_key_id: hub.keys.masterKeyId,
      required_key_id: requiredKeyId ?? hub.keys.masterKeyId,
      rotating: state.isRotating,
    },
    metrics_token_configured: hub.config.metricsToken !== null,
  }
  return { ...facts, problems: [...state.problems, ...problemsOf(facts, backup, now)].toSorted(bySeverity) }
}

const severities = ['critical', 'warning', 'info']
const bySeverity = (a: InstallationProblemView, b: InstallationProblemView) =>
  severities.indexOf(a.severity) - severities.indexOf(b.severity)

async function hubViews(hub: Hub): Promise<InstallationView['hubs']> {
  const rows = await hub.read.select().from(hubs).orderBy(desc(hubs.startedAt)).limit(maxHubs)
  const since = liveSince(hub)
  return rows.map(row => ({
    id: row.id,
    host: row.host,
    version: row.version,
    running: row.masterKeyId !== null && row.seenAt > since,
    current: row.id === hub.id,
    started_at: instant(row.startedAt),
    last_seen_at: instant(row.seenAt),
  }))
}

async function jobCounts(hub: Hub, nextAt: number | null): Promise<InstallationView['jobs']> {
  const now = hub.clock.now()
  const { read } = hub
  const ids = { id: jobs.id }
  const isWaiting = eq(jobs.state, 'ready')
  const failed = read
    .select({ kind: jobs.kind, error: jobs.lastError })
    .from(jobs)
    .where(and(eq(jobs.state, 'failed'), gt(jobs.failedAt, now - failedSinceMs)))
    .limit(maxFailed)
    .as('failed')
  const [waiting, due, running, kinds] = await Promise.all([
    countRows(read, read.select(ids).from(jobs).where(isWaiting)),
    countRows(
      read,
      read
        .select(ids)
        .from(jobs)
        .where(and(isWaiting, lte(jobs.runAt, now))),
    ),
    countRows(read, read.select(ids).from(jobs).where(eq(jobs.state, 'running'))),
    read
      .select({ kind: failed.kind, count: count(), error: min(failed.error) })
      .from(failed)
      .groupBy(failed.kind)
      .orderBy(failed.kind),
  ])
  return {
    waiting,
    due,
    running,
    oldest_due_at: nextAt !== null && nextAt <= now ? instant(nextAt) : null,
    failed: kinds.map(one => ({ kind: one.kind, count: one.count, last_error: oneLine(one.error ?? 'Unknown error') })),
  }
}
