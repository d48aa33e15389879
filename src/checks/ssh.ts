import { bannerCheck } from './banner'
import { CheckFailed } from './connect-failure'
import { quoted } from './talk'
import { version } from '../core/version'

/** Servers of SSH, as far as both say who they are (RFC 4253 section 4.2). */
export const ssh = bannerCheck({
  name: 'ssh',
  title: 'SSH',
  description:
    'Is greeted by a server of SSH, which tells its version. Down when it speaks another version than 2, or is not what is expected. Nobody is logged in.',
  targetForm: 'A host and a port, 22 where there is none: `bastion.example.com`.',
  port: 22,
  async greeting(talk) {
    for (let at = 0; at < mostLinesBefore; at++) {
      const line = await talk.line('no version')
      if (!line.startsWith('SSH-')) continue
      // 1.99 is a server of both versions (section 5.1).
      if (!/^SSH-(2\.0|1\.99)-/.test(line)) throw new CheckFailed('protocol', `the server does not speak SSH 2: ${quoted(line)}`)
      return { banner: line, code: null }
    }
    throw new CheckFailed('protocol', 'the server does not speak SSH')
  },
  bye(talk) {
    talk.send(`SSH-2.0-Bailiwick_${version.replaceAll('-', '_')}\r\n`)
    talk.send(disconnect())
  },
})

// A server may send other lines before (section 4.2).
const mostLinesBefore = 50

const SSH_MSG_DISCONNECT = 1
const SSH_DISCONNECT_BY_APPLICATION = 11

/** A goodbye (section 11.1) in a packet of before the exchange of keys (section 6): length, padding's length, payload, padding. */
function disconnect(): Uint8Array {
  const text = Buffer.from('checked')
  const payload = Buffer.alloc(13 + text.length)
  payload.writeUInt8(SSH_MSG_DISCONNECT, 0)
  payload.writeUInt32BE(SSH_DISCONNECT_BY_APPLICATION, 1)
  payload.writeUInt32BE(text.length, 5)
  text.copy(payload, 9)
  // At least four octets, and the whole a multiple of eight.
  const padding = 4 + ((8 - ((5 + payload.length + 4) % 8)) % 8)
  const packet = Buffer.alloc(5 + payload.length + padding)
  packet.writeUInt32BE(packet.length - 4, 0)
  packet.writeUInt8(padding, 4)
  payload.copy(packet, 5)
  return packet
}
