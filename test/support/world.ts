import { createTokenAsOperator } from '../../src/features/tokens/commands'
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { Database } from 'bun:sqlite'
import { desc, eq } from 'drizzle-orm'
import type { AnyElysia } from 'elysia'
import { operatorWorkspace, prepareInstance } from '../../src/access/workspaces'
import { forgetCallers } from '../../src/access/callers'
import type { PlanLimits } from '../../src/access/limit-table'
import { plans, workspaces } from '../../src/access/tables'
import { record } from '../../src/core/change'
import { loadConfig, sqliteFile, type Config } from '../../src/core/config'
import { isPostgres } from '../../src/core/db/dialect'
import { auditEntries, events } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import { newId } from '../../src/core/ids'
import { Worker } from '../../src/core/jobs/worker'
import { openLog } from '../../src/core/log'
import type { Permission } from '../../src/core/permissions'
import { createApp } from '../../src/hub/app'
import { apiAreas, ingestAreas } from '../../src/hub/areas'
import { jobKinds } from '../../src/hub/jobs'
import { openHub } from '../../src/hub/run'
import { registerHub } from '../../src/hub/presence'
import { startHeartbeats, type HeartbeatWatch } from '../../src/features/heartbeats/status/late-heartbeats'
import { startMonitoring, type MonitoringWatch } from '../../src/features/monitors/live/watch'
import { refreshCalendar } from '../../src/features/maintenance/calendar'
import { liveOf } from '../../src/features/live/live'
import { checkResponse } from './check-response'
import { textOf } from './event-stream'
import { ManualClock } from './manual-clock'
import { ScriptedEngine } from './scripted-engine'

export interface ApiResponse<T = any> {
  status: number
  body: T
  headers: Headers
  text: string
}
export interface Caller {
  token: string
  workspaceId: string
  call<T = any>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<ApiResponse<T>>
}
/** A hub with its own database and clock. `acme` is the operator's workspace, `rival` a customer's. */
export interface World {
  hub: Hub
  clock: ManualClock
  worker: Worker
  watch: HeartbeatWatch
  monitoring: MonitoringWatch
  /** Runs checks, with results defined by the test. */
  engine: ScriptedEngine
  app: AnyElysia
  acme: Caller
  rival: Caller
  readOnly: Caller
  anonymous: Caller
  /** Creates a token of acme with these permissions. */
  scoped(...permissions: Permission[]): Promise<Caller>
  /** Overrides limits of a workspace's plan. */
  limit(workspaceId: string, overrides: Partial<PlanLimits>): Promise<void>
  /** Runs jobs until none is due. */
  settle(): Promise<void>
  /** Advances the clock and runs what is due. */
  advance(ms: number): Promise<void>
  /** New actions in the audit log of acme since the last call, oldest first. */
  audited(): Promise<string[]>
  /** Kinds of new events of acme since the last call, oldest first. */
  emitted(): Promise<string[]>
}

/**
 * No durability is needed here; it is tested with the compiled program. Each connection to PostgreSQL reads the catalog and plans all
 * statements by itself, so a world has only as many as are needed for transactions to run at the same time.
 */
const storage = { isDurable: false, connections: 3 }

type Close = () => Promise<void>
// A world created in a test is closed with it; one shared by a file is closed at the end of the run.
const ofTest: Close[] = []
const ofFile: Close[] = []
// Deleted after the worlds that use them are closed.
const placesOfTest: Close[] = []
const placesOfFile: Close[] = []
// Runs after closing all worlds.
const atEnd: Close[] = []
let withinTest = false

/** Marks the start of a test. */
export const beginTest = (): void => {
  withinTest = true
}

/** Registers what to close after the current test, or at the end of the run if no test is running. */
export const closeLater = (close: Close): void => {
  ;(withinTest ? ofTest : ofFile).push(close)
}

/** Closes the worlds of the test. */
export async function endTest(): Promise<void> {
  withinTest = false
  await closeWorlds()
}

/** Closes the worlds of the test so far. Tests that create many worlds call it in between. */
export async function closeWorlds(): Promise<void> {
  await Promise.all(ofTest.splice(0).map(close => close()))
  await Promise.all(placesOfTest.splice(0).map(close => close()))
}

/** Closes all remaining worlds. */
export async function endRun(): Promise<void> {
  await closeWorlds()
  await Promise.all(ofFile.splice(0).map(close => close()))
  await Promise.all(placesOfFile.splice(0).map(close => close()))
  for (const close of atEnd.splice(0)) await close()
}

