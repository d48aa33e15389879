import {
  alert,
  certificateMessage,
  curveKey,
  extension,
  helloDone,
  primeKey,
  readHello,
  records,
  serverHello,
  type ReadHello,
} from './tls-messages'
import { scriptedTls, type ScriptedTls } from './tls-scan'

/** What a server offers that no program of today does. */
export interface OldTls {
  /** Suites by version, the preferred first. */
  versions: Partial<Record<0x0300 | 0x0301 | 0x0302 | 0x0303, number[]>>
  /** Whether it also answers SSL 2.0, with two suites. */
  ssl2?: boolean
  compresses?: boolean
  /** Whether it supports secure renegotiation (RFC 5746). */
  renegotiates?: boolean
  /** Size of the prime of DHE, in bytes. */
  primeBytes?: number
  /** Group of ECDHE; x25519 by default. */
  group?: number
}

const dhe = new Set([0x9e, 0x9f, 0x33, 0x39])
const ecdhe = (suite: number) => suite >= 0xc000

/** Starts a server that answers hellos, but finishes no handshake. @param chain DER */
export const oldTlsServer = (chain: Uint8Array[], old: OldTls): Promise<ScriptedTls> =>
  scriptedTls(socket =>
    socket.once('data', (octets: Buffer) => {
      if (octets[0] === 0x80) socket.end(old.ssl2 ? ssl2Hello(chain[0]!) : alert(70))
      else if (octets[0] === 22) socket.end(answer(chain, old, readHello(octets)))
      else socket.end()
    }),
  )

function answer(chain: Uint8Array[], old: OldTls, hello: ReadHello): Buffer {
  const version = Math.max(
    ...Object.keys(old.versions)
      .map(Number)
      .filter(one => one <= hello.version),
  )
  const offered = old.versions[version as keyof OldTls['versions']]
  if (!offered) return alert(70)
  const suite = offered.find(one => hello.suites.includes(one))
  if (suite === undefined) return alert(40)
  const compression = old.compresses && hello.compression.includes(1) ? 1 : 0
  const extensions = old.renegotiates === false ? [] : [extension(0xff01, new Uint8Array(1))]
  return records(
    Buffer.concat([
      serverHello({ version, suite, compression, extensions }),
      certificateMessage(chain),
      ...(dhe.has(suite) ? [primeKey(new Uint8Array(old.primeBytes ?? 256).fill(0xff))] : []),
      ...(ecdhe(suite) ? [curveKey(old.group ?? 0x1d)] : []),
      helloDone,
    ]),
  )
}

/** The answer of SSL 2.0, with 3DES and RC4 of 40 bits. */
export function ssl2Hello(certificate: Uint8Array): Buffer {
  const suites = Buffer.from([7, 0, 0xc0, 2, 0, 0x80])
  const length = Buffer.from([certificate.length >> 8, certificate.length & 0xff])
  const body = Buffer.concat([
    Buffer.from([4, 0, 1, 0, 2]),
    length,
    Buffer.from([0, 6, 0, 16]),
    certificate,
    suites,
    Buffer.alloc(16),
  ])
  return Buffer.concat([Buffer.from([0x80 | (body.length >> 8), body.length & 0xff]), body])
}
