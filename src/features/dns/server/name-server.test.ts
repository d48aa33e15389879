import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { digged, queryOctets, servedZone, type Digged } from '../../../../test/support/served-zone'
import { systemClock } from '../../../core/clock'
import { openLog } from '../../../core/log'
import { decodeMessage } from '../../../core/dns/message-decode'
import type { Counts, ListenWish } from './messages'
import { NameServer } from './name-server'

const entry = resolve('src/bin/name-server.ts')
const wish: ListenWish = { host: '127.0.0.1', port: 0, responsesPerSecond: null, limitLoopback: false }
const zone = servedZone(
  'z.test.',
  `@ 60 SOA ns h 1 2 3 4 5\nwww 60 A 192.0.2.1\n${Array.from({ length: 90 }, (_, n) => `big 60 A 198.51.100.${n}`).join('\n')}`,
)
const counts: Counts[] = []
let empties = 0
const make = (more: Partial<ListenWish> = {}, told = counts) =>
  new NameServer(
    { ...wish, ...more },
    { entry, clock: systemClock, log: openLog('silent'), counted: one => told.push(one), empty: () => empties++ },
  )

let server: NameServer
let port: number
beforeAll(async () => {
  server = make()
  await server.start()
  port = server.address!.port
})
afterAll(() => server.stop())

// Long enough for a machine that is busy, where an answer is sure to come; and where none is, as long as that takes.
const surelyMs = 10_000
const quietMs = 1_000

/** Sends octets by UDP and gives what comes back in time, or null. */
async function udp(octets: Uint8Array, to: number, withinMs: number): Promise<Uint8Array | null> {
  const { promise, resolve: done } = Promise.withResolvers<Uint8Array | null>()
  const socket = await Bun.udpSocket({
    connect: { hostname: '127.0.0.1', port: to },
    socket: { data: (_, answer) => done(Uint8Array.from(answer)), error() {} },
  })
  socket.send(octets)
  const answer = await Promise.race([promise, Bun.sleep(withinMs).then(() => null)])
  socket.close()
  return answer
}
const ask = async (name: string, to = port, withinMs = surelyMs): Promise<Digged | null> => {
  const answer = await udp(queryOctets(name, 'A'), to, withinMs)
  return answer && digged(answer)
}

/** Asks until the answer has this rcode: what the thread is told takes its time to get there. */
async function eventually(name: string, rcode: string): Promise<Digged | null> {
  for (let tries = 0; ; tries++) {
    const answer = await ask(name)
    if (answer?.rcode === rcode || tries === 100) return answer
    await Bun.sleep(10)
  }
}

/** Sends octets by TCP and gives the messages that come back until `expected` of them are there, or the end. */
async function tcp(octets: Uint8Array, expected: number, pieces = octets.length): Promise<Digged[]> {
  const { promise, resolve: done } = Promise.withResolvers<void>()
  let read = Buffer.alloc(0)
  const messages: Digged[] = []
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port,
    socket: {
      data(_, part) {
        read = Buffer.concat([read, part])
        while (read.length >= 2 && read.length >= 2 + read.readUInt16BE(0)) {
          const end = 2 + read.readUInt16BE(0)
          messages.push(digged(read.subarray(2, end)))
          read = read.subarray(end)
        }
        if (messages.length >= expected) done()
      },
      close: () => done(),
      error: () => done(),
    },
  })
  for (let at = 0; at < octets.length; at += pieces) {
    socket.write(octets.subarray(at, at + pieces))
    if (pieces < octets.length) await Bun.sleep(2)
  }
  await Promise.race([promise, Bun.sleep(surelyMs)])
  socket.terminate()
  return messages
}
const framed = (octets: Uint8Array) => Buffer.concat([Buffer.from([octets.length >> 8, octets.length & 0xff]), octets])

