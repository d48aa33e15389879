import { describe, expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, until } from '../support/binary'
import { rowsOf } from '../support/database'

// A lease of shares is 15 s, and looked at each 5 s.
const takeOverMs = 30_000
const onPostgres = Boolean(process.env.BAILIWICK_DATABASE_URL)

describe.skipIf(!onPostgres)('two hubs on one database', () => {
  test('share the monitors, and one takes over from the other that was killed, without an alarm', async () => {
    await using here = await installation()
    await using target = server()
    await using staying = await startHub(here)
    await using dying = await startHub(here)
    await using rows = rowsOf(here)
    const token = await fullToken(here)
    const ids: string[] = []
    for (let n = 0; n < 24; n++) {
      const made = await call(staying, token, 'POST', '/v1/monitors', {
        type: 'http',
        name: `monitor ${n}`,
        target: `${target.url}${n}`,
        interval_seconds: 5,
      })
      expect(made.status).toBe(201)
      ids.push(made.body.id)
    }
    const holders = async () =>
      (await rows.all<{ hub: string }>('select distinct hub_id as hub from monitor_shares')).map(row => row.hub)
    await until('both with shares', async () => (await holders()).length === 2, takeOverMs)
    const statuses = async () =>
      (await rows.all<{ status: string }>('select distinct status from monitors')).map(one => one.status).join()
    await until('all up', async () => (await statuses()) === 'up', takeOverMs)

    // Whichever hub is asked, the one that has the monitor checks it.
    for (const id of ids.slice(0, 6))
      for (const hub of [staying, dying]) {
        const found = await until('the check', async () => {
          const { status, body } = await call(hub, token, 'POST', `/v1/monitors/${id}/check`)
          // One whose share just changes hands is asked for once more.
          return status === 202 ? null : { status, found: body.result.status }
        })
        expect(found).toEqual({ status: 200, found: 'up' })
      }

    await dying.stop('SIGKILL')
    const killedAt = performance.now()
    target.asked.clear()
    await until('every monitor checked again', async () => target.asked.size === ids.length, takeOverMs)
    process.stdout.write(`taken over after ${Math.round(performance.now() - killedAt)} ms\n`)
    await until('one holder', async () => (await holders()).length === 1, takeOverMs)
    expect(await statuses()).toBe('up')
    expect(await rows.all(`select kind from events where kind like 'monitor.%'`)).toEqual([])
    expect(await rows.all('select id from incidents')).toEqual([])
    // The time in which nobody looked is known.
    expect((await rows.all('select id from monitor_gaps')).length).toBeGreaterThan(0)

    // What fails now is found by the one that is left, each once.
    await target.stop()
    await until(
      'every alert',
      async () => (await rows.all(`select id from events where kind = 'monitor.alert'`)).length === 24,
      takeOverMs,
    )
    await Bun.sleep(6000)
    expect(await rows.all(`select id from events where kind = 'monitor.alert'`)).toHaveLength(24)
    expect(await rows.all(`select id from incidents where status = 'open'`)).toHaveLength(24)
  }, 150_000)
})

/** Answers everything with 200, and remembers what it was asked for. */
function server() {
  const asked = new Set<string>()
  const run = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch(request) {
      asked.add(new URL(request.url).pathname)
      return new Response('well')
    },
  })
  return {
    url: `http://127.0.0.1:${run.port}/`,
    asked,
    stop: () => run.stop(true),
    async [Symbol.asyncDispose]() {
      await run.stop(true)
    },
  }
}
