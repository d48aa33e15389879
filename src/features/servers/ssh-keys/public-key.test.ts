import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ed25519KeyPair } from '../../../../test/support/ssh-server'
import { securityKeys, sshFields, sshKeyOf, sshKeys, weakSshKeys } from '../../../../test/support/ssh-keys'
import { InvalidPublicKey, parsePublicKey } from './public-key'

const refused = (text: string): InvalidPublicKey => {
  try {
    parsePublicKey(text)
  } catch (error) {
    if (error instanceof InvalidPublicKey) return error
    throw error
  }
  throw new Error(`${text} was accepted`)
}
const octetsOf = (text: string) => Buffer.from(text.split(' ')[1]!, 'base64')
const withOctets = (text: string, octets: Uint8Array) => `${text.split(' ')[0]} ${Buffer.from(octets).toString('base64')}`

test('keys of each algorithm are read, with the fingerprints of ssh-keygen', () => {
  for (const { text, fingerprint } of Object.values(sshKeys)) {
    const algorithm = text.split(' ')[0]!
    const comment = text.split(' ')[2] ?? ''
    expect(parsePublicKey(text)).toEqual({ algorithm: algorithm as never, text, comment, fingerprint })
  }
  for (const text of Object.values(securityKeys)) expect(parsePublicKey(text)).toMatchObject({ text, comment: '' })
})

test('the comment is kept, and other formatting is normalized', () => {
  const [algorithm, base64] = sshKeys.ecdsa256.text.split(' ') as [string, string]
  const { fingerprint } = sshKeys.ecdsa256
  const text = `\ufeff ${algorithm}\t ${base64.replace(/=+$/, '')}  Jürgen’s  key # 2\r\n\n`
  const comment = 'Jürgen’s  key # 2'
  expect(parsePublicKey(text)).toEqual({
    algorithm: 'ecdsa-sha2-nistp256',
    text: `${algorithm} ${base64} ${comment}`,
    comment,
    fingerprint,
  })
  expect(parsePublicKey(`${sshKeys.ed25519.text} BEGIN my private key`).comment).toBe('alice@laptop BEGIN my private key')
})

test('private keys are refused as such in every form, also next to a public key', () => {
  const { private: openssh } = ed25519KeyPair()
  const forms = [
    openssh,
    openssh.replaceAll('\n', ' '),
    openssh.split('\n').slice(1, -2).join('\n'),
    `${sshKeys.ed25519.text}\n${openssh}`,
    `${sshKeys.ed25519.text} ${openssh.split('\n')[1]}`,
    '-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\n-----END RSA PRIVATE KEY-----',
    '-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIFHDBOBgkqhkiG',
    '-----BEGIN PRIVATE KEY-----',
    '---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\nP2/56wAAA',
    'PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none',
    'Private-Lines: 1\nAAAAIF0',
  ]
  for (const text of forms) {
    const { code, message } = refused(text)
    expect([text, code]).toEqual([text, 'private_key'])
    expect(message).toBe(
      'is a private key. Send the public key, such as the contents of `id_ed25519.pub`. The private key was not stored.',
    )
  }
})

test('weak keys are refused', () => {
  expect(refused(weakSshKeys.rsa1024)).toMatchObject({
    code: 'weak_key',
    message: 'is an RSA key with 1024 bits. Use at least 2048 bits, or Ed25519.',
  })
  expect(refused(weakSshKeys.dsa)).toMatchObject({ code: 'weak_key', message: expect.stringContaining('is a DSA key') })
  const rsa = (bits: number) => {
    const modulus = Buffer.alloc(Math.ceil((bits + 1) / 8), 0xff)
    modulus[0] = 0xff >> (modulus.length * 8 - bits)
    return sshKeyOf('ssh-rsa', Buffer.of(1, 0, 1), modulus)
  }
  expect(refused(rsa(2047)).message).toContain('2047 bits')
  expect(parsePublicKey(rsa(2048)).algorithm).toBe('ssh-rsa')
  expect(parsePublicKey(rsa(2049)).algorithm).toBe('ssh-rsa')
  expect(refused(rsa(16_385)).message).toContain('at most 16384 bits')
})

