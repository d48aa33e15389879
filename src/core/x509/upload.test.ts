import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { makeCertificate } from '../../../test/support/make-certificates'
import { encodeDer, maxDerBytes, tags } from './der'
import { splitUpload, UploadError } from './upload'

const made = await makeCertificate({ names: ['a.test'] })
const other = await makeCertificate({ names: ['b.test'] })
const text = (content: string) => new TextEncoder().encode(content)
const blockOf = (der: Uint8Array) =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(der).toString('base64')}\n-----END CERTIFICATE-----\n`
const codeOf = (input: Uint8Array): string => {
  try {
    splitUpload(input)
    return 'accepted'
  } catch (error) {
    if (error instanceof UploadError) return error.code
    throw error
  }
}

test('PEM with any number of certificates, or one as DER', () => {
  expect(splitUpload(made.der)).toEqual([made.der])
  const found = splitUpload(text(`Bag Attributes: none\r\n${made.pem.replaceAll('\n', '\r\n')}\n# next\n${other.pem}`))
  expect(found.map(one => Buffer.from(one))).toEqual([made, other].map(one => Buffer.from(one.der)))
})

test('private keys are refused in every form, also behind a valid certificate', () => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const locked = { cipher: 'aes-256-cbc', passphrase: 'x' } as const
  const pems = [
    made.keyPem,
    privateKey.export({ type: 'pkcs1', format: 'pem' }),
    privateKey.export({ type: 'pkcs8', format: 'pem', ...locked }),
    ec.export({ type: 'sec1', format: 'pem' }),
    '-----BEGIN OPENSSH PRIVATE KEY-----\nb3Blbn',
  ] as string[]
  const ders = [
    privateKey.export({ type: 'pkcs1', format: 'der' }),
    privateKey.export({ type: 'pkcs8', format: 'der' }),
    privateKey.export({ type: 'pkcs8', format: 'der', ...locked }),
    ec.export({ type: 'sec1', format: 'der' }),
    // PKCS12 begins with its version.
    encodeDer(tags.sequence, Uint8Array.of(2, 1, 3), encodeDer(tags.sequence)),
  ] as Uint8Array[]
  const uploads = [...pems, ...pems.map(pem => made.pem + pem), ...pems.map(pem => pem.slice(0, 60))].map(text)
  expect([...uploads, ...ders, ...ders.map(der => text(blockOf(der)))].map(codeOf)).toEqual(
    Array.from({ length: 25 }, () => 'private_key'),
  )
})

test.each([
  ['nothing', new Uint8Array()],
  ['text', text('hello')],
  ['cut', text(made.pem.slice(0, -30))],
  ['cut, followed by another', text(made.pem.slice(0, -30) + other.pem)],
  ['another type', text('-----BEGIN PKCS7-----\nAAAA\n-----END PKCS7-----\n')],
  ['a first line without end', text('-----BEGIN CERTIFICATE')],
  ['an empty block', text('-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----')],
  ['no base64', text(made.pem.replace(/\n./, '\n*'))],
  ['base64 of something else', text(blockOf(Buffer.from('hello')))],
  ['cut DER', made.der.subarray(0, -1)],
  ['large DER', text(blockOf(encodeDer(tags.sequence, encodeDer(tags.octetString, new Uint8Array(maxDerBytes)))))],
])('%s is refused', (_, input) => expect(codeOf(input)).toBe('format'))

test('a hundred thousand blocks are refused at once', () => {
  expect(codeOf(text(made.pem.repeat(101)))).toBe('too_many')
  expect(codeOf(text('-----BEGIN CERTIFICATE-----\n'.repeat(100_000)))).toBe('format')
  expect(codeOf(text(blockOf(Uint8Array.of(0x30, 0)).repeat(100_000)))).toBe('too_many')
})
