import { flushTokenUses } from '../access/token-use'
import { warnOfExpiringTokens } from '../features/tokens/expiry'
import { cron } from '@elysiajs/cron'
import { Elysia } from 'elysia'
import { pruneKeys } from '../api/idempotency'
import { pruneInvitations } from '../features/people/invitations/invitations'
import { flushDeprecatedUse } from '../api/deprecated-use'
import { limiterOf } from '../access/limiter'
import { pruneSessions } from '../features/people/sign-in/sessions'
import { record } from '../core/change'
import { allowsSeveralHubs } from '../core/db/dialect'
import type { Hub } from '../core/hub'
import { hasLostJobs, reap } from '../core/jobs/queue'
import type { Worker } from '../core/jobs/worker'
import { sendCertificateAlarms } from '../features/certificates/alarms'
import { pruneCertificates } from '../features/certificates/retention'
import { startRevocationChecks } from '../features/certificates/revocation/check-revocation'
import { pruneCrls } from '../features/certificates/revocation/crl-rows'
import { renewDue } from '../features/acme/managed-certificates/renew-due'
import { startCtSearches } from '../features/coverage/ct/search-ct'
import { watchZoneChanges, workOutAllGaps } from '../features/coverage/schedule'
import { pruneGaps } from '../features/coverage/work-out-gaps'
import { pruneActions } from '../features/actions/retention'
import { signAudit } from '../features/audit/checkpoint-file'
import { pruneAudit } from '../features/audit/retention'
import { pruneEvents } from '../features/events/retention'
import { runSnapshotPolicies } from '../features/servers/snapshot-policies/run'
import { liveServersOf } from '../features/servers/live/live-servers'
import { recordAgentCertificates } from '../features/servers/certificates/inventory'
import { watchStorage } from '../features/servers/snapshots/watch'
import { pruneCommands } from '../features/servers/agents/command-results'
import { updateAgents } from '../features/servers/agents/rollouts'
import { pruneServers, watchServers } from '../features/servers/watch'
import { rollUpMetrics } from '../features/servers/metrics/recorder'
import { pruneMetrics, thinMetrics } from '../features/servers/metrics/retention'
import { watchExcesses } from '../features/limits/excess'
import { expireRecords } from '../features/dns/records/expiry'
import { readChangedZones, writeTransfers } from '../features/dns/publish/name-server'
import { pruneTransfers } from '../features/dns/transfers/transfer-log'
import { pruneHistory } from '../features/dns/history/retention'
import { prunePlans } from '../features/dns/plans/plans'
import { pruneDynamicIpHistory, watchSources, watchZones } from '../features/dynamic-ips/watch'
import { readDueTargets } from '../features/dns/sync/sync-zone'
import { catchUp } from '../features/heartbeats/status/late-heartbeats'
import { pruneHeartbeats } from '../features/heartbeats/retention'
import { recorderOf } from '../features/monitors/series/recorder'
import { pruneSeries, thinSeries } from '../features/monitors/series/retention'
import { sealHours } from '../features/monitors/series/seal'
import { refreshCalendar } from '../features/maintenance/calendar'
import { pruneNotices } from '../features/notices/retention'
import { pruneIncidents } from '../features/incidents/retention'
import { pruneNotifications } from '../features/notifications/delivery/retention'
import { compareDelegations } from '../features/domains/delegations'
import { watchEnds } from '../features/domains/apply-facts'
import { refreshBootstrap } from '../features/registry/bootstrap-refresh'
import { pruneRegistry } from '../features/registry/interests'
import { readDueRegistrations } from '../features/registry/look'
import { gatherEndpoints } from '../features/tls-endpoints/gather'
import { scanChanged } from '../features/tls-endpoints/scans/scan-changed'
import { pruneTlsScans, scanDue } from '../features/tls-endpoints/scans/scan-due'
import { checkFailingEndpoints } from '../features/webhooks/endpoints/failing'
import { hasOpenDelivery } from '../features/webhooks/deliveries/open'
import type { Listening } from './listen'
import { pruneDeliveries } from '../features/webhooks/deliveries/retention'
import { notifyFailedJobs } from './failed-jobs'
import { reloadMasterKey } from './keys/reload'
import { renewPresence } from './presence'

