import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { connect, type Socket } from 'node:net'
import { resolve } from 'node:path'
import { digOutput, queryOctets, servedZone, type DigOutput } from '../../../../test/support/served-zone'
import { systemClock } from '../../../core/clock'
import { openLog } from '../../../core/log'
import { decodeMessage } from '../../../dns/message-decode'
import type { Counts, ListenOptions } from './messages'
import { NameServer } from './name-server'

const entry = resolve('src/bin/name-server.ts')
const options: ListenOptions = {
  host: '127.0.0.1',
  port: 0,
  setting: '--dns-listen',
  responsesPerSecond: null,
  limitLoopback: false,
}
const zone = servedZone(
  'z.test.',
  `@ 60 SOA ns h 1 2 3 4 5\nwww 60 A 192.0.2.1\n${Array.from({ length: 90 }, (_, n) => `big 60 A 198.51.100.${n}`).join('\n')}`,
)
const counts: Counts[] = []
let empties = 0
const make = (more: Partial<ListenOptions> = {}, collected = counts, threads = 1) =>
  new NameServer(
    { ...options, ...more },
    { entry, clock: systemClock, log: openLog('silent'), onCounts: one => collected.push(one), onEmpty: () => empties++ },
    threads,
  )

let server: NameServer
let port: number
beforeAll(async () => {
  server = make()
  await server.start()
  port = server.address!.port
})
afterAll(() => server.stop())

// Long timeouts for busy machines where a response is certain; short ones where none is expected.
const surelyMs = 10_000
const quietMs = 1_000

/** Sends octets over UDP and returns the response, or null on a timeout. */
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
const ask = async (name: string, to = port, withinMs = surelyMs): Promise<DigOutput | null> => {
  const answer = await udp(queryOctets(name, 'A'), to, withinMs)
  return answer && digOutput(answer)
}

/** Repeats a query until the response has this RCODE: messages to the thread take a moment. */
async function eventually(name: string, rcode: string): Promise<DigOutput | null> {
  for (let tries = 0; ; tries++) {
    const answer = await ask(name)
    if (answer?.rcode === rcode || tries === 100) return answer
    await Bun.sleep(10)
  }
}