/** Creates a world. @param more additional areas of the test, outside /v1 */
export async function world(env: Record<string, string> = {}, more: readonly AnyElysia[] = []): Promise<World> {
  const { file } = await (template ??= createTemplate())
  const config = await newPlace(env, file)
  if (!isPostgres) copyFileSync(file, sqliteFile(config))
  return await worldAt(config, more)
}

/** Returns the settings of an empty folder and, on PostgreSQL, an empty database. They are deleted with the worlds. */
export const emptyPlace = (): Promise<Config> => newPlace({}, 'template0')

/** @param original the PostgreSQL database to copy */
async function newPlace(env: Record<string, string>, original: string): Promise<Config> {
  const folder = newFolder()
  const database = isPostgres ? await createDatabase(original) : null
  ;(withinTest ? placesOfTest : placesOfFile).push(async () => {
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  })
  return configOf(folder, { ...(database && { BAILIWICK_DATABASE_URL: database.url }), ...env })
}

/** Creates a world with existing data, such as a restored backup. */
export async function worldAt(config: Config, more: readonly AnyElysia[] = []): Promise<World> {
  const clock = new ManualClock()
  const { seed } = await (template ??= createTemplate())
  const hub = await openHub(config, clock, openLog(config.logLevel), storage)
  await registerHub(hub, 'test')
  const worker = new Worker(hub, jobKinds)
  await refreshCalendar(hub)
  const watch = await startHeartbeats(hub)
  const engine = new ScriptedEngine(hub)
  const monitoring = await startMonitoring(hub, engine)
  const app = createApp(hub, worker, [...apiAreas, ...ingestAreas, ...more])
  closeLater(async () => {
    watch.stop()
    liveOf(hub).end()
    await worker.stop(5000)
    await watch.settled()
    await here.monitoring.stop()
    await hub.store.close()
  })

  const { operators, rivals } = seed
  const caller = async (workspaceId: string, permissions: Permission[]) =>
    callerWith(app, workspaceId, await newToken(hub, workspaceId, 'scoped', permissions))

  let auditSeen = 0
  let eventsSeen = ''
  const here: World = {
    hub,
    clock,
    worker,
    watch,
    monitoring,
    engine,
    app,
    acme: callerWith(app, operators, seed.acme),
    rival: callerWith(app, rivals, seed.rival),
    readOnly: callerWith(app, operators, seed.readOnly),
    anonymous: callerWith(app, '', ''),
    scoped: (...permissions) => caller(operators, permissions),
    async limit(workspaceId, overrides) {
      await record(hub, async tx => {
        await tx.update(workspaces).set({ limitOverrides: overrides }).where(eq(workspaces.id, workspaceId))
        return { result: undefined }
      })
      await forgetCallers(hub)
    },
    async settle() {
      await here.monitoring.settled()
      await worker.idle()
    },
    async advance(ms) {
      clock.advance(ms)
      await watch.settled()
      await here.monitoring.settled()
      await worker.idle()
    },
    async audited() {
      const rows = await hub.read
        .select()
        .from(auditEntries)
        .where(eq(auditEntries.workspaceId, operators))
        .orderBy(desc(auditEntries.seq))
        .limit(200)
      const fresh = rows.filter(row => row.seq > auditSeen).reverse()
      auditSeen = rows[0]?.seq ?? auditSeen
      return fresh.map(row => (row.outcome === 'success' ? row.action : `${row.action} ${row.outcome}`))
    },
    async emitted() {
      const rows = await hub.read
        .select()
        .from(events)
        .where(eq(events.workspaceId, operators))
        .orderBy(desc(events.id))
        .limit(200)
      const fresh = rows.filter(row => row.id > eventsSeen).reverse()
      eventsSeen = rows[0]?.id ?? eventsSeen
      return fresh.map(row => row.kind)
    },
  }
  await here.audited()
  return here
}

/** Creates a workspace of a customer on a plan. Returns its ID. */
export async function addWorkspace(hub: Hub, name: string, plan: string): Promise<string> {
  const id = newId('ws')
  const now = hub.clock.now()
  await record(hub, async tx => {
    const [row] = await tx.select().from(plans).where(eq(plans.id, plan))
    await tx.insert(workspaces).values({
      id,
      name,
      planId: row!.id,
      isOperator: false,
      networkPolicy: { allow_private: false, allow_ranges: [] },
      limitOverrides: {},
      version: 1,
      createdAt: now,
      updatedAt: now,
    })
    return { result: undefined }
  })
  return id
}

