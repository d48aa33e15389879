import type { Socket } from 'node:net'
import type { startTlsProtocols } from '../../wire/agent-limits'

type StartTls = (typeof startTlsProtocols)[number]

/** Ports on which a connection switches to TLS. */
export const startTlsPorts: Readonly<Record<number, StartTls>> = {
  25: 'smtp',
  587: 'smtp',
  143: 'imap',
  110: 'pop3',
  5432: 'postgres',
}

/** What is sent after the server has sent text that ends like this; null if TLS starts then. */
type Step = readonly [expected: RegExp, send: string | Uint8Array | null]

const conversations: Readonly<Record<StartTls, { first?: Uint8Array; steps: readonly Step[] }>> = {
  // RFC 3207. The last line of a response has a space after its code.
  smtp: {
    steps: [
      [/^220 [^\n]*\n$/m, 'EHLO localhost\r\n'],
      [/^250 [^\n]*\n$/m, 'STARTTLS\r\n'],
      [/^220 [^\n]*\n$/m, null],
    ],
  },
  // RFC 9051 section 6.2.1.
  imap: {
    steps: [
      [/^\* OK[^\n]*\n$/m, 'a STARTTLS\r\n'],
      [/^a OK[^\n]*\n$/m, null],
    ],
  },
  // RFC 2595 section 4.
  pop3: {
    steps: [
      [/^\+OK[^\n]*\n$/m, 'STLS\r\n'],
      [/^\+OK[^\n]*\n$/m, null],
    ],
  },
  // SSLRequest: https://www.postgresql.org/docs/current/protocol-message-formats.html
  postgres: { first: Uint8Array.of(0, 0, 0, 8, 4, 210, 22, 47), steps: [[/^S$/, null]] },
}

const maxBytes = 16 * 1024

/**
 * Asks a server to switch to TLS. Resolves when it agrees.
 * @param socket a connection; afterwards, nothing reads it
 * @throws Error if the server refuses, or closes the connection
 */
export function startTls(socket: Socket, protocol: StartTls): Promise<void> {
  const { first, steps } = conversations[protocol]
  return new Promise((resolve, reject) => {
    let [at, received] = [0, '']
    const end = (error?: Error) => {
      socket.pause()
      socket.off('data', onData).off('error', end).off('close', onClose)
      if (error) reject(error)
      else resolve()
    }
    const onClose = () => end(new Error('The connection was closed.'))
    const onData = (bytes: Buffer) => {
      received += bytes.toString('latin1')
      const [expected, send] = steps[at]!
      if (expected.test(received)) {
        received = ''
        at++
        if (send === null) return end()
        socket.write(send)
      } else if (/^([45]\d\d |a (NO|BAD)|-ERR|N$|E)/m.test(received) || received.length > maxBytes)
        end(new Error('The server does not offer TLS.'))
    }
    socket.on('data', onData).on('error', end).on('close', onClose)
    if (first) socket.write(first)
  })
}