/** Sends octets by TCP and gives the messages that come back until `expected` of them are there, or the end. */
async function tcp(octets: Uint8Array, expected: number, pieces = octets.length, to = port): Promise<DigOutput[]> {
  const { promise, resolve: done } = Promise.withResolvers<void>()
  let read = Buffer.alloc(0)
  const messages: DigOutput[] = []
  const socket = await Bun.connect({
    hostname: '127.0.0.1',
    port: to,
    socket: {
      data(_, part) {
        read = Buffer.concat([read, part])
        while (read.length >= 2 && read.length >= 2 + read.readUInt16BE(0)) {
          const end = 2 + read.readUInt16BE(0)
          messages.push(digOutput(read.subarray(2, end)))
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
  test('nothing is refused before all zones are loaded', async () => {
    expect(await eventually('www.z.test.', 'SERVFAIL')).toMatchObject({ rcode: 'SERVFAIL' })
    await server.put(zone)
    server.complete()
    expect(await eventually('www.z.test.', 'NOERROR')).toMatchObject({ rcode: 'NOERROR', answer: ['www.z.test. 60 A 192.0.2.1'] })
    expect(await ask('other.test.')).toMatchObject({ rcode: 'REFUSED' })
  })

  test('large responses are sent over TCP', async () => {
    expect(await ask('big.z.test.')).toMatchObject({ flags: 'qr aa tc' })
    expect(await tcp(framed(queryOctets('big.z.test.', 'A')), 1)).toMatchObject([{ flags: 'qr aa', answer: { length: 90 } }])
  })

  test('a connection can carry many queries, also in fragments', async () => {
    const one = framed(queryOctets('www.z.test.', 'A'))
    expect(await tcp(Buffer.concat(Array.from({ length: 300 }, () => one)), 300)).toHaveLength(300)
    expect(await tcp(one, 1, 7)).toHaveLength(1)
  })

  test('a client that reads gets all responses, whatever their total size', async () => {
    const one = framed(queryOctets('big.z.test.', 'A'))
    expect(await tcp(Buffer.concat(Array.from({ length: 600 }, () => one)), 600)).toHaveLength(600)
  })

  test('junk and early disconnects do not affect other clients', async () => {
    const { resolve: gone, promise } = Promise.withResolvers<void>()
    void (async () => {
      for (let at = 0; at < 200; at++) {
        // Closed before the response, which then hits a closed port.
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

  test('idle connections are closed when there are too many', async () => {
    let closed = 0
    const sockets: { terminate(): void }[] = []
    // A connection may be closed before its client knows that it is open.
    for (let n = 0; n < 130; n++) {
      const socket = { data() {}, close: () => void closed++, error() {} }
      sockets.push(await Bun.connect({ hostname: '127.0.0.1', port, socket }).catch(() => ({ terminate() {} })))
    }
    expect(await tcp(framed(queryOctets('www.z.test.', 'A')), 1)).toHaveLength(1)
    for (let tries = 0; tries < 400 && closed < 31; tries++) await Bun.sleep(25)
    expect(closed).toBeWithin(20, 45)
    for (const socket of sockets) socket.terminate()
  })

  test('a client with many connections only affects itself', async () => {
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

  test('a client that reads nothing is disconnected', async () => {
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
    // The system buffers some megabytes for a client that does not read.
    const asking = (async () => {
      for (let stalled = 0; !closed && stalled < 500;) {
        const took = socket.write(many.subarray(sent % many.length))
        sent += Math.max(0, took)
        stalled = took > 0 ? 0 : stalled + 1
        await Bun.sleep(2)
      }
      // Only a reader notices the end.
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
  test('replaces a zone at once', async () => {
    const names = Array.from({ length: 2100 }, (_, n) => `h${n} 60 A 192.0.2.${n % 250}`)
    const handed = server.put(servedZone('long.test.', `${names.join('\n')}\n@ 60 SOA a b 1 2 3 4 5`))
    const meanwhile: (string | undefined)[] = []
    const asking = { on: true }
    const requests = (async () => {
      while (asking.on) meanwhile.push((await ask('h2099.long.test.'))?.rcode)
    })()
    await handed
    asking.on = false
    await requests
    expect(meanwhile.filter(rcode => rcode !== 'REFUSED' && rcode !== 'NOERROR')).toEqual([])
    expect(await eventually('h2099.long.test.', 'NOERROR')).toMatchObject({ rcode: 'NOERROR', answer: { length: 1 } })
    server.remove('long.test.')
    expect(await eventually('h0.long.test.', 'REFUSED')).toMatchObject({ rcode: 'REFUSED' })
  })

  test('keeps a zone when its replacement is invalid', async () => {
    await server.put({ name: 'z.test.', rrsets: [{ name: 'www.z.test.', type: 'A', ttl: 1, rdata: [Buffer.alloc(4)] }] })
    expect(await ask('www.z.test.')).toMatchObject({ answer: ['www.z.test. 60 A 192.0.2.1'] })
  })

  test('reports its counts', async () => {
    const countOf = (kind: keyof Counts, name: string) => counts.reduce((sum, one) => sum + (one[kind][name] ?? 0), 0)
    for (let tries = 0; tries < 300 && countOf('limited', 'ignored') === 0; tries++) await Bun.sleep(50)
    expect(countOf('queries', 'udp')).toBeGreaterThan(100)
    expect(countOf('queries', 'tcp')).toBeGreaterThan(300)
    expect(countOf('answers', 'NOERROR')).toBeGreaterThan(300)
    expect(countOf('limited', 'ignored')).toBeGreaterThan(0)
  })

  test('reports a port that it can’t open', async () => {
    const other = make({ port })
    expect(other.start()).rejects.toThrow(`--dns-listen: port ${port} is already in use on 127.0.0.1`)
    const foreign = make({ host: '192.0.2.1', port: 5300 })
    expect(foreign.start()).rejects.toThrow('can’t listen on 192.0.2.1 port 5300')
  })

  test('is restarted on its port after a crash, and requests its zones', async () => {
    const before = empties
    // Not absolute, which is never sent normally: an unexpected error in the thread.
    server.remove('relative')
    for (let tries = 0; tries < 300 && empties === before; tries++) await Bun.sleep(50)
    expect(server.address).toEqual({ host: '127.0.0.1', port })
    expect(await eventually('www.z.test.', 'SERVFAIL')).toMatchObject({ rcode: 'SERVFAIL' })
    await server.put(zone)
    server.complete()
    expect(await eventually('www.z.test.', 'NOERROR')).toMatchObject({ rcode: 'NOERROR' })
  })

  test('limits the responses to one network', async () => {
    const counts: Counts[] = []
    const limited = make({ responsesPerSecond: 5, limitLoopback: true }, counts)
    await limited.start()
    await limited.put(zone)
    limited.complete()
    await limited.synced()
    const startedAt = performance.now()
    let lastAt = startedAt
    const asking = Array.from({ length: 15 }, async () => {
      const answer = await udp(queryOctets('www.z.test.', 'A'), limited.address!.port, 2 * quietMs)
      if (answer) lastAt = performance.now()
      return answer
    })
    const answers = await Promise.all(asking)
    const tookSeconds = (lastAt - startedAt) / 1_000
    const cut = answers.filter(one => one && decodeMessage(one).flags.tc)
    const whole = answers.filter(one => one && !decodeMessage(one).flags.tc)
    await limited.stop()
    // A burst of five, then five a second; every other of the rest is truncated.
    expect(whole.length).toBeWithin(5, 6 + Math.ceil(5 * tookSeconds))
    expect(cut.length).toBeWithin(Math.floor((15 - whole.length) / 2), Math.ceil((15 - whole.length) / 2) + 1)
    // Only sent responses are counted.
    expect(counts.reduce((sum, { answers: sent }) => sum + (sent.NOERROR ?? 0), 0)).toBe(whole.length + cut.length)
  })

  test('does not answer after it is stopped', async () => {
    const short = make()
    await short.start()
    await short.stop()
    expect(await ask('www.z.test.', short.address!.port, quietMs)).toBe(null)
  })
})

describe('several threads', () => {
  test('share the port, the zones, and their changes', async () => {
    const counts: Counts[] = []
    const shared = make({}, counts, 2)
    await shared.start()
    const { port } = shared.address!
    await shared.put(zone)
    shared.complete()
    shared.change({
      name: zone.name,
      rrsets: [{ name: 'new.z.test.', type: 'A', ttl: 60, rdata: [Buffer.from([192, 0, 2, 7])] }],
    })
    await shared.synced()
    // Each query has its own source port, by which the system distributes them.
    const answers = await Promise.all(Array.from({ length: 64 }, (_, n) => ask(n % 2 ? 'new.z.test.' : 'www.z.test.', port)))
    expect(answers.map(one => one?.answer.length)).toEqual(Array.from({ length: 64 }, () => 1))
    const sent = framed(queryOctets('new.z.test.', 'A'))
    for (let n = 0; n < 24; n++)
      expect(await tcp(sent, 1, sent.length, port)).toMatchObject([{ rcode: 'NOERROR', answer: { length: 1 } }])
    await shared.stop()
    for (const transport of ['udp', 'tcp']) {
      const shares = counts.map(one => one.queries[transport] ?? 0)
      expect(shares.reduce((sum, one) => sum + one, 0)).toBe(transport === 'udp' ? 64 : 24)
      expect(Math.max(...shares)).toBeLessThan(transport === 'udp' ? 64 : 24)
    }
  })

  test('refuse a port that something else has open', async () => {
    expect(make({ port }, counts, 2).start()).rejects.toThrow(`--dns-listen: port ${port} is already in use on 127.0.0.1`)
    const shared = make({}, counts, 2)
    await shared.start()
    const other = make({ port: shared.address!.port }, counts, 2)
    await expect(other.start()).rejects.toThrow('is already in use')
    await shared.stop()
  })

  test('are restarted together', async () => {
    const shared = make({}, counts, 2)
    await shared.start()
    const before = { empties, address: shared.address }
    shared.remove('relative')
    for (let tries = 0; tries < 300 && empties < before.empties + 2; tries++) await Bun.sleep(50)
    expect(shared.address).toEqual(before.address)
    await shared.put(zone)
    shared.complete()
    await shared.synced()
    const answers = await Promise.all(Array.from({ length: 16 }, () => ask('www.z.test.', shared.address!.port)))
    expect(answers.map(one => one?.rcode)).toEqual(Array.from({ length: 16 }, () => 'NOERROR'))
    await shared.stop()
  })
})
