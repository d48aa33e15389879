import { hourMs, hourOf, hoursADay } from '../../src/core/db/series/hours'
import { checkSeries, checksOf } from '../../src/features/monitors/series/check-series'
import { expect, test } from 'bun:test'
import { packChunk } from '../../src/core/db/series/chunk'
import { Rollup } from '../../src/core/db/series/rollup'
import type { Hub } from '../../src/core/hub'
import { recorderOf } from '../../src/features/monitors/series/recorder'
import { deleteMonitorSeries, pruneSeries, thinSeries } from '../../src/features/monitors/series/retention'
import { sealHours } from '../../src/features/monitors/series/seal'
import { addMonitor, resultBeat } from '../support/monitor-series'
import { addWorkspace, world } from '../support/world'

const dayMs = hoursADay * hourMs

async function putChunk(hub: Hub, monitor: number, at: number) {
  const key = { series: monitor, part: 0, hour: hourOf(at) }
  await checksOf(hub).putHours([{ ...key, ...packChunk(checkSeries, key, []), roll: new Rollup(checkSeries) }])
}
const daysOf = async (hub: Hub, monitor: number) => {
  const days: number[] = []
  for (const day of await checksOf(hub).chunkDays())
    if ((await checksOf(hub).chunks(monitor, day * hoursADay, (day + 1) * hoursADay)).length > 0) days.push(day)
  return days
}

test('results are kept for the number of days in the plan of their workspace', async () => {
  const { hub, clock, acme } = await world()
  const free = await addWorkspace(hub, 'free', 'free')
  const mine = await addMonitor(hub, acme.workspaceId)
  const theirs = await addMonitor(hub, free)
  const today = Math.floor(clock.now() / dayMs)
  for (const ago of [0, 6, 7, 8, 29, 30, 31]) {
    await putChunk(hub, mine.number, clock.now() - ago * dayMs)
    await putChunk(hub, theirs.number, clock.now() - ago * dayMs)
  }
  await thinSeries(hub)
  expect((await daysOf(hub, theirs.number)).map(day => today - day)).toEqual([7, 6, 0])
  expect((await daysOf(hub, mine.number)).map(day => today - day)).toEqual([30, 29, 8, 7, 6, 0])
})

test('raw beats are deleted once they are sealed and the hub has settled', async () => {
  const { hub, clock } = await world()
  const recorder = recorderOf(hub)
  recorder.add(resultBeat(1, clock.now()))
  await recorder.flush()
  clock.advance(3 * hourMs)
  await pruneSeries(hub)
  expect((await checksOf(hub).hours()).length).toBe(1)
  await sealHours(hub)
  await pruneSeries(hub)
  expect(await checksOf(hub).hours()).toEqual([])
})

test('a hub that was down keeps beats it has not read yet', async () => {
  const { hub, clock } = await world()
  await checksOf(hub).append([{ ...resultBeat(1, clock.now() - 10 * hourMs), error: null }])
  await pruneSeries(hub)
  expect((await checksOf(hub).hours()).length).toBe(1)
})

test('hourly rollups are deleted after 100 days, and daily ones are kept', async () => {
  const { hub, clock, acme } = await world()
  const { number } = await addMonitor(hub, acme.workspaceId)
  await putChunk(hub, number, clock.now() - 101 * dayMs)
  await putChunk(hub, number, clock.now() - 99 * dayMs)
  await sealHours(hub)
  await thinSeries(hub)
  const hour = hourOf(clock.now())
  expect((await checksOf(hub).rollups('hour', [number], 0, hour)).map(one => hour - one.at)).toEqual([99 * 24])
  expect((await checksOf(hub).rollups('day', [number], 0, hour)).length).toBe(2)
})

test('the series of a deleted monitor are deleted, and later writes of another hub the next day', async () => {
  const { hub, clock, acme } = await world()
  const kept = await addMonitor(hub, acme.workspaceId)
  for (const number of [kept.number, 900]) await putChunk(hub, number, clock.now() - dayMs)
  recorderOf(hub).add(resultBeat(901, clock.now()))
  await sealHours(hub)
  await deleteMonitorSeries(hub, 901)
  expect(await recorderOf(hub).beats(901, 0, hourOf(clock.now()) + 1)).toEqual([])
  await thinSeries(hub)
  expect(await daysOf(hub, 900)).toEqual([])
  expect(await checksOf(hub).rollups('day', [900], 0, 1e6)).toEqual([])
  expect((await daysOf(hub, kept.number)).length).toBe(1)
})
