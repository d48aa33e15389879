import { afterAll, expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, until } from '../support/binary'
import { receiver, stopReceivers } from '../support/receiver'

afterAll(stopReceivers)

test('a hub killed while writing and while sending leaves no gap at the receiver', async () => {
  await using here = await installation()
  let hub = await startHub(here)
  await using _ = {
    async [Symbol.asyncDispose]() {
      await hub.stop('SIGKILL')
    },
  }
  const token = await fullToken(here)
  const seen = receiver()
  const seqs = () => seen.received.flatMap(one => JSON.parse(one.body).data.entries.map((entry: any) => entry.seq as number))
  const { id } = (await call(hub, token, 'POST', '/v1/audit-streams', { name: 'log', url: seen.url, from: 'beginning' })).body
  const write = async (n: number) => {
    for (let i = 0; i < n; i++) await call(hub, token, 'POST', '/v1/tokens', { name: `token ${i}`, mode: 'read_only' })
  }
  await until('the first message', async () => seen.received.length > 0)

  // While entries are waiting to be sent.
  await write(5)
  await hub.stop('SIGKILL')
  hub = await startHub(here)
  await write(1)
  const lag = async () => (await call(hub, token, 'GET', `/v1/audit-streams/${id}`)).body.lag as number
  await until('the rest', async () => (await lag()) === 0)

  // While the receiver has a message and has not responded.
  let requested = false
  seen.answer = async () => {
    requested = true
    await Bun.sleep(2_000)
    return new Response(null, { status: 204 })
  }
  await write(3)
  await until('a message in flight', async () => requested)
  await hub.stop('SIGKILL')
  seen.answer = () => new Response(null, { status: 204 })
  hub = await startHub(here)
  await write(1)
  for (let n = 0; n < 60 && (await lag()) > 0; n++) await Bun.sleep(1_000)
  expect(await lag()).toBe(0)

  const arrived = seqs()
  const last = arrived.at(-1)!
  expect([...new Set(arrived)]).toEqual(Array.from({ length: last }, (_, n) => n + 1))
}, 180_000)
