import { afterAll, expect, test } from 'bun:test'
import { decodeMessage } from '../../core/dns/message-decode'
import { encodeMessage } from '../../core/dns/message-encode'
import { CLASS, message, RCODE } from '../../core/dns/message'
import { rdataOfText } from '../../core/dns/rdata'
import { askResolvers } from './name-answer'

const open: { close(): void }[] = []
afterAll(() => open.forEach(one => one.close()))

/** A resolver on a port of its own: answers with an address, with a code, or not at all. */
async function resolver(answer: string | number | null) {
  const asked = { count: 0 }
  const socket = await Bun.udpSocket({
    hostname: '127.0.0.1',
    binaryType: 'uint8array',
    socket: {
      data(from, octets, port, address) {
        asked.count++
        if (answer === null) return
        const { id, question } = decodeMessage(octets)
        const { name, type } = question[0]!
        const records =
          typeof answer === 'string' ? [{ name, type, class: CLASS.IN, ttl: 60, rdata: rdataOfText(type, answer, null) }] : []
        const rcode = typeof answer === 'number' ? answer : RCODE.NOERROR
        from.send(encodeMessage(message({ id, rcode, question, answer: records, flags: { qr: true, ra: true } })), port, address)
      },
    },
  })
  open.push(socket)
  return { at: { address: '127.0.0.1', port: socket.port }, asked }
}

test('the next resolver is asked when one is silent, and first the next time', async () => {
  const [silent, fine] = [await resolver(null), await resolver('192.0.2.1')]
  const ask = askResolvers(
    () => [silent.at, fine.at],
    () => 0,
  )
  expect(await ask('a.test', 'A')).toEqual({ kind: 'found', addresses: ['192.0.2.1'], ttl: 60 })
  expect(silent.asked.count).toBeGreaterThan(0)
  const before = silent.asked.count
  for (let n = 0; n < 5; n++) await ask('b.test', 'A')
  expect(silent.asked.count - before).toBeLessThanOrEqual(1)
})

test('an error of one is worth another; what all say is told', async () => {
  const [failing, refusing, fine] = [
    await resolver(RCODE.SERVFAIL),
    await resolver(RCODE.REFUSED),
    await resolver(RCODE.NXDOMAIN),
  ]
  const ask = (...servers: (typeof fine)[]) =>
    askResolvers(
      () => servers.map(one => one.at),
      () => 0,
    )('a.test', 'A')
  expect(await ask(failing, fine)).toMatchObject({ kind: 'no_such_name' })
  expect(await ask(failing)).toEqual({ kind: 'failed', rcode: 'SERVFAIL' })
  expect(await ask(failing, refusing)).toMatchObject({ kind: 'failed' })
  expect(await ask()).toEqual({ kind: 'silent' })
})

test('a resolver that says nothing is given up after two tries, a second apart', async () => {
  const silent = await resolver(null)
  const since = performance.now()
  const ask = askResolvers(
    () => [silent.at],
    () => 0,
  )
  expect(await ask('a.test', 'A')).toEqual({ kind: 'silent' })
  expect(silent.asked.count).toBe(2)
  expect(performance.now() - since).toBeGreaterThan(1500)
})
