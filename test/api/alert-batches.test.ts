import { afterEach, expect, test } from 'bun:test'
import { isPostgres } from '../../src/core/db/dialect'
import { channelAt } from '../support/channels'
import { receiver, stopReceivers } from '../support/receiver'
import { countWrites } from '../support/statements'
import { awake, bad, incidentsOf, watched } from '../support/watched-monitors'
import { world, type World } from '../support/world'

afterEach(stopReceivers)

const few = 4
const many = 64
// A batch may be split, because it depends on what arrives together.
// One at a time, they would take several hundred more.
const slack = 120

test.skipIf(isPostgres)('many monitors that fail and recover together are written with as many statements as a few', async () => {
  const counts: number[] = []
  for (const size of [few, many]) {
    const w = await world()
    await channelAt(w, receiver().url)
    const ids: string[] = []
    for (let n = 0; n < size; n++) ids.push(await watched(w, { name: `shop ${n}` }))
    const say = async (result: object) => {
      w.engine.reportAll(ids.map(monitor => ({ monitor, ...result })))
      await w.advance(1000)
    }
    await say({})
    await say(bad)
    counts.push(await countWrites(() => say(bad)))
    expect((await incidentsOf(w)).filter(one => one.status === 'open').length).toBe(Math.min(size, 25))
    await awake(w, 60_000)
    await say({})
    counts.push(await countWrites(() => say({})))
    expect((await incidentsOf(w)).filter(one => one.status === 'open')).toEqual([])
  }
  const [failing, recovering, manyFailing, manyRecovering] = counts as [number, number, number, number]
  expect(manyFailing - failing).toBeLessThan(slack)
  expect(manyRecovering - recovering).toBeLessThan(slack)
})

test.skipIf(isPostgres)('many heartbeats that fail together are written with as many statements as a few', async () => {
  const counts: number[] = []
  for (const size of [few, many]) {
    const w = await world()
    await channelAt(w, receiver().url)
    const uuids = await heartbeats(w, size)
    const ping = (suffix: string) => Promise.all(uuids.map(uuid => w.acme.call('GET', `/ping/${uuid}${suffix}`)))
    await ping('')
    counts.push(
      await countWrites(async () => {
        await ping('/fail')
        await w.settle()
      }),
    )
    expect((await incidentsOf(w)).length).toBe(Math.min(size, 25))
  }
  expect(counts[1]! - counts[0]!).toBeLessThan(slack)
})

async function heartbeats({ acme }: World, count: number): Promise<string[]> {
  const uuids: string[] = []
  for (let n = 0; n < count; n++) {
    const created = await acme.call('POST', '/v1/heartbeats', {
      name: `job ${n}`,
      schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
    })
    uuids.push(created.body.uuid)
  }
  return uuids
}