describe('by UDP and TCP', () => {
  test('nothing is refused before all zones are there', async () => {
    expect(await eventually('www.z.test.', 'SERVFAIL')).toMatchObject({ rcode: 'SERVFAIL' })
    await server.put(zone)
    server.complete()
    expect(await eventually('www.z.test.', 'NOERROR')).toMatchObject({ rcode: 'NOERROR', answer: ['www.z.test. 60 A 192.0.2.1'] })
    expect(await ask('other.test.')).toMatchObject({ rcode: 'REFUSED' })
  })

  test('what is too long for UDP comes by TCP', async () => {
    expect(await ask('big.z.test.')).toMatchObject({ flags: 'qr aa tc' })
    expect(await tcp(framed(queryOctets('big.z.test.', 'A')), 1)).toMatchObject([{ flags: 'qr aa', answer: { length: 90 } }])
  })

  test('many queries go on one connection, whole or in pieces', async () => {
    const one = framed(queryOctets('www.z.test.', 'A'))
    expect(await tcp(Buffer.concat(Array.from({ length: 300 }, () => one)), 300)).toHaveLength(300)
    expect(await tcp(one, 1, 7)).toHaveLength(1)
  })

  test('a client that reads gets all its answers, however long they are together', async () => {
    const one = framed(queryOctets('big.z.test.', 'A'))
    expect(await tcp(Buffer.concat(Array.from({ length: 600 }, () => one)), 600)).toHaveLength(600)
  })

  test('junk and whoever hangs up early leave it answering others', async () => {
    const { resolve: gone, promise } = Promise.withResolvers<void>()
    void (async () => {
      for (let at = 0; at < 60; at++) {
        // Closed before the answer comes, which then meets a closed port.
        const socket = await Bun.udpSocket({ connect: { hostname: '127.0.0.1', port }, socket: { data() {}, error() {} } })
        socket.send(queryOctets('www.z.test.', 'A'))
        socket.send(crypto.getRandomValues(new Uint8Array(1 + (at % 40))))
        socket.close()
      }
      gone()
    })()
    const answers = await Promise.all(Array.from({ length: 60 }, () => ask('www.z.test.')))
    expect(answers.filter(one => one?.rcode === 'NOERROR')).toHaveLength(60)
    await promise
    expect(await tcp(framed(crypto.getRandomValues(new Uint8Array(60)).fill(0x80, 2, 3)), 1)).toEqual([])
    expect(await ask('www.z.test.')).toMatchObject({ rcode: 'NOERROR' })
  })

  test('more connections than there may be push out the quiet ones', async () => {
    let closed = 0
    const sockets: { terminate(): void }[] = []
    // A connection may be pushed out before its own client knows that it has one.
    for (let n = 0; n < 130; n++) {
      const socket = { data() {}, close: () => void closed++, error() {} }
      sockets.push(await Bun.connect({ hostname: '127.0.0.1', port, socket }).catch(() => ({ terminate() {} })))
    }
    expect(await tcp(framed(queryOctets('www.z.test.', 'A')), 1)).toHaveLength(1)
    for (let tries = 0; tries < 400 && closed < 31; tries++) await Bun.sleep(25)
    expect(closed).toBeWithin(20, 45)
    for (const socket of sockets) socket.terminate()
  })

  test('whoever opens many connections pushes out none but his own', async () => {
    const query = framed(queryOctets('www.z.test.', 'A'))
    const opened: Socket[] = []
    const open = (localAddress: string) => {
      const socket = connect({ host: '127.0.0.1', port, localAddress }).on('error', () => {})
      opened.push(socket)
      return new Promise<Socket>(done => socket.once('connect', () => done(socket)).once('close', () => done(socket)))
    }
    const quiet = await open('127.0.0.2')
    for (let n = 0; n < 250; n++) await open('127.0.0.3')
    const answered = new Promise<boolean>(done => quiet.once('data', () => done(true)).once('close', () => done(false)))
    quiet.write(query)
    expect(await answered).toBe(true)
    for (const socket of opened) socket.destroy()
  })

  test('a client that reads nothing is cut off', async () => {
    const one = framed(queryOctets('big.z.test.', 'A', { edns: null }))
    const many = Buffer.concat(Array.from({ length: 1500 }, () => one))
    let closed = false
    const ended = () => {
      closed = true
    }
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port,
      socket: { data() {}, close: ended, error: ended },
    })
    socket.pause()
    let sent = 0
    // The system takes some megabytes of answers for a client that does not read; what is asked beyond that is too much.
    const asking = (async () => {
      for (let stalled = 0; !closed && stalled < 500;) {
        const took = socket.write(many.subarray(sent % many.length))
        sent += Math.max(0, took)
        stalled = took > 0 ? 0 : stalled + 1
        await Bun.sleep(2)
      }
      // Only who reads sees the end.
      socket.resume()
      for (let tries = 0; !closed && tries < 1000; tries++) await Bun.sleep(10)
    })()
    const answered = Array.from({ length: 10 }, async () => (await ask('www.z.test.'))?.rcode)
    expect(await Promise.all(answered)).toEqual(Array.from({ length: 10 }, () => 'NOERROR'))
    await asking
    expect(closed).toBe(true)
  })
})

