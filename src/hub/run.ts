import { hostname } from 'node:os'
import type { Server } from 'bun'
import type { AnyElysia } from 'elysia'
import { prepareInstance } from '../access/workspaces'
import { flushUses } from '../access/last-use'
import { endWaits } from '../access/long-poll'
import { hasUsers, setupToken } from '../access/users'
import { WorkerLine } from '../checks/engine/worker-line'
import { BadSetting, baseUrl, masterKeyFile, sqliteFile, type Config } from '../core/config'
import { jobsChannel } from '../core/change'
import { systemClock, type Clock } from '../core/clock'
import { folderFault, masterKeysFor, wantedMasterKey } from '../core/installation'
import { isPostgres } from '../core/db/dialect'
import { openSeries } from '../core/db/series'
import { openPostgres, openSqlite, type Synchronous } from '../core/db/store'
import type { Hub } from '../core/hub'
import { newId } from '../core/ids'
import { JobSignal } from '../core/jobs/signal'
import { Worker } from '../core/jobs/worker'
import { openLog, type Log } from '../core/log'
import { systemResolve, type Resolve } from '../core/net/egress'
import { KeyRing } from '../core/secrets'
import { touchesChannel, touchesOf } from '../core/touches'
import { makeApp } from './app'
import { apiAreas, ingestAreas } from './areas'
import { eventJobs, jobKinds, noticeJobs } from './jobs'
import { lockFolder } from './folder-lock'
import { joinHubs, leaveHubs, renewPresence } from './presence'
import { startTimetable } from './timetable'
import { readChangedZones, startNameServer, type RunningNameServer } from '../features/dns/name-server'
import { streamJobs } from '../features/audit/stream-jobs'
import { startHeartbeats } from '../features/heartbeats/watch'
import { liveOf } from '../features/live/live'
import { startMonitoring } from '../features/monitors/live/watch'
import { readCalendar } from '../features/maintenance/calendar'
import { recorderOf } from '../features/monitors/series/recorder'
import { checkListen, listen } from './listen'

/**
 * Opens the database and the keys: what the command line needs, and what a running hub starts from.
 * @param synchronous whether commits of SQLite wait for the disk; they do unless told
 * @throws BadSetting, WrongMasterKey, MigrationRefused
 */
export async function openHub(
  config: Config,
  clock: Clock = systemClock,
  log: Log = openLog(config.logLevel),
  synchronous?: Synchronous,
): Promise<Hub> {
  checkFolder(config)
  const key = await masterKeysFor(config)
  if (key.made)
    log.warn(
      { file: masterKeyFile(config) },
      'a master key was made: copy it to a safe place, without it the secrets in the database cannot be read',
    )
  const store = config.databaseUrl ? await openPostgres(config.databaseUrl) : await openSqlite(sqliteFile(config), synchronous)
  const series = openSeries({ data: config.data, databaseUrl: config.databaseUrl, now: clock.now })
  const hub: Hub = {
    id: newId('hub'),
    config,
    clock,
    log,
    store: { ...store, close: async () => void (await Promise.all([series.close(), store.close()])) },
    series,
    read: store.read,
    keys: new KeyRing({ current: key.key, previous: key.previous }, store.read, clock),
    jobSignal: new JobSignal(),
    eventJobs,
    noticeJobs,
    auditJobs: streamJobs,
    baseUrl: baseUrl(config, config.listen.port),
    listeners: [],
    resolve: systemResolve,
  }
  try {
    await prepareInstance(hub)
  } catch (error) {
    await store.close()
    throw error
  }
  return hub
}

/** @throws BadSetting when the data folder cannot hold a database */
function checkFolder(config: Config): void {
  const fault = config.databaseUrl ? null : folderFault(config.data)
  if (fault) throw new BadSetting(`BAILIWICK_DATA: ${fault}`)
}

/** The files of the threads that a hub starts: entry points beside its own, which alone knows where they lie. */
export interface Threads {
  nameServer: string
  checks: string
}

/** A hub that serves. */
export interface RunningHub {
  hub: Hub
  worker: Worker
  server: Server<unknown>
  /** Null when it is off. */
  nameServer: RunningNameServer | null
  /** Where the first user is made, while there is none. */
  setupLink: string | null
  /** Lets requests and jobs under way finish, then closes everything; safe to call twice. */
  stop(): Promise<void>
}

/** What a command adds to the hub that it runs. */
export interface Additions {
  /** Pages that are served besides. */
  pages?: readonly AnyElysia[]
  /** Looks up the names of what the hub calls. */
  resolve?: Resolve
}

/**
 * Starts a hub: opens, catches up on what fell due while it was away, serves. Stopping goes the other way round.
 * @throws BadSetting, WrongMasterKey, MigrationRefused
 */
export async function runHub(
  config: Config,
  threads: Threads,
  clock: Clock = systemClock,
  { pages = [], resolve = systemResolve }: Additions = {},
): Promise<RunningHub> {
  checkFolder(config)
  // What keeps the very first start from serving is found before anything is made.
  if ((await wantedMasterKey(config)) === null) await checkListen(config)
  const unlock = isPostgres ? () => {} : lockFolder(config.data)
  try {
    const hub = await openHub(config, clock)
    hub.resolve = resolve
    await joinHubs(hub, hostname())
    const worker = new Worker(hub, jobKinds)
    await hub.store.listen(jobsChannel, from => {
      if (from === hub.id) return
      worker.wake()
      liveOf(hub).look()
      void readChangedZones(hub)
    })
    await hub.store.listen(touchesChannel, text => touchesOf(hub).heard(text))
    await readCalendar(hub)
    const heartbeats = await startHeartbeats(hub, () => renewPresence(hub))
    const app = makeApp(hub, worker, [...apiAreas, ...ingestAreas, ...pages])
    const listening = listen(app, config)
    const server = listening.server()
    hub.baseUrl = baseUrl(config, server.port!)
    hub.listeners.push({ address: server.hostname ?? config.listen.host, port: server.port! })
    const nameServer = await startNameServer(hub, threads.nameServer)
    if (nameServer) hub.listeners.push({ address: nameServer.host, port: nameServer.port })
    const checks = new WorkerLine({ entry: threads.checks, clock, log: hub.log, resolvers: config.dnsResolvers })
    checks.start()
    const monitoring = await startMonitoring(hub, checks)
    const stopTimetable = startTimetable(hub, worker, listening)
    worker.wake()
    const setupLink = (await hasUsers(hub.read)) ? null : `${hub.baseUrl}/setup#${await setupToken(hub)}`

    let stopping: Promise<void> | null = null
    const stop = async () => {
      const limit = config.stopSeconds * 1000
      stopTimetable()
      heartbeats.stop()
      endWaits(hub)
      liveOf(hub).end()
      await monitoring.stop()
      await Promise.all([Promise.race([listening.server().stop(), Bun.sleep(limit)]), worker.stop(limit)])
      await listening.server().stop(true)
      await nameServer?.stop()
      await heartbeats.settled()
      await flushUses(hub)
      await recorderOf(hub).flush()
      await leaveHubs(hub)
      await hub.store.close()
      unlock()
    }
    return { hub, worker, server, nameServer, setupLink, stop: () => (stopping ??= stop()) }
  } catch (error) {
    unlock()
    throw error
  }
}