/** Starts all scheduled tasks. Every hub runs them, possibly at the same time, so a task may only claim, renew or delete rows. */
export function startScheduledTasks(hub: Hub, worker: Worker, listening: Listening): () => void {
  const tasks: Task[] = [
    { name: 'renew-master-key', every: 1, run: () => reloadMasterKey(hub) },
    { name: 'renew-presence', every: 1, run: () => renewPresence(hub) },
    {
      name: 'catch-up',
      every: 1,
      run: () => {
        worker.wake()
        return catchUp(hub)
      },
      onlyAfterCommits: true,
    },
    { name: 'wake-due-jobs', every: 1, run: async () => worker.wakeDue() },
    { name: 'read-changed-zones', every: 1, run: () => readChangedZones(hub) },
    { name: 'expire-records', every: 1, run: () => expireRecords(hub) },
    { name: 'write-transfers', every: 1, run: () => writeTransfers(hub) },
    { name: 'read-maintenance', every: 1, run: () => refreshCalendar(hub), onlyAfterCommits: true },
    { name: 'write-results', every: 1, run: () => recorderOf(hub).flush() },
    { name: 'seal-hours', every: 10, run: () => sealHours(hub) },
    {
      name: 'reap-jobs',
      every: allowsSeveralHubs ? 2 : 5,
      run: async () => {
        if (!(await hasLostJobs(hub))) return
        await record(hub, async tx => ({ result: await reap(tx, hub) }))
        worker.wake()
      },
    },
    { name: 'renew-tls', pattern: '15 * * * * *', run: () => listening.renewTls(hub.log) },
    { name: 'flush-token-uses', pattern: '0 * * * * *', run: () => flushTokenUses(hub) },
    { name: 'flush-deprecated-use', pattern: '0 * * * * *', run: () => flushDeprecatedUse(hub) },
    { name: 'sweep-rate-limits', pattern: '30 * * * * *', run: async () => limiterOf(hub).sweep(hub.clock.now()) },
    { name: 'sweep-live-servers', pattern: '10 * * * * *', run: async () => liveServersOf(hub).sweep() },
    { name: 'warn-of-expiring-tokens', pattern: '20 * * * * *', run: () => warnOfExpiringTokens(hub) },
    { name: 'check-failing-endpoints', pattern: '25 * * * * *', run: () => checkFailingEndpoints(hub) },
    { name: 'report-failed-jobs', pattern: '35 * * * * *', run: () => notifyFailedJobs(hub) },
    { name: 'check-plan-limits', pattern: '50 */10 * * * *', run: () => watchExcesses(hub) },
    { name: 'record-agent-certificates', every: 10, run: () => recordAgentCertificates(hub), onlyAfterCommits: true },
    { name: 'send-certificate-alarms', pattern: '55 * * * * *', run: () => sendCertificateAlarms(hub) },
    { name: 'check-revocation', pattern: '40 * * * * *', run: () => startRevocationChecks(hub) },
    { name: 'sign-audit', pattern: '45 * * * * *', run: () => signAudit(hub) },
    { name: 'prune-sessions', pattern: '0 7 * * * *', run: () => pruneSessions(hub) },
    { name: 'prune-invitations', pattern: '0 12 * * * *', run: () => pruneInvitations(hub) },
    { name: 'renew-due', pattern: '55 * * * * *', run: () => renewDue(hub) },
    { name: 'work-out-certificate-gaps', pattern: '0 21 * * * *', run: () => workOutAllGaps(hub) },
    { name: 'search-ct', pattern: '15 * * * * *', run: () => startCtSearches(hub) },
    { name: 'prune-certificate-gaps', pattern: '0 24 * * * *', run: () => pruneGaps(hub) },
    { name: 'watch-names-of-certificates', every: 30, run: () => watchZoneChanges(hub), onlyAfterCommits: true },
    { name: 'prune-idempotency-keys', pattern: '0 17 * * * *', run: () => pruneKeys(hub) },
    { name: 'gather-endpoints', every: 60, run: () => gatherEndpoints(hub), onlyAfterCommits: true },
    { name: 'scan-due-endpoints', every: 10, run: () => scanDue(hub) },
    { name: 'scan-changed-endpoints', every: 10, run: () => scanChanged(hub) },
    { name: 'prune-tls-scans', pattern: '0 34 * * * *', run: () => pruneTlsScans(hub) },
    { name: 'read-due-registrations', every: 5, run: () => readDueRegistrations(hub) },
    { name: 'watch-domain-ends', every: 30, run: () => watchEnds(hub) },
    { name: 'compare-delegations', pattern: '0 11 * * * *', run: () => compareDelegations(hub) },
    { name: 'refresh-bootstrap', pattern: '0 38 * * * *', run: () => refreshBootstrap(hub) },
    { name: 'prune-registry', pattern: '0 44 * * * *', run: () => pruneRegistry(hub) },
    { name: 'prune-heartbeats', pattern: '0 27 * * * *', run: () => pruneHeartbeats(hub) },
    { name: 'prune-deliveries', pattern: '0 37 * * * *', run: () => pruneDeliveries(hub) },
    { name: 'prune-actions', pattern: '0 */10 * * * *', run: () => pruneActions(hub) },
    { name: 'watch-dynamic-ips', every: 10, run: () => watchSources(hub) },
    { name: 'watch-zones-of-dynamic-ips', pattern: '40 * * * * *', run: () => watchZones(hub) },
    { name: 'prune-dynamic-ip-history', pattern: '0 2 * * * *', run: () => pruneDynamicIpHistory(hub) },
    { name: 'watch-servers', every: 10, run: () => watchServers(hub) },
    { name: 'run-snapshot-policies', pattern: '5 * * * * *', run: () => runSnapshotPolicies(hub) },
    { name: 'watch-storage', pattern: '20 * * * * *', run: () => watchStorage(hub) },
    { name: 'update-agents', pattern: '50 * * * * *', run: () => updateAgents(hub) },
    { name: 'prune-servers', pattern: '0 4 * * * *', run: () => pruneServers(hub) },
    { name: 'prune-agent-commands', pattern: '0 14 * * * *', run: () => pruneCommands(hub) },
    { name: 'roll-up-metrics', pattern: '5 * * * * *', run: () => rollUpMetrics(hub) },
    { name: 'prune-metrics', pattern: '0 9 * * * *', run: () => pruneMetrics(hub) },
    { name: 'thin-metrics', pattern: '0 41 3 * * *', run: () => thinMetrics(hub) },
    { name: 'read-due-targets', every: 5, run: () => readDueTargets(hub) },
    { name: 'prune-certificates', pattern: '0 24 * * * *', run: () => pruneCertificates(hub) },
    { name: 'prune-revocation-lists', pattern: '0 26 * * * *', run: () => pruneCrls(hub) },
    { name: 'prune-dns-plans', pattern: '0 40 * * * *', run: () => prunePlans(hub) },
    { name: 'prune-incidents', pattern: '0 32 * * * *', run: () => pruneIncidents(hub) },
    { name: 'prune-events', pattern: '0 47 * * * *', run: () => pruneEvents(hub, hasOpenDelivery) },
    { name: 'prune-notices', pattern: '0 52 * * * *', run: () => pruneNotices(hub) },
    { name: 'prune-series', pattern: '0 */5 * * * *', run: () => pruneSeries(hub) },
    { name: 'thin-series', pattern: '0 17 3 * * *', run: () => thinSeries(hub) },
    { name: 'prune-notifications', pattern: '0 54 * * * *', run: () => pruneNotifications(hub) },
    { name: 'prune-transfers', pattern: '0 22 * * * *', run: () => pruneTransfers(hub) },
    { name: 'prune-dns-history', pattern: '0 42 * * * *', run: () => pruneHistory(hub) },
    { name: 'prune-audit', pattern: '0 57 * * * *', run: () => pruneAudit(hub) },
  ]
  const stopFrequent = startFrequent(
    hub,
    tasks.filter(task => 'every' in task),
  )
  let app = new Elysia({ name: 'scheduled-tasks' })
  for (const task of tasks) {
    if ('every' in task) continue
    const run = withoutOverlap(hub, task)
    app = app.use(cron({ name: task.name, pattern: task.pattern, run: () => run() })) as never
  }
  const { cron: timers } = app.store as unknown as { cron: Record<string, { stop(): void }> }
  return () => {
    stopFrequent()
    for (const timer of Object.values(timers)) timer.stop()
  }
}

