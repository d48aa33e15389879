import { record } from '../../src/core/change'
import { nextNumber } from '../../src/core/counters'
import type { Hub } from '../../src/core/hub'
import { newId } from '../../src/core/ids'
import type { ResultBeat } from '../../src/features/monitors/series/result-beat'
import { statusRank } from '../../src/features/monitors/shapes'
import { newMonitorState } from '../../src/features/monitors/verdict/state'
import { monitorGaps, monitors, monitorTransitions } from '../../src/features/monitors/tables'

export type Status = (typeof monitors.$inferSelect)['status']

/** A check result for the series. */
export const resultBeat = (monitor: number, at: number, more: Partial<ResultBeat> = {}): ResultBeat => ({
  series: monitor,
  part: 0,
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

/** Adds a monitor that is not checked, for tests of its history. */
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
      statusRank: statusRank(more.status ?? 'up'),
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

/** Adds status changes with their times (ms UTC). The initial status `new` has no row. */
export async function addTransitions(
  hub: Hub,
  monitorId: string,
  changes: readonly [at: number, status: Status][],
): Promise<void> {
  await record(hub, async tx => {
    for (const [place, [at, to]] of changes.entries())
      await tx.insert(monitorTransitions).values({
        id: newId('mtr'),
        monitorId,
        at,
        from: changes[place - 1]?.[1] ?? 'new',
        to,
        reason: 'A test.',
        incidentId: null,
      })
    return { result: undefined }
  })
}

/** Adds a period in which no hub ran these shares, or any share. */
export async function addGap(hub: Hub, from: number, to: number, shares: number[] | null = null): Promise<void> {
  await record(hub, async tx => {
    await tx.insert(monitorGaps).values({ id: newId('gap'), from, to, shares })
    return { result: undefined }
  })
}
