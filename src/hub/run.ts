import { watchCallers } from '../access/callers'
import { flushTokenUses } from '../access/token-use'
import { setupToken } from '../features/people/sign-up/setup'
import { hostname } from 'node:os'
import { setTimeout } from 'node:timers/promises'
import type { Server } from 'bun'
import type { AnyElysia } from 'elysia'
import { prepareInstance } from '../access/workspaces'
import { flushDeprecatedUse } from '../api/deprecated-use'
import { endWaits } from '../api/long-poll'
import { hasUsers } from '../features/people/users'
import { EngineSupervisor } from '../checks/engine/engine-supervisor'
import { InvalidSetting, baseUrl, masterKeyFile, sqliteFile, type Config } from '../core/config'
import { jobsChannel } from '../core/change'
import { systemClock, type Clock } from '../core/clock'
import { folderProblem, loadOrCreateMasterKeys, requiredMasterKeyId } from '../core/installation'
import { isPostgres } from '../core/db/dialect'
import { isUnavailable } from '../core/db/errors'
import { flushCalls } from '../features/dynamic-ips/calls'
import { openSeries } from '../core/db/series'
import { Checkpoints } from '../core/db/checkpoints'
import { openPostgres, openSqlite } from '../core/db/store'
import type { Hub } from '../core/hub'
import { newId } from '../core/ids'
import { JobSignal } from '../core/jobs/signal'
import { Worker } from '../core/jobs/worker'
import { openLog, type Log } from '../core/log'
import { loopBlocks } from '../core/loop-blocks'
import { systemResolve, type Resolve } from '../core/net/egress'
import { KeyRing } from '../core/secrets'
import { liveServersChannel, liveServersOf } from '../features/servers/live/live-servers'
import { changeHintsChannel, changeHintsOf } from '../core/change-hints'
import { createApp } from './app'
import { finishRestore } from './backup/finish-restore'
import { apiAreas, ingestAreas } from './areas'
import { noticeKinds } from '../features/notice-kinds'
import { seriesKinds } from '../features/series-kinds'
import { eventJobs, jobKinds, onNotice } from './jobs'
import { serverStates } from '../features/servers/monitor-states'
import { firewallRules } from '../features/servers/firewalls/dynamic-sources'
import { gapIdsOfCertificates } from '../features/coverage/summary'
import { findSubjects } from './subjects'
import { lockFolder, recordAddress } from './folder-lock'
import { registerHub, unregisterHub, renewPresence } from './presence'
import { startScheduledTasks } from './scheduled-tasks'
import { readChangedZones, startNameServer, type RunningNameServer } from '../features/dns/publish/name-server'
import { prepareIssuing } from '../features/acme/accounts/prepare'
import { streamJobs } from '../features/audit/stream-jobs'
import { startHeartbeats } from '../features/heartbeats/status/late-heartbeats'
import { liveOf } from '../features/live/live'
import { startMonitoring } from '../features/monitors/live/watch'
import { refreshCalendar } from '../features/maintenance/calendar'
import { registryFileOf } from '../features/registry/registry-file'
import { recorderOf } from '../features/monitors/series/recorder'
import { checkListen, listen } from './listen'

/** How a hub uses its database. */
interface StorageOptions {
  /** Whether changes to SQLite files survive a power failure. Default: true. */
  isDurable?: boolean
  /** Entry point of the thread that copies the write-ahead logs. By default, commits do, which blocks the event loop. */
  checkpoints?: string
  /** Maximum number of connections to PostgreSQL, apart from those for series; 10 by default. */
  connections?: number
}

/**
 * Opens the database and the keys, for the command line and for a hub to start.
 * @throws InvalidSetting, WrongMasterKey, MigrationRefused
 */
export async function openHub(
  config: Config,
  clock: Clock = systemClock,
  log: Log = hubLog(config),
  { isDurable, checkpoints: entry, connections = 10 }: StorageOptions = {},
): Promise<Hub> {
  checkFolder(config)
  registryFileOf(config)
  const key = await loadOrCreateMasterKeys(config)
  if (key.created)
    log.warn(
      { file: masterKeyFile(config) },
      'created a master key; back it up, because secrets in the database cannot be decrypted without it',
    )
  const checkpoints = entry && !config.databaseUrl ? new Checkpoints(entry, log) : null
  const store = config.databaseUrl
    ? await openPostgres(config.databaseUrl, connections, log)
    : await openSqlite(sqliteFile(config), { isDurable, checkpoints })
  const series = openSeries({ data: config.data, databaseUrl: config.databaseUrl, now: clock.now, checkpoints }, seriesKinds)
  const hub: Hub = {
    id: newId('hub'),
    config,
    clock,
    log,
    store: {
      ...store,
      async close() {
        await Promise.all([series.close(), store.close()])
        await checkpoints?.stop()
      },
    },
    series,
    read: store.read,
    keys: new KeyRing({ current: key.key, previous: key.previous }, store.read, clock),
    jobSignal: new JobSignal(),
    eventJobs,
    noticeKinds,
    onNotice,
    auditJobs: streamJobs,
    findSubjects,
    gapIdsOfCertificates,
    firewallRules,
    serverStates,
    baseUrl: baseUrl(config, config.listen.port),
    program: process.execPath,
    listeners: [],
    resolve: systemResolve,
  }
  try {
    await prepareInstance(hub)
    await finishRestore(hub)
  } catch (error) {
    await hub.store.close()
    throw error
  }
  return hub
}