/**
 * Returns a caller with a token, or without one if it is empty. Checks each JSON response against the OpenAPI document.
 */
export function callerWith(app: AnyElysia, workspaceId: string, token: string): Caller {
  return {
    token,
    workspaceId,
    async call(method, path, body, headers = {}) {
      const request = new Request(`http://localhost:8484${path}`, {
        method,
        headers: {
          ...(token && { authorization: `Bearer ${token}` }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(body !== undefined && {
          body: typeof body === 'string' || body instanceof Uint8Array ? (body as string) : JSON.stringify(body),
        }),
      })
      const response = await app.handle(request)
      const text = await textOf(response)
      const json = /[/+]json\b/.test(response.headers.get('content-type') ?? '') ? JSON.parse(text) : undefined
      checkResponse(method, path, response, json)
      return { status: response.status, body: json, headers: response.headers, text }
    },
  }
}

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-test-'))
  writeFileSync(join(folder, 'key'), `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
  return folder
}

const configOf = (folder: string, env: Record<string, string>): Config =>
  loadConfig(
    { data: folder, listen: '127.0.0.1:8484' },
    {
      BAILIWICK_MASTER_KEY_FILE: join(folder, 'key'),
      BAILIWICK_LOG_LEVEL: process.env.BAILIWICK_TEST_LOG ?? 'silent',
      ...env,
    },
  )

/** What every world starts with: workspaces, and tokens for them. */
interface Seed {
  operators: string
  rivals: string
  acme: string
  rival: string
  readOnly: string
}

/** What worlds copy, because that is much faster than creating it. */
interface Template {
  /** SQLite file, or name of a PostgreSQL database. */
  file: string
  seed: Seed
}

let template: Promise<Template> | null = null

/** Creates the template. It is deleted at the end of the run. */
async function createTemplate(): Promise<Template> {
  const folder = newFolder()
  const name = `template_${process.pid}_${crypto.randomUUID().slice(0, 8)}`
  if (isPostgres) await admin().unsafe(`create database ${name}`)
  const config = configOf(folder, isPostgres ? { BAILIWICK_DATABASE_URL: addressOf(name) } : {})
  const hub = await openHub(config, new ManualClock(), openLog(config.logLevel), storage)
  await prepareInstance(hub)
  const operators = (await operatorWorkspace(hub.read)).id
  const rivals = await addWorkspace(hub, 'rival', 'pro')
  const seed = {
    operators,
    rivals,
    acme: await newToken(hub, operators, 'full'),
    rival: await newToken(hub, rivals, 'full'),
    readOnly: await newToken(hub, operators, 'read_only'),
  }
  await hub.store.close()
  if (!isPostgres) {
    // Unfinalized statements keep the connection open, and the last changes in the WAL.
    using database = new Database(sqliteFile(config))
    database.run('pragma wal_checkpoint(truncate)')
  }
  atEnd.unshift(async () => {
    template = null
    rmSync(folder, { recursive: true })
    if (isPostgres) await dropDatabase(name)
  })
  return { file: isPostgres ? name : sqliteFile(config), seed }
}

const newToken = (hub: Hub, workspaceId: string, mode: 'full' | 'read_only' | 'scoped', permissions: Permission[] = []) =>
  createTokenAsOperator(hub, { workspaceId, name: `${mode} token`, mode, permissions, expiresAt: null })

// Shared by all worlds of the process, because closing a connection takes longer than dropping a database.
let adminConnection: SQL | null = null

function admin(): SQL {
  if (adminConnection) return adminConnection
  const connection = (adminConnection = new SQL(process.env.BAILIWICK_DATABASE_URL!, { max: 1 }))
  atEnd.push(async () => {
    adminConnection = null
    await connection.close()
  })
  return connection
}

const addressOf = (database: string): string => {
  const url = new URL(process.env.BAILIWICK_DATABASE_URL!)
  url.pathname = `/${database}`
  return url.href
}

const dropDatabase = (name: string) => admin().unsafe(`drop database if exists ${name} with (force)`)

/** Creates a copy of a database on the PostgreSQL server in BAILIWICK_DATABASE_URL. */
async function createDatabase(original: string): Promise<{ url: string; drop(): Promise<void> }> {
  const name = `world_${process.pid}_${crypto.randomUUID().slice(0, 8)}`
  await admin().unsafe(`create database ${name} template ${original} strategy file_copy`)
  return {
    url: addressOf(name),
    async drop() {
      await dropDatabase(name)
    },
  }
}
