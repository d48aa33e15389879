import { eq } from 'drizzle-orm'
import type { CheckResult } from '../../src/checks/check'
import { events } from '../../src/core/db/tables'
import type { Hub } from '../../src/core/hub'
import { startMonitoring, type MonitoringWatch } from '../../src/features/monitors/live/watch'
import { monitors, monitorTransitions } from '../../src/features/monitors/tables'
import { registerHub } from '../../src/hub/presence'
import { openHub } from '../../src/hub/run'
import { ScriptedEngine } from './scripted-engine'
import type { World } from './world'

/** A failing result. */
export const bad = { status: 'down' } as const

/** Creates an HTTP monitor that the engine knows. @returns its id */
export async function watched(w: World, more: object = {}): Promise<string> {
  const created = await w.acme.call('POST', '/v1/monitors', {
    type: 'http',
    name: 'shop',
    target: 'https://shop.example.com/',
    interval_seconds: 60,
    ...more,
  })
  if (created.status !== 201) throw new Error(created.text)
  await w.settle()
  await w.audited()
  return created.body.id
}

/** Lets the engine report results of a monitor, one second apart. */
export async function say(w: World, monitor: string, ...results: Partial<CheckResult>[]): Promise<void> {
  for (const result of results) {
    w.engine.report({ monitor, ...result })
    await w.advance(1000)
  }
}

/** Advances time while the hub keeps running, unlike `advance`, which skips to the end. */
export async function awake(w: World, ms: number): Promise<void> {
  for (let left = ms; left > 0; left -= 5000) await w.advance(Math.min(left, 5000))
}

/** Restarts the hub. */
export async function restart(w: World): Promise<void> {
  await w.monitoring.stop()
  w.engine = new ScriptedEngine(w.hub)
  w.monitoring = await startMonitoring(w.hub, w.engine)
}

/** Starts another hub on the same database, with its own engine. */
export async function otherHub(
  w: World,
): Promise<{ hub: Hub; engine: ScriptedEngine; monitoring: MonitoringWatch; close(): Promise<void> }> {
  const hub = await openHub(w.hub.config, w.clock, w.hub.log)
  await registerHub(hub, 'other')
  const engine = new ScriptedEngine(hub)
  const monitoring = await startMonitoring(hub, engine)
  const close = async () => {
    await monitoring.stop()
    await hub.store.close()
  }
  return { hub, engine, monitoring, close }
}

/** The row of a monitor. */
export const rowOf = async (w: World, id: string) => (await w.hub.read.select().from(monitors).where(eq(monitors.id, id)))[0]!
/** The rows of all monitors of acme. */
export const rowsOf = async (w: World) =>
  await w.hub.read.select().from(monitors).where(eq(monitors.workspaceId, w.acme.workspaceId))
export const statusOf = async (w: World, id: string): Promise<string> =>
  (await w.acme.call('GET', `/v1/monitors/${id}`)).body.status
export const incidentsOf = async (w: World): Promise<any[]> => (await w.acme.call('GET', '/v1/incidents')).body.data
/** The status changes as `from to`, oldest first. */
export const transitionsOf = async (w: World, id: string) =>
  (await w.hub.read.select().from(monitorTransitions).where(eq(monitorTransitions.monitorId, id)))
    .sort((a, b) => (a.id < b.id ? -1 : 1))
    .map(one => `${one.from} ${one.to}`)
/** The data of all events of a kind. */
export const dataOf = async (w: World, kind: string): Promise<any[]> =>
  (await w.hub.read.select().from(events).where(eq(events.workspaceId, w.acme.workspaceId)))
    .filter(one => one.kind === kind)
    .map(one => JSON.parse(one.body).data)
