import { generateKeyPairSync, sign } from 'node:crypto'

/** A P-256 key and a certificate of it that it signed itself, for `localhost`; both PEM. Good for a day around `now` (ms UTC). */
export function selfSigned(now: number): { key: string; cert: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const ecdsaWithSha256 = sequence(Buffer.from('06082a8648ce3d040302', 'hex'))
  const name = sequence(der(0x31, sequence(Buffer.from('0603550403', 'hex'), der(0x0c, Buffer.from('localhost')))))
  // RFC 5280 section 4.1: version 1, serial, algorithm, issuer, validity, subject, key.
  const toSign = sequence(
    der(0x02, Buffer.from([1])),
    ecdsaWithSha256,
    name,
    sequence(time(now - dayMs), time(now + dayMs)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  )
  const signature = der(0x03, Buffer.concat([Buffer.from([0]), sign('sha256', toSign, privateKey)]))
  const cert = sequence(toSign, ecdsaWithSha256, signature)
    .toString('base64')
    .match(/.{1,64}/g)!
  return {
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    cert: ['-----BEGIN CERTIFICATE-----', ...cert, '-----END CERTIFICATE-----', ''].join('\n'),
  }
}

const dayMs = 86_400_000

const sequence = (...parts: Buffer[]): Buffer => der(0x30, Buffer.concat(parts))

/** A value under its tag (ITU-T X.690 section 8.1). */
function der(tag: number, content: Buffer): Buffer {
  const { length } = content
  const lengths = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...lengths]), content])
}

/** UTCTime: YYMMDDHHMMSSZ. */
const time = (ms: number): Buffer => der(0x17, Buffer.from(`${new Date(ms).toISOString().replace(/[-:T]/g, '').slice(2, 14)}Z`))