test('anything in front of the algorithm, certificates, and other formats are refused with what to do', () => {
  const { text } = sshKeys.ed25519
  for (const prefix of ['command="/bin/sh -c id"', 'from="192.0.2.1",no-pty', 'server.example.com', '@cert-authority *'])
    expect(refused(`${prefix} ${text}`).message).toStartWith('must start with the algorithm.')
  expect(refused(text.replace('ssh-ed25519', 'ssh-ed25519-cert-v01@openssh.com')).message).toContain('is a certificate')
  expect(refused('---- BEGIN SSH2 PUBLIC KEY ----\nComment: "a"\nAAAA\n---- END SSH2 PUBLIC KEY ----').message).toContain(
    'ssh-keygen -i',
  )
  expect(refused('-----BEGIN PUBLIC KEY-----\nMIIB\n-----END PUBLIC KEY-----').message).toContain('ssh-keygen -i')
  expect(refused(`${text}\n${text}`).message).toBe('must be a single key on one line.')
  expect(refused(`${text}\u001b[2J`).message).toBe('must not contain control characters.')
  for (const other of ['', '   ', 'hello', 'ssh-ed25519', text.split(' ')[1]!, 'ssh-xmss@openssh.com AAAA', 'constructor AAAA'])
    expect(refused(other).message).toStartWith('must be a public key in OpenSSH format.')
  expect(refused('ssh-ed25519 AAA*').message).toContain('Base64')
  expect(refused('ssh-ed25519 AAAA-_').message).toContain('Base64')
})

test('damaged keys are refused', () => {
  const isDamaged = (text: string) => refused(text).message.startsWith('is damaged')
  for (const { text } of Object.values(sshKeys)) {
    const octets = octetsOf(text)
    for (const length of [3, 4, 10, octets.length - 1]) expect(isDamaged(withOctets(text, octets.subarray(0, length)))).toBe(true)
    expect(isDamaged(withOctets(text, Buffer.concat([octets, Buffer.of(0)])))).toBe(true)
    expect(isDamaged(withOctets(text, Buffer.concat([octets, sshFields('')])))).toBe(true)
  }
  const point = octetsOf(sshKeys.ecdsa256.text).subarray(-65)
  const moved = Buffer.from(point)
  moved[64]! ^= 1
  const key = Buffer.alloc(32, 7)
  const modulus = octetsOf(sshKeys.rsa2048.text).subarray(-257)
  const wrong = [
    // The algorithm inside is another one.
    withOctets(sshKeys.ed25519.text, octetsOf(sshKeys.rsa2048.text)),
    sshKeyOf('ssh-ed25519', key.subarray(1)),
    // Not on the curve, compressed, or on another curve than the algorithm.
    sshKeyOf('ecdsa-sha2-nistp256', 'nistp256', moved),
    sshKeyOf('ecdsa-sha2-nistp256', 'nistp256', Buffer.concat([Buffer.of(2), point.subarray(1, 33)])),
    sshKeyOf('ecdsa-sha2-nistp384', 'nistp256', point),
    sshKeyOf('ecdsa-sha2-nistp256', 'constructor', point),
    sshKeyOf('ecdsa-sha2-nistp256', '', point),
    sshKeyOf('sk-ssh-ed25519@openssh.com', key),
    sshKeyOf('sk-ssh-ed25519@openssh.com', key, ''),
    sshKeyOf('sk-ecdsa-sha2-nistp256@openssh.com', 'nistp256', moved, 'ssh:'),
    // Exponents that are 1, even, negative, or have redundant zeros; an even modulus.
    ...[Buffer.of(1), Buffer.of(4), Buffer.of(0x81), Buffer.of(0, 3), Buffer.of()].map(one => sshKeyOf('ssh-rsa', one, modulus)),
    sshKeyOf('ssh-rsa', Buffer.of(3), Buffer.concat([modulus.subarray(0, -1), Buffer.of(2)])),
  ]
  for (const text of wrong) expect([text, isDamaged(text)]).toEqual([text, true])
})

test('no text crashes the parser, takes long, or is repeated in an error', () => {
  const parts = fc.constantFrom(
    'ssh-rsa',
    'ssh-ed25519',
    ' ',
    '\n',
    '=',
    'BEGIN ',
    'PRIVATE KEY',
    'secret-part',
    'AAAAC3Nz',
    '-cert-v01@openssh.com',
  )
  fc.assert(
    fc.property(
      fc.oneof(
        fc.array(parts).map(some => some.join('')),
        fc.string(),
      ),
      text => {
        const { message } = refused(text)
        expect(message).not.toContain('secret-part')
      },
    ),
  )
  for (const hostile of [
    'BEGIN '.repeat(2_700),
    '='.repeat(16_000),
    `ssh-rsa ${'='.repeat(16_000)}a`,
    `a${' '.repeat(16_000)}a b`,
  ]) {
    const started = performance.now()
    refused(hostile)
    expect(performance.now() - started).toBeLessThan(1000)
  }
})