const retryMs = 1_000
const reminderMs = 60_000

/** Runs a step of the start again while the database is unavailable, for example because it is started at the same time. */
async function whenAvailable<T>(step: () => Promise<T>, log: Log, signal?: AbortSignal): Promise<T> {
  let loggedAt = Number.NEGATIVE_INFINITY
  for (;;) {
    try {
      return await step()
    } catch (error) {
      if (!isUnavailable(error) || signal?.aborted) throw error
      if (performance.now() - loggedAt >= reminderMs) {
        log.warn({ reason: (error as Error).message }, 'waiting for the database')
        loggedAt = performance.now()
      }
      await setTimeout(retryMs, undefined, { signal })
    }
  }
}

// The store logs outages of the database, so that not every failed operation has to.
const hubLog = (config: Config): Log => openLog(config.logLevel, 2, isUnavailable)

/** @throws InvalidSetting if the data folder can't store a database */
function checkFolder(config: Config): void {
  const problem = config.databaseUrl ? null : folderProblem(config.data)
  if (problem) throw new InvalidSetting(`${config.names.data}: ${problem}`)
}

/** Entry points of the threads that a hub starts. Only the program knows their paths. */
export interface Threads {
  nameServer: string
  checks: string
  checkpoints: string
}

/** A running hub. */
export interface RunningHub {
  hub: Hub
  worker: Worker
  server: Server<unknown>
  /** Null if the name server is disabled. */
  nameServer: RunningNameServer | null
  /** Link to create the first user; null once there is one. */
  setupLink: string | null
  /** Lets running requests and jobs finish, then closes everything. Can be called more than once. */
  stop(): Promise<void>
}

/** Options of a command that runs a hub. */
interface RunOptions {
  /** Additional pages to serve. */
  pages?: readonly AnyElysia[]
  /** Resolves the hostnames that the hub connects to. */
  resolve?: Resolve
  /** Ends the wait for an unavailable database. */
  signal?: AbortSignal
}

/**
 * Starts a hub: opens the database, waiting until it is available, catches up on what was due while no hub was running, and starts serving. Stops in reverse order.
 * @throws InvalidSetting, WrongMasterKey, MigrationRefused
 */
export async function runHub(
  config: Config,
  threads: Threads,
  clock: Clock = systemClock,
  { pages = [], resolve = systemResolve, signal }: RunOptions = {},
): Promise<RunningHub> {
  checkFolder(config)
  const log = hubLog(config)
  // On the first start, check the port before anything is created.
  if ((await whenAvailable(() => requiredMasterKeyId(config), log, signal)) === null) await checkListen(config)
  const unlock = isPostgres ? () => {} : lockFolder(config.data)
  try {
    const hub = await whenAvailable(() => openHub(config, clock, log, { checkpoints: threads.checkpoints }), log, signal)
    hub.resolve = resolve
    await registerHub(hub, hostname())
    const worker = new Worker(hub, jobKinds)
    await hub.store.listen(jobsChannel, from => {
      if (from === hub.id) return
      worker.wake()
      liveOf(hub).poll()
      void readChangedZones(hub)
    })
    await watchCallers(hub)
    await hub.store.listen(changeHintsChannel, text => changeHintsOf(hub).receive(text))
    await hub.store.listen(liveServersChannel, text => liveServersOf(hub).receive(text))
    await refreshCalendar(hub)
    await prepareIssuing(hub)
    const heartbeats = await startHeartbeats(hub, () => renewPresence(hub))
    loopBlocks.start()
    const app = createApp(hub, worker, [...apiAreas, ...ingestAreas, ...pages])
    const listening = listen(app, config)
    const server = listening.server()
    hub.baseUrl = baseUrl(config, server.port!)
    const host = server.hostname ?? config.listen.host
    hub.listeners.push({ address: host, port: server.port! })
    if (!isPostgres) recordAddress(config.data, { host, port: server.port!, https: config.tlsCert !== null })
    const nameServer = await startNameServer(hub, threads.nameServer)
    if (nameServer) hub.listeners.push({ address: nameServer.host, port: nameServer.port, isNameServer: true })
    const checks = new EngineSupervisor({ entry: threads.checks, clock, log: hub.log, resolvers: config.dnsResolvers })
    checks.start()
    const monitoring = await startMonitoring(hub, checks)
    const stopScheduledTasks = startScheduledTasks(hub, worker, listening)
    worker.wake()
    const setupLink = (await hasUsers(hub.read)) ? null : `${hub.baseUrl}/setup#${await setupToken(hub)}`

    let stopping: Promise<void> | null = null
    const stop = async () => {
      const limit = config.stopSeconds * 1000
      stopScheduledTasks()
      heartbeats.stop()
      endWaits(hub)
      liveOf(hub).end()
      // Starts no jobs any longer: some need the check thread, which ends now.
      const idle = worker.stop(limit)
      await monitoring.stop()
      await Promise.all([Promise.race([listening.server().stop(), Bun.sleep(limit)]), idle])
      await listening.server().stop(true)
      await nameServer?.stop()
      await heartbeats.settled()
      await flushTokenUses(hub)
      await flushCalls(hub)
      await flushDeprecatedUse(hub)
      await recorderOf(hub).flush()
      await unregisterHub(hub)
      await hub.store.close()
      unlock()
    }
    return { hub, worker, server, nameServer, setupLink, stop: () => (stopping ??= stop()) }
  } catch (error) {
    unlock()
    throw error
  }
}
