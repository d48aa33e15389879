import { createHash } from 'node:crypto'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { message } from '../../src/dns/message'
import { decodeMessage } from '../../src/dns/message-decode'
import { encodeMessage } from '../../src/dns/message-encode'
import { framed } from '../../src/dns/tcp-frame'
import { rdataOfContent } from '../../src/dns/rdata'
import { recordOf } from './scripted-server'

// Servers that try to occupy their clients, in a process of their own: each on its own port of 127.0.0.1. Prints the ports as JSON.

const chunkBytes = 65_536
const bodyBytes = 1024 * 1024
const ok = 'HTTP/1.1 200 OK\r\n'
const webSocketGuid = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

type Talk = (socket: Socket) => void

/** Repeats data as fast as the client reads. */
function repeat(socket: Socket, data: string | Uint8Array): void {
  const part = Buffer.from(data as string)
  const chunk = Buffer.concat(Array.from({ length: Math.ceil(chunkBytes / part.length) }, () => part))
  const more = () => {
    while (!socket.destroyed && socket.write(chunk));
  }
  socket.on('drain', more)
  more()
}

const endless =
  (data: string | Uint8Array, before: string | Uint8Array = ''): Talk =>
  socket => {
    socket.write(before)
    repeat(socket, data)
  }

/** Sends one byte at a time, so that the client is never idle for long. */
const trickle =
  (text: string): Talk =>
  socket => {
    let at = 0
    const timer = setInterval(() => void socket.write(text[at++ % text.length]!), 20)
    socket.on('close', () => clearInterval(timer))
  }

/** Responds to the first packet of the client. */
const responding =
  (talk: Talk): Talk =>
  socket =>
    void socket.once('data', () => talk(socket))

const http = (headers: string, talk: Talk) =>
  responding(socket => {
    socket.write(`${ok}${headers}\r\n`)
    talk(socket)
  })

const body = (text: string) => http(`Content-Length: ${Buffer.byteLength(text)}\r\n`, socket => void socket.end(text))

/** A WebSocket that opens, and then repeats frames. */
const webSocket =
  (frames: number[], before: number[] = []): Talk =>
  socket =>
    void socket.once('data', request => {
      const key = /sec-websocket-key: (\S+)/i.exec(request.toString())?.[1]
      const accept = createHash('sha1').update(`${key}${webSocketGuid}`).digest('base64')
      socket.write(`HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`)
      endless(Uint8Array.from(frames), Uint8Array.from(before))(socket)
    })

/** A mail server: a greeting, then a line forever as response to the first command. */
const mail =
  (greeting: string, line: string): Talk =>
  socket => {
    socket.write(greeting)
    socket.once('data', () => repeat(socket, line))
  }

/** As many records as fit into one message, all with a name that is expanded from pointers. */
const manyRecords: Talk = socket =>
  void socket.once('data', data => {
    const query = decodeMessage(Buffer.from(data).subarray(2))
    const [question] = query.question
    const value = rdataOfContent('A', '192.0.2.1', '.')
    const answer = Array.from({ length: 3500 }, () => recordOf(question!.name, 60, 'A', value))
    socket.write(
      framed(
        encodeMessage({ ...message({ id: query.id, question: query.question, answer }), flags: { ...query.flags, qr: true } }),
      ),
    )
  })

const letters = Array.from({ length: bodyBytes - 2 }, (_, at) => 'ab'[(Math.imul(at, 2_654_435_761) >>> 13) & 1]).join('')
const nested = `${'['.repeat(490)}"${'x'.repeat(bodyBytes - 1000)}"${']'.repeat(490)}`
const wide = `{"items":[${'{"a":1},'.repeat(49_000)}0]}`

const talks = {
  silent: socket => void socket.resume(),
  http_trickle: trickle(`${ok}X-Slow: ${'a'.repeat(100)}`),
  http_headers: responding(endless('a: b\r\n', ok)),
  http_interim: responding(endless('HTTP/1.1 100 Continue\r\n\r\n')),
  http_endless: http('', socket => repeat(socket, 'x'.repeat(1000))),
  http_chunks: http('Transfer-Encoding: chunked\r\n', socket => repeat(socket, '1\r\na\r\n')),
  http_bomb: http('Content-Encoding: gzip\r\n', socket => void socket.end(gzipSync(Buffer.alloc(200 * bodyBytes)))),
  http_letters: body(letters),
  http_nested: body(nested),
  http_wide: body(wide),
  tcp_trickle: trickle('hello '),
  tcp_lines: endless('\n'),
  tcp_line: endless('ab'),
  tcp_letters: endless(`${letters.slice(0, 60_000)}\n`),
  tls_trickle: trickle('\x16\x03\x01\x3f\xff\x02'),
  // Warnings, which TLS 1.2 clients ignore (RFC 5246 section 7.2).
  tls_warnings: endless(Uint8Array.from([21, 3, 3, 0, 2, 1, 100])),
  smtp_trickle: trickle('220-a'),
  smtp_greeting: endless('220-a\r\n'),
  smtp_capabilities: mail('220 a\r\n', '250-a\r\n'),
  imap_trickle: trickle('* OK '),
  imap_capabilities: mail('* OK\r\n', '* CAPABILITY a a a a a a a a a a\r\n'),
  pop3_trickle: trickle('+OK '),
  pop3_capabilities: mail('+OK\r\n', '+OK\r\n'),
  ssh_trickle: trickle('SSH'),
  ssh_lines: endless('a\r\n'),
  ssh_line: endless('a'),
  websocket_trickle: trickle('HTTP/1.1 101 x'),
  websocket_pings: webSocket([0x89, 0]),
  websocket_messages: webSocket([0x81, 0]),
  websocket_fragments: webSocket([0, 0], [1, 0]),
  websocket_letters: webSocket([0x81, 100, ...Buffer.from(letters.slice(0, 100))]),
  dns_trickle: trickle('\xff\xff\x00'),
  dns_records: manyRecords,
  good: socket => void socket.end(),
} satisfies Record<string, Talk>

/** Names of the servers. */
export type HostileServerName = keyof typeof talks

async function start(talk: Talk): Promise<number> {
  const server = createServer(socket => {
    socket.on('error', () => {})
    talk(socket)
  })
  await new Promise<void>(resolve => server.listen(0, resolve))
  return (server.address() as AddressInfo).port
}

if (import.meta.main) {
  const ports = await Promise.all(Object.entries(talks).map(async ([name, talk]) => [name, await start(talk)] as const))
  process.stdout.write(`${JSON.stringify(Object.fromEntries(ports))}\n`)
}
