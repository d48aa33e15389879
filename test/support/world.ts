import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { desc, eq } from 'drizzle-orm'
import type { AnyElysia } from 'elysia'
import { prepareInstance } from '../../src/access/workspaces'
import { forgetCallers } from '../../src/access/callers'
import { plans, workspaces, type PlanLimits } from '../../src/access/tables'
import { createTokenAsOperator } from '../../src/access/tokens'
import { record } from '../../src/core/change'
import { loadConfig } from '../../src/core/config'
import { isPostgres } from '../../src/core/db/dialect'
import { openPostgres } from '../../src/core/db/store'
import { auditEntries, events } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import { newId } from '../../src/core/ids'
import { Worker } from '../../src/core/jobs/worker'
import { openLog } from '../../src/core/log'
import type { Permission } from '../../src/core/permissions'
import { makeApp } from '../../src/hub/app'
import { apiAreas, ingestAreas } from '../../src/hub/areas'
import { jobKinds } from '../../src/hub/jobs'
import { openHub } from '../../src/hub/run'
import { joinHubs } from '../../src/hub/presence'
import { startHeartbeats, type HeartbeatWatch } from '../../src/features/heartbeats/watch'
import { startMonitoring, type MonitoringWatch } from '../../src/features/monitors/live/watch'
import { readCalendar } from '../../src/features/maintenance/calendar'
import { liveOf } from '../../src/features/live/live'
import { checkAnswer } from './answers'
import { textOf } from './event-stream'
import { ManualClock } from './manual-clock'
import { ScriptedEngine } from './scripted-engine'

