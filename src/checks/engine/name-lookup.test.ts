import { afterAll, expect, test } from 'bun:test'
import { decodeMessage } from '../../dns/message-decode'
import { encodeMessage } from '../../dns/message-encode'
import { CLASS, message, RCODE } from '../../dns/message'
import { rdataOfText } from '../../dns/rdata'
import { resolverLookup } from './name-lookup'

const open: { close(): void }[] = []
afterAll(() => open.forEach(one => one.close()))

/** A resolver on its own port that responds with an address or a code, or not at all. */
async function resolver(answer: string | number | null) {
  const queries = { count: 0 }
  const socket = await Bun.udpSocket({
    hostname: '127.0.0.1',
    binaryType: 'uint8array',
    socket: {
      data(from, octets, port, address) {
        queries.count++
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
  return { at: { address: '127.0.0.1', port: socket.port }, queries }
}

test('the next resolver is queried if one does not respond, and comes first the next time', async () => {
  const [silent, fine] = [await resolver(null), await resolver('192.0.2.1')]
  const lookUp = resolverLookup(
    () => [silent.at, fine.at],
    () => 0,
  )
  expect(await lookUp('a.test', 'A')).toEqual({ kind: 'found', addresses: ['192.0.2.1'], ttl: 60 })
  expect(silent.queries.count).toBeGreaterThan(0)
  const before = silent.queries.count
  for (let n = 0; n < 5; n++) await lookUp('b.test', 'A')
  expect(silent.queries.count - before).toBeLessThanOrEqual(1)
})

test('the next resolver is queried after an error; if all fail, the error is returned', async () => {
  const [failing, refusing, fine] = [
    await resolver(RCODE.SERVFAIL),
    await resolver(RCODE.REFUSED),
    await resolver(RCODE.NXDOMAIN),
  ]
  const lookUp = (...servers: (typeof fine)[]) =>
    resolverLookup(
      () => servers.map(one => one.at),
      () => 0,
    )('a.test', 'A')
  expect(await lookUp(failing, fine)).toMatchObject({ kind: 'not_found' })
  expect(await lookUp(failing)).toEqual({ kind: 'failed', rcode: 'SERVFAIL' })
  expect(await lookUp(failing, refusing)).toMatchObject({ kind: 'failed' })
  expect(await lookUp()).toEqual({ kind: 'timeout' })
})

test('an unresponsive resolver is abandoned after two attempts, a second apart', async () => {
  const silent = await resolver(null)
  const since = performance.now()
  const lookUp = resolverLookup(
    () => [silent.at],
    () => 0,
  )
  expect(await lookUp('a.test', 'A')).toEqual({ kind: 'timeout' })
  expect(silent.queries.count).toBe(2)
  expect(performance.now() - since).toBeGreaterThan(1500)
})
