import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { ipv4Octets } from '../dns/address-octets'

/** A certificate and its private key, both PEM. */
export interface IssuedCertificate {
  key: string
  cert: string
}

/** A private certificate authority for servers on this machine. */
export interface Authority {
  /** CA certificate to trust, PEM. */
  cert: string
  /** Issues a certificate for names and IPv4 addresses. `from` and `until` are ms UTC. */
  issue(names: readonly [string, ...string[]], from: number, until: number): IssuedCertificate
}

/** Creates an authority with a P-256 key, valid from a year before until ten years after `now` (ms UTC). */
export function createAuthority(name: string, now: number): Authority {
  const own = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const cert = certificate({
    subject: name,
    issuer: name,
    publicKey: own.publicKey,
    signingKey: own.privateKey,
    from: now - 365 * dayMs,
    until: now + 3650 * dayMs,
    // Basic constraints and key usage of a CA that only signs certificates.
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
        cert: certificate({ subject: names[0], issuer: name, publicKey, signingKey: own.privateKey, from, until, extensions }),
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
  signingKey: KeyObject
  from: number
  until: number
  extensions: Buffer[]
}

/** An X.509 v3 certificate (RFC 5280 section 4.1). */
function certificate({ subject, issuer, publicKey, signingKey, from, until, extensions }: Contents): string {
  const ecdsaWithSha256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'))
  const toSign = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    // The leading octet keeps the serial number positive.
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    commonName(issuer),
    sequence(time(from), time(until)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  )
  const signed = sequence(toSign, ecdsaWithSha256, bitString(sign('sha256', toSign, signingKey), 0))
  const lines = signed.toString('base64').match(/.{1,64}/g)!
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n')
}

const commonName = (name: string): Buffer =>
  sequence(der(0x31, sequence(Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from(name)))))

/** @param id octets of the object identifier in hex */
const extension = (id: string, value: Buffer, isCritical = false): Buffer =>
  sequence(der(0x06, Buffer.from(id, 'hex')), ...(isCritical ? [der(0x01, Buffer.from([0xff]))] : []), der(0x04, value))

/** RFC 5280 section 4.2.1.6: a DNS name or an address. */
const generalName = (name: string): Buffer =>
  /^[\d.]+$/.test(name) ? der(0x87, Buffer.from(ipv4Octets(name))) : der(0x82, Buffer.from(name))

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts))
const integer = (octets: Buffer): Buffer => der(0x02, octets)
const bitString = (octets: Buffer, unused: number): Buffer => der(0x03, Buffer.concat([Buffer.from([unused]), octets]))

/** A DER-encoded value (ITU-T X.690 section 8.1). */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const lengths = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...lengths]), content])
}

/** UTCTime: YYMMDDHHMMSSZ. */
const time = (ms: number): Buffer => der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
