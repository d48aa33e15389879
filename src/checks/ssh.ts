import { bannerCheck } from './banner'
import { CheckFailed } from './connect-failure'
import { quoted } from './buffered-connection'
import { sshIdentification } from './ssh/login'

/** SSH, up to the version exchange (RFC 4253 section 4.2). */
export const ssh = bannerCheck({
  name: 'ssh',
  title: 'SSH',
  description:
    'Connects to an SSH server and reads its identification. Fails if the server does not speak SSH 2 or identifies itself differently than expected. Does not log in.',
  targetDescription: 'A host and optional port (default 22), such as `bastion.example.com`.',
  port: 22,
  async greeting(connection) {
    for (let at = 0; at < maxLinesBefore; at++) {
      const line = await connection.readLine('the SSH version')
      if (!line.startsWith('SSH-')) continue
      // Version 1.99 means the server supports both versions (section 5.1).
      if (!/^SSH-(2\.0|1\.99)-/.test(line)) throw new CheckFailed('protocol', `the server does not speak SSH 2: ${quoted(line)}`)
      return { banner: line, code: null }
    }
    throw new CheckFailed('protocol', 'the server does not speak SSH')
  },
  quit(connection) {
    connection.send(`SSH-2.0-${sshIdentification}\r\n`)
    connection.send(disconnect())
  },
})

// A server may send other lines first (section 4.2).
const maxLinesBefore = 50

const SSH_MSG_DISCONNECT = 1
const SSH_DISCONNECT_BY_APPLICATION = 11

/** SSH_MSG_DISCONNECT (section 11.1) in an unencrypted packet (section 6): packet length, padding length, payload, padding. */
function disconnect(): Uint8Array {
  const text = Buffer.from('checked')
  const payload = Buffer.alloc(13 + text.length)
  payload.writeUInt8(SSH_MSG_DISCONNECT, 0)
  payload.writeUInt32BE(SSH_DISCONNECT_BY_APPLICATION, 1)
  payload.writeUInt32BE(text.length, 5)
  text.copy(payload, 9)
  // At least four bytes of padding, and the whole packet a multiple of eight.
  const padding = 4 + ((8 - ((5 + payload.length + 4) % 8)) % 8)
  const packet = Buffer.alloc(5 + payload.length + padding)
  packet.writeUInt32BE(packet.length - 4, 0)
  packet.writeUInt8(padding, 4)
  payload.copy(packet, 5)
  return packet
}