describe('the thread', () => {
  test('takes a zone of many pieces as one', async () => {
    const names = Array.from({ length: 2100 }, (_, n) => `h${n} 60 A 192.0.2.${n % 250}`)
    const handed = server.put(servedZone('long.test.', `${names.join('\n')}\n@ 60 SOA a b 1 2 3 4 5`))
    const meanwhile: (string | undefined)[] = []
    const asking = { on: true }
    const asked = (async () => {
      while (asking.on) meanwhile.push((await ask('h2099.long.test.'))?.rcode)
    })()
    await handed
    asking.on = false
    await asked
    expect(meanwhile.filter(rcode => rcode !== 'REFUSED' && rcode !== 'NOERROR')).toEqual([])
    expect(await eventually('h2099.long.test.', 'NOERROR')).toMatchObject({ rcode: 'NOERROR', answer: { length: 1 } })
    server.remove('long.test.')
    expect(await eventually('h0.long.test.', 'REFUSED')).toMatchObject({ rcode: 'REFUSED' })
  })

  test('leaves a zone as it was when what comes is none', async () => {
    await server.put({ name: 'z.test.', rrsets: [{ name: 'www.z.test.', type: 'A', ttl: 1, rdata: [Buffer.alloc(4)] }] })
    expect(await ask('www.z.test.')).toMatchObject({ answer: ['www.z.test. 60 A 192.0.2.1'] })
  })

  test('tells what it counted', async () => {
    const told = (kind: keyof Counts, name: string) => counts.reduce((sum, one) => sum + (one[kind][name] ?? 0), 0)
    for (let tries = 0; tries < 300 && told('held', 'ignored') === 0; tries++) await Bun.sleep(50)
    expect(told('queries', 'udp')).toBeGreaterThan(100)
    expect(told('queries', 'tcp')).toBeGreaterThan(300)
    expect(told('answers', 'NOERROR')).toBeGreaterThan(300)
    expect(told('held', 'ignored')).toBeGreaterThan(0)
  })

  test('says which port it cannot have', async () => {
    const other = make({ port })
    expect(other.start()).rejects.toThrow(`BAILIWICK_DNS_LISTEN: port ${port} is in use on 127.0.0.1`)
    const foreign = make({ host: '192.0.2.1', port: 5300 })
    expect(foreign.start()).rejects.toThrow('cannot listen on 192.0.2.1 port 5300')
  })

  test('is started again on its port when it dies, and asks for its zones', async () => {
    const before = empties
    // Not absolute, which nobody who knows names sends: an error that the thread does not expect.
    server.remove('relative')
    for (let tries = 0; tries < 300 && empties === before; tries++) await Bun.sleep(50)
    expect(server.address).toEqual({ host: '127.0.0.1', port })
    expect(await eventually('www.z.test.', 'SERVFAIL')).toMatchObject({ rcode: 'SERVFAIL' })
    await server.put(zone)
    server.complete()
    expect(await eventually('www.z.test.', 'NOERROR')).toMatchObject({ rcode: 'NOERROR' })
  })

  test('holds back what one network gets too much of', async () => {
    const told: Counts[] = []
    const limited = make({ responsesPerSecond: 5, limitLoopback: true }, told)
    await limited.start()
    await limited.put(zone)
    limited.complete()
    await limited.settled()
    const began = performance.now()
    let lastAt = began
    const asking = Array.from({ length: 15 }, async () => {
      const answer = await udp(queryOctets('www.z.test.', 'A'), limited.address!.port, quietMs)
      if (answer) lastAt = performance.now()
      return answer
    })
    const answers = await Promise.all(asking)
    const tookSeconds = (lastAt - began) / 1_000
    const cut = answers.filter(one => one && decodeMessage(one).flags.tc)
    const whole = answers.filter(one => one && !decodeMessage(one).flags.tc)
    await limited.stop()
    // Five at once and five a second, and of the rest every other one is cut.
    expect(whole.length).toBeWithin(5, 6 + Math.ceil(5 * tookSeconds))
    expect(cut.length).toBeWithin(Math.floor((15 - whole.length) / 2), Math.ceil((15 - whole.length) / 2) + 1)
    // What was sent is what counts as answered.
    expect(told.reduce((sum, { answers: sent }) => sum + (sent.NOERROR ?? 0), 0)).toBe(whole.length + cut.length)
  })

  test('answers nobody once it is stopped', async () => {
    const short = make()
    await short.start()
    await short.stop()
    expect(await ask('www.z.test.', short.address!.port, quietMs)).toBe(null)
  })
})
