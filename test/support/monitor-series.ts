import { nextNumber, record } from '../../src/core/change'
import type { Hub } from '../../src/core/hub'
import { newId } from '../../src/core/ids'
import type { Taken } from '../../src/features/monitors/series/taken'
import { newMonitorState } from '../../src/features/monitors/state'
import { monitorGaps, monitors, monitorTransitions } from '../../src/features/monitors/tables'

export type Status = (typeof monitors.$inferSelect)['status']

/** A result of a check, as the series take it. */
export const taken = (monitor: number, at: number, more: Partial<Taken> = {}): Taken => ({
  monitor,
  location: 0,
  at,
  status: 'up',
  ms: 12.5,
  code: 200,
  error: null,
  dns: 0,
  connect: 3.1,
  tls: null,
  firstByte: 9,
  ...more,
})

/** A monitor that nobody runs, for tests of what is kept of it. */
export async function addMonitor(
  hub: Hub,
  workspaceId: string,
  more: Partial<typeof monitors.$inferInsert> = {},
): Promise<{ id: string; number: number }> {
  const id = newId('mon')
  const now = hub.clock.now()
  const number = await record(hub, async tx => {
    const number = await nextNumber(tx, 'monitor')
    await tx.insert(monitors).values({
      id,
      workspaceId,
      number,
      share: number % 256,
      type: 'http',
      name: `monitor ${number}`,
      description: '',
      target: 'http://example.test/',
      options: {},
      secretsSealed: null,
      secretNames: [],
      intervalSeconds: 30,
      timeoutSeconds: 10,
      retryIntervalSeconds: 15,
      confirm: 2,
      recover: 2,
      recoverySeconds: 0,
      quorum: 'majority',
      downIf: [],
      degradedIf: [],
      degradedMs: null,
      locations: ['local'],
      tags: [],
      dependsOn: [],
      dependencyGraceSeconds: 60,
      channelIds: null,
      severity: 'critical',
      paused: false,
      status: 'up',
      statusSince: now,
      state: { ...newMonitorState(now), verdict: 'up' },
      stateVersion: 1,
      lastCheckAt: null,
      version: 1,
      createdAt: now,
      updatedAt: now,
      ...more,
    })
    return { result: number }
  })
  return { id, number }
}

/** Writes down what a monitor was shown as, and since when (ms UTC); from nothing to `new` there is no row. */
export async function addTransitions(
  hub: Hub,
  monitorId: string,
  became: readonly [at: number, status: Status][],
): Promise<void> {
  await record(hub, async tx => {
    for (const [place, [at, to]] of became.entries())
      await tx.insert(monitorTransitions).values({
        id: newId('mtr'),
        monitorId,
        at,
        from: became[place - 1]?.[1] ?? 'new',
        to,
        reason: 'A test.',
        incidentId: null,
      })
    return { result: undefined }
  })
}

/** A time in which nobody ran these shares, or any. */
export async function addGap(hub: Hub, from: number, to: number, shares: number[] | null = null): Promise<void> {
  await record(hub, async tx => {
    await tx.insert(monitorGaps).values({ id: newId('gap'), from, to, shares })
    return { result: undefined }
  })
}