export interface Answer<T = any> {
  status: number
  body: T
  headers: Headers
  text: string
}
export interface Caller {
  token: string
  workspaceId: string
  call<T = any>(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answer<T>>
}
/** A hub of its own with its own database and its own time. `acme` is the operator's workspace, `rival` a customer's. */
export interface World {
  hub: Hub
  clock: ManualClock
  worker: Worker
  watch: HeartbeatWatch
  monitoring: MonitoringWatch
  /** What runs checks: it finds what the test makes it say. */
  engine: ScriptedEngine
  app: AnyElysia
  acme: Caller
  rival: Caller
  readOnly: Caller
  stranger: Caller
  /** A token of acme with just these permissions. */
  scoped(...permissions: Permission[]): Promise<Caller>
  /** Overrides limits of a workspace's plan. */
  limit(workspaceId: string, overrides: Partial<PlanLimits>): Promise<void>
  /** Lets jobs run until none is due. */
  settle(): Promise<void>
  /** Moves time on and lets what fell due happen. */
  pass(ms: number): Promise<void>
  /** Actions in the audit log of acme, oldest first, since the last call. */
  audited(): Promise<string[]>
  /** Event kinds in acme's feed, oldest first, since the last call. */
  happened(): Promise<string[]>
}

type Close = () => Promise<void>
// A world opened within a test ends with it; one that a whole file shares ends with the run.
const ofTest: Close[] = []
const ofFile: Close[] = []
// After all of them.
const atEnd: Close[] = []
let withinTest = false

/** Marks that a test begins. */
export const beginTest = (): void => {
  withinTest = true
}

/** Closes the worlds of the test that ended. */
export async function endTest(): Promise<void> {
  withinTest = false
  await closeWorlds()
}

/** Closes the worlds that the test has opened so far: one that opens many has no more of them at once than it needs. */
export async function closeWorlds(): Promise<void> {
  await Promise.all(ofTest.splice(0).map(close => close()))
}

/** Closes the worlds that are left. */
export async function endRun(): Promise<void> {
  await Promise.all([...ofTest.splice(0), ...ofFile.splice(0)].map(close => close()))
  for (const close of atEnd.splice(0)) await close()
}

/** @param more areas that only the test has, beside those of the API; their paths are not below /v1 */
export async function world(env: Record<string, string> = {}, more: readonly AnyElysia[] = []): Promise<World> {
  const clock = new ManualClock()
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-test-'))
  writeFileSync(join(folder, 'key'), `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
  const database = isPostgres ? await freshDatabase() : null
  const config = loadConfig(
    { data: folder, listen: '127.0.0.1:8484' },
    {
      BAILIWICK_MASTER_KEY_FILE: join(folder, 'key'),
      BAILIWICK_LOG_LEVEL: process.env.BAILIWICK_TEST_LOG ?? 'silent',
      ...(database && { BAILIWICK_DATABASE_URL: database.url }),
      ...env,
    },
  )
  const hub = await openHub(config, clock, openLog(config.logLevel))
  await prepareInstance(hub)
  await joinHubs(hub, 'test')
  const worker = new Worker(hub, jobKinds)
  await readCalendar(hub)
  const watch = await startHeartbeats(hub)
  const engine = new ScriptedEngine(clock)
  const monitoring = await startMonitoring(hub, engine)
  const app = makeApp(hub, worker, [...apiAreas, ...ingestAreas, ...more])
  const scope = withinTest ? ofTest : ofFile
  scope.push(async () => {
    watch.stop()
    liveOf(hub).end()
    await worker.stop(5000)
    await watch.settled()
    await here.monitoring.stop()
    await hub.store.close()
    await database?.drop()
    rmSync(folder, { recursive: true, force: true })
  })

  const [operators] = await hub.read.select().from(workspaces).where(eq(workspaces.isOperator, true))
  const rivals = await addWorkspace(hub, 'rival', 'pro')
  const caller = async (workspaceId: string, mode: 'full' | 'read_only' | 'scoped', permissions: Permission[] = []) =>
    callerWith(
      app,
      workspaceId,
      await createTokenAsOperator(hub, { workspaceId, name: `${mode} token`, mode, permissions, expiresAt: null }),
    )

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
    acme: await caller(operators!.id, 'full'),
    rival: await caller(rivals, 'full'),
    readOnly: await caller(operators!.id, 'read_only'),
    stranger: callerWith(app, '', ''),
    scoped: (...permissions) => caller(operators!.id, 'scoped', permissions),
    async limit(workspaceId, overrides) {
      await record(hub, async tx => {
        await tx.update(workspaces).set({ limitOverrides: overrides }).where(eq(workspaces.id, workspaceId))
        return { result: undefined }
      })
      forgetCallers(hub)
    },
    async settle() {
      await here.monitoring.settled()
      await worker.idle()
    },
    async pass(ms) {
      clock.advance(ms)
      await watch.settled()
      await here.monitoring.settled()
      await worker.idle()
    },
    async audited() {
      const rows = await hub.read
        .select()
        .from(auditEntries)
        .where(eq(auditEntries.workspaceId, operators!.id))
        .orderBy(desc(auditEntries.seq))
        .limit(200)
      const fresh = rows.filter(row => row.seq > auditSeen).reverse()
      auditSeen = rows[0]?.seq ?? auditSeen
      return fresh.map(row => (row.outcome === 'success' ? row.action : `${row.action} ${row.outcome}`))
    },
    async happened() {
      const rows = await hub.read
        .select()
        .from(events)
        .where(eq(events.workspaceId, operators!.id))
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

/** A workspace of a customer on the named plan; returns its id. */
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

/** Calls the app as the holder of a token would; an empty token sends none. Each JSON answer is held against the OpenAPI document. */
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
      const answer = await app.handle(request)
      const text = await textOf(answer)
      const json = /[/+]json\b/.test(answer.headers.get('content-type') ?? '') ? JSON.parse(text) : undefined
      checkAnswer(method, path, answer, json)
      return { status: answer.status, body: json, headers: answer.headers, text }
    },
  }
}

// Making the tables takes far longer than copying them.
let template: Promise<string> | null = null

/** A database with all tables, of which others are copies; it goes with the run. */
async function makeTemplate(server: string): Promise<string> {
  const name = `template_${process.pid}_${crypto.randomUUID().slice(0, 8)}`
  const admin = new SQL(server, { max: 1 })
  await admin.unsafe(`create database ${name}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  const store = await openPostgres(url.href)
  await store.close()
  atEnd.push(async () => {
    await admin.unsafe(`drop database if exists ${name} with (force)`)
    await admin.close()
  })
  return name
}

/** A database of its own on the PostgreSQL server that BAILIWICK_DATABASE_URL names. */
async function freshDatabase(): Promise<{ url: string; drop(): Promise<void> }> {
  const server = process.env.BAILIWICK_DATABASE_URL!
  const name = `world_${process.pid}_${crypto.randomUUID().slice(0, 8)}`
  const from = await (template ??= makeTemplate(server))
  const admin = new SQL(server, { max: 1 })
  await admin.unsafe(`create database ${name} template ${from}`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return {
    url: url.href,
    async drop() {
      await admin.unsafe(`drop database if exists ${name} with (force)`)
      await admin.close()
    },
  }
}
