import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { ipv4Octets } from '../core/dns/address-octets'

/** A key and a certificate of it, both PEM. */
export interface Issued {
  key: string
  cert: string
}

/** An authority of one's own for servers on this machine. */
export interface Authority {
  /** Its certificate, PEM: what is to be trusted. */
  cert: string
  /** A certificate for these names and IPv4 addresses, good from and until then (ms UTC). */
  issue(names: readonly [string, ...string[]], from: number, until: number): Issued
}

/** Makes an authority with a P-256 key, good for a year before and ten after `now` (ms UTC). */
export function authority(name: string, now: number): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const cert = certificate({
    subject: name,
    issuer: name,
    publicKey: own.publicKey,
    by: own.privateKey,
    from: now - 365 * dayMs,
    until: now + 3650 * dayMs,
    // Of an authority, which signs certificates and nothing else.
    extensions: [
      extension('551d13', sequence(der(0x01, Buffer.from([0xff]))), true),
      extension('551d0f', bitString(Buffer.from([0x04]), 2), true),
    ],
  })
  return {
    cert,
    issue(names, from, until) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const extensions = [extension('551d11', sequence(...names.map(generalName)))]
      return {
        cert: certificate({ subject: names[0], issuer: name, publicKey, by: own.privateKey, from, until, extensions }),
        key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      }
    },
  }
}

const dayMs = 86_400_000

interface Contents {
  subject: string
  issuer: string
  publicKey: KeyObject
  /** The key that signs it. */
  by: KeyObject
  from: number
  until: number
  extensions: Buffer[]
}

/** A certificate of version 3 (RFC 5280 section 4.1). */
function certificate({ subject, issuer, publicKey, by, from, until, extensions }: Contents): string {
  const ecdsaWithSha256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'))
  const toSign = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    // The first octet keeps it positive.
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    commonName(issuer),
    sequence(time(from), time(until)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signed = sequence(toSign, ecdsaWithSha256, bitString(sign('sha256', toSign, by), 0))
  const lines = signed.toString('base64').match(/.{1,64}/g)!
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(name)))))

/** @param id the octets of an object identifier, in hexadecimal */
const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  sequence(der(0x06, Buffer.from(id, 'hex')), ...(isCritical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value))

/** RFC 5280 section 4.2.1.6: a DNS name or an address. */
const generalName = (name: string): Buffer =>
  /^[\d.]+$/.test(name) ? der(0x87, Buffer.from(ipv4Octets(name))) : der(0x82, Buffer.from(name))

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts))
const integer = (octets: Buffer): Buffer => der(0x02, octets)
const bitString = (octets: Buffer, unused: number): Buffer => der(0x03, Buffer.concat([Buffer.from([unused]), octets]))

/** A value under its tag (ITU-T X.690 section 8.1). */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const lengths = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...lengths]), content])
}

/** UTCTime: YYMMDDHHMMSSZ. */
const time = (ms: number): Buffer => der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
