import { expect, test } from 'bun:test'
import { world } from '../support/world'

const createHeartbeat = async (w: Awaited<ReturnType<typeof world>>, name: string) =>
  (
    await w.acme.call('POST', '/v1/heartbeats', {
      name,
      schedule: { kind: 'period', period_seconds: 60, grace_seconds: 10 },
    })
  ).body

test('the last 30 pings of several heartbeats are returned in one response, oldest first, in the order of the IDs', async () => {
  const w = await world()
  const [often, never] = [await createHeartbeat(w, 'often'), await createHeartbeat(w, 'never')]
  const foreign = (
    await w.rival.call('POST', '/v1/heartbeats', {
      name: 'of another workspace',
      schedule: { kind: 'period', period_seconds: 60, grace_seconds: 10 },
    })
  ).body
  for (let at = 0; at < 33; at++) {
    await w.app.handle(new Request(`http://localhost:8484/ping/${often.uuid}${at === 31 ? '/fail' : ''}`))
    await w.advance(1000)
  }
  const { status, body } = await w.readOnly.call('GET', `/v1/heartbeats/recent?ids=${never.id},${foreign.id},${often.id}`)
  expect(status).toBe(200)
  expect(body.data.map((one: any) => one.id)).toEqual([never.id, often.id])
  expect(body.data[0].pings).toEqual([])
  const pings = body.data[1].pings
  expect(pings.map((one: any) => one.n)).toEqual(Array.from({ length: 30 }, (_, at) => at + 4))
  expect(pings.at(-2)).toMatchObject({ n: 32, kind: 'fail', duration_ms: null })
  const { body: two } = await w.acme.call('GET', `/v1/heartbeats/recent?ids=${often.id}&pings=2`)
  expect(two.data[0].pings.map((one: any) => one.n)).toEqual([32, 33])
  expect((await w.acme.call('GET', '/v1/heartbeats/recent')).status).toBe(400)
  expect(
    (await w.acme.call('GET', `/v1/heartbeats?ids=${never.id},${foreign.id}`)).body.data.map((one: any) => one.name),
  ).toEqual(['never'])
})

test('a schedule can be previewed', async () => {
  const w = await world()
  const preview = (expression: string, kind = 'cron', timezone = 'Europe/Berlin') =>
    w.acme.call('GET', `/v1/heartbeats/due-times?${new URLSearchParams({ kind, expression, timezone })}`)
  const { body } = await preview('30 2 * * *')
  const localTimes = body.due_at.map((at: string) =>
    new Date(at).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' }),
  )
  expect(localTimes).toEqual(['02:30', '02:30', '02:30', '02:30', '02:30'])
  expect(Date.parse(body.due_at[0])).toBeGreaterThan(w.clock.now())
  expect((await preview('2199-12-31 10:00:00 UTC', 'calendar')).body.due_at).toHaveLength(1)
  expect((await preview('61 * * * *')).body.errors[0].pointer).toBe('#/query/expression')
  expect((await preview('0 1 * * *', 'cron', 'Mars/Base')).body.errors[0].pointer).toBe('#/query/timezone')
})
