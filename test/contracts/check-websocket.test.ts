import { afterAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import type { Socket } from 'node:net'
import { InvalidCheckInput, type Facts } from '../../src/checks/check'
import { websocket } from '../../src/checks/websocket'
import { checkContext } from '../support/check-context'
import { fixtureCa, stopTalkers, talker } from '../support/talker'

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url))

type Options = Parameters<typeof websocket.run>[1]

const closes: number[] = []
let seen: Headers | null = null

/** Bun's own server, which echoes messages with a prefix. */
const serve = (tls: object) =>
  Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    ...tls,
    fetch(request, server) {
      seen = request.headers
      if (new URL(request.url).pathname === '/socket')
        return server.upgrade(request) ? undefined : new Response('', { status: 400 })
      return new Response('no socket here', { status: 404 })
    },
    websocket: {
      open: socket => void socket.send('hello'),
      message(socket, text) {
        socket.ping()
        socket.send(`you said ${text}`)
      },
      close: (_, code) => void closes.push(code),
    },
  })
const plain = serve({})
const secure = serve({ tls: { key: fixture('two-names.key'), cert: fixture('two-names.pem') } })

afterAll(() => {
  plain.stop(true)
  secure.stop(true)
  stopTalkers()
})

const run = async (target: string, options: Options = {}, withinMs = 5000): Promise<Facts> => {
  const canonical = websocket.target(target)
  websocket.validate!(options, canonical)
  return await websocket.run(canonical, options, checkContext({ withinMs }))
}

/** A server that completes the handshake, as modified by `change`, and then sends these bytes. */
const scripted = async (
  octets: number[],
  options: Options = {},
  change: (head: string) => string = head => head,
): Promise<Facts> => {
  const port = await talker((socket: Socket) => {
    socket.once('data', request => {
      const key = /Sec-WebSocket-Key: (\S+)/.exec(request.toString())![1]!
      const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
      const head = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`
      socket.write(Buffer.concat([Buffer.from(change(head)), Uint8Array.from(octets)]))
    })
  })
  return await run(`ws://a.test:${port}/`, options, 2000)
}
const text = (words: string, first = 0x81) => [first, words.length, ...Buffer.from(words)]

describe('a WebSocket', () => {
  test('that opens is up, and is closed properly', async () => {
    const facts = await run(`ws://a.test:${plain.port}/socket`, { headers: { Origin: 'https://a.test' } })
    expect(facts).toMatchObject({ connected: true, error: null, status: 101, body: null, tls: null })
    expect(seen!.get('origin')).toBe('https://a.test')
    expect(seen!.get('user-agent')).toStartWith('Bailiwick/')
    for (let at = 0; at < 1000 && closes.length === 0; at++) await Bun.sleep(10)
    expect(closes).toEqual([1000])
  })

  test.each(['short', 'x'.repeat(300), 'y'.repeat(66_000 - 1000)])('works over TLS, %#', async words => {
    const facts = await run(`wss://a.test:${secure.port}/socket`, {
      ca: fixtureCa,
      send: words,
      expect: '^you said (short|x+|y+)$',
      read_limit_bytes: 200_000,
    })
    expect(facts).toMatchObject({ error: null, tls: { certificate: { names: ['a.test', 'b.test'] } } })
    expect(facts.body).toBe(`hello\nyou said ${words}`)
  })

  test('without a handshake, or with another message, is down', async () => {
    expect((await run(`ws://a.test:${plain.port}/other`)).error).toEqual({
      kind: 'status',
      message: 'HTTP 404, expected 101',
    })
    expect((await run(`wss://a.test:${secure.port}/socket`)).error!.kind).toBe('certificate')
    const other = await run(`ws://a.test:${plain.port}/socket`, { expect_text: 'goodbye' }, 300)
    expect(other.error).toEqual({ kind: 'content', message: 'received "hello", expected "goodbye"' })
  })

  test.each<[string, (head: string) => string, string]>([
    ['an invalid Sec-WebSocket-Accept', head => head.replace(/Accept: ./, 'Accept: _'), 'protocol'],
    ['another protocol', head => head.replace('Upgrade: websocket', 'Upgrade: h2c'), 'protocol'],
    ['an extension', head => head.replace('\r\n\r\n', '\r\nSec-WebSocket-Extensions: x\r\n\r\n'), 'protocol'],
    ['a subprotocol', head => head.replace('\r\n\r\n', '\r\nSec-WebSocket-Protocol: x\r\n\r\n'), 'protocol'],
    ['an invalid header line', head => head.replace('\r\n\r\n', '\r\nnone\r\n\r\n'), 'protocol'],
  ])('whose server responds with %s is down', async (_, change, kind) => {
    expect((await scripted([], {}, change)).error!.kind).toBe(kind as 'protocol')
  })

  test('must have the configured subprotocol', async () => {
    const choosing = (name: string) => (head: string) => head.replace('\r\n\r\n', `\r\nSec-WebSocket-Protocol: ${name}\r\n\r\n`)
    expect((await scripted([], { subprotocol: 'chat' }, choosing('chat'))).error).toBeNull()
    expect((await scripted([], { subprotocol: 'chat' }, choosing('other'))).error!.kind).toBe('content')
    expect((await scripted([], { subprotocol: 'chat' })).error!.kind).toBe('content')
  })

  test.each<[string, number[], string | null]>([
    ['a message', text('well'), null],
    ['a fragmented message with a ping in between', [...text('we', 0x01), ...text('now', 0x89), ...text('ll', 0x80)], null],
    ['another message first', [...text('bad'), ...text('well', 0x82)], null],
    ['a close frame', [0x88, 6, 0x03, 0xe9, ...Buffer.from('away')], 'the server closed the WebSocket with code 1001: "away"'],
    ['a masked frame', [0x81, 0x84, 0, 0, 0, 0, ...Buffer.from('well')], 'the server sent a masked frame'],
    ['reserved bits', text('well', 0xc1), 'the server sent reserved bits without a negotiated extension'],
    ['an unknown frame', text('well', 0x83), 'the server sent a frame with unknown opcode 3'],
    ['a stray continuation', text('well', 0x80), 'the server sent an invalid continuation frame'],
    ['a long ping', [0x89, 126, 0, 200], 'the server sent a fragmented or oversized control frame'],
  ])('that receives %s', async (_, octets, message) => {
    const { error } = await scripted(octets, { expect: '^well$' })
    expect(error?.message ?? null).toBe(message)
  })
})

test.each<[string, Options, string]>([
  ['a connection header', { headers: { Host: 'x' } }, '/options/headers'],
  ['a handshake header', { secret_headers: { 'Sec-WebSocket-Key': 'x' } }, '/options/secret_headers'],
  ['an invalid expression', { expect: '(' }, '/options/expect'],
])('%s is rejected', (_, options, pointer) => {
  expect(() => websocket.validate!(options, 'ws://a.test/')).toThrow(expect.objectContaining({ pointer }))
})

test.each(['a.test', 'https://a.test/', 'ws://u:p@a.test/', 'ws://a.test/#x', 'ws:// a.test/'])(
  'the target %s is rejected',
  target => {
    expect(() => websocket.target(target)).toThrow(InvalidCheckInput)
  },
)
