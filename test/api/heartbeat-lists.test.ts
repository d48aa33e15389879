import { expect, test } from 'bun:test'
import { world } from '../support/world'

const made = async (w: Awaited<ReturnType<typeof world>>, name: string) =>
  (
    await w.acme.call('POST', '/v1/heartbeats', {
      name,
      schedule: { kind: 'period', period_seconds: 60, grace_seconds: 10 },
    })
  ).body

test('the last 30 pings of several heartbeats are one answer, oldest first, in the order of the ids', async () => {
  const w = await world()
  const [often, never] = [await made(w, 'often'), await made(w, 'never')]
  const stranger = (
    await w.rival.call('POST', '/v1/heartbeats', {
      name: 'of others',
      schedule: { kind: 'period', period_seconds: 60, grace_seconds: 10 },
    })
  ).body
  for (let at = 0; at < 33; at++) {
    await w.app.handle(new Request(`http://localhost:8484/ping/${often.uuid}${at === 31 ? '/fail' : ''}`))
    await w.pass(1000)
  }
  const { status, body } = await w.readOnly.call('GET', `/v1/heartbeats/recent?ids=${never.id},${stranger.id},${often.id}`)
  expect(status).toBe(200)
  expect(body.data.map((one: any) => one.id)).toEqual([never.id, often.id])
  expect(body.data[0].pings).toEqual([])
  const pings = body.data[1].pings
  expect(pings.map((one: any) => one.n)).toEqual(Array.from({ length: 30 }, (_, at) => at + 4))
  expect(pings.at(-2)).toMatchObject({ n: 32, kind: 'fail', duration_ms: null })
  expect((await w.acme.call('GET', '/v1/heartbeats/recent')).status).toBe(400)
  expect(
    (await w.acme.call('GET', `/v1/heartbeats?ids=${never.id},${stranger.id}`)).body.data.map((one: any) => one.name),
  ).toEqual(['never'])
})

test('the next times of an expression are told before a heartbeat has it', async () => {
  const w = await world()
  const ask = (expression: string, kind = 'cron', timezone = 'Europe/Berlin') =>
    w.acme.call('GET', `/v1/heartbeats/due-times?${new URLSearchParams({ kind, expression, timezone })}`)
  const { body } = await ask('30 2 * * *')
  const readings = body.due_at.map((at: string) =>
    new Date(at).toLocaleTimeString('en-GB', { timeZone: 'Europe/Berlin', timeStyle: 'short' }),
  )
  expect(readings).toEqual(['02:30', '02:30', '02:30', '02:30', '02:30'])
  expect(Date.parse(body.due_at[0])).toBeGreaterThan(w.clock.now())
  expect((await ask('2199-12-31 10:00:00 UTC', 'calendar')).body.due_at).toHaveLength(1)
  expect((await ask('61 * * * *')).body.errors[0].pointer).toBe('#/query/expression')
  expect((await ask('0 1 * * *', 'cron', 'Mars/Base')).body.errors[0].pointer).toBe('#/query/timezone')
})
