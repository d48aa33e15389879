import { generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'
import { pemBlock } from '../core/net/pem'
import { bitString, encoded, extension, oid, sequence, set } from '../core/x509/der-writer'
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
      extension('2.5.29.19', sequence(encoded(0x01, Buffer.from([0xff]))), true),
      extension('2.5.29.15', bitString(Buffer.from([0x04]), 2), true),
    ],
  })
  return {
    cert,
    issue(names, from, until) {
      const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
      const extensions = [extension('2.5.29.17', sequence(...names.map(generalName)))]
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
  const ecdsaWithSha256 = sequence(oid('1.2.840.10045.4.3.2'))
  const toSign = sequence(
    encoded(0xa0, integer(Buffer.from([2]))),
    // The leading octet keeps the serial number positive.
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    ecdsaWithSha256,
    commonName(issuer),
    sequence(time(from), time(until)),
    commonName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    encoded(0xa3, sequence(...extensions)),
  )
  return pemBlock('CERTIFICATE', sequence(toSign, ecdsaWithSha256, bitString(sign('sha256', toSign, signingKey))))
}

const commonName = (name: string): Buffer => sequence(set(sequence(oid('2.5.4.3'), encoded(0x0c, Buffer.from(name)))))

/** RFC 5280 section 4.2.1.6: a DNS name or an address. */
const generalName = (name: string): Buffer =>
  /^[\d.]+$/.test(name) ? encoded(0x87, Buffer.from(ipv4Octets(name))) : encoded(0x82, Buffer.from(name))

const integer = (octets: Buffer): Buffer => encoded(0x02, octets)

/** UTCTime: YYMMDDHHMMSSZ. */
const time = (ms: number): Buffer =>
  encoded(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