interface Runnable {
  name: string
  run(): Promise<unknown>
  /** It only looks for changes in the database, so it doesn't run while nothing is committed. */
  onlyAfterCommits?: boolean
}

/** `every`: seconds. */
type FrequentTask = Runnable & { every: number }
type Task = FrequentTask | (Runnable & { pattern: string })

/** Runs the tasks that are due every few seconds with a single timer: computing the next time of a pattern costs more than most of them. */
function startFrequent(hub: Hub, tasks: readonly FrequentTask[]): () => void {
  const runs = tasks.map(task => ({ every: task.every, run: withoutOverlap(hub, task) }))
  let seconds = 0
  const timer = setInterval(() => {
    seconds++
    const version = hub.store.version()
    for (const { every, run } of runs) if (seconds % every === 0) void run(version)
  }, 1000)
  return () => clearInterval(timer)
}

/** Runs a task unless it is still running. An error doesn't end the process. */
function withoutOverlap(hub: Hub, { name, run, onlyAfterCommits }: Runnable): (version?: string | null) => Promise<void> {
  let isRunning = false
  /** The version of the database that the task has seen. */
  let seen: string | null = null
  return async (version = null) => {
    if (isRunning || (onlyAfterCommits && version !== null && version === seen)) return
    isRunning = true
    try {
      await run()
      seen = version
    } catch (error) {
      hub.log.error({ err: error, task: name }, 'a scheduled task failed')
    } finally {
      isRunning = false
    }
  }
}
