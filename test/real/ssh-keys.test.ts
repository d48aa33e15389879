import { expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { InvalidPublicKey, parsePublicKey } from '../../src/features/servers/ssh-keys/public-key'
import { securityKeys, sshKeys, weakSshKeys } from '../support/ssh-keys'

const sshKeygen = (options: string[], input = ''): string => {
  const run = Bun.spawnSync(['ssh-keygen', ...options], { stdin: Buffer.from(input) })
  if (run.exitCode !== 0) throw new Error(`${options.join(' ')}: ${run.stderr}`)
  return run.stdout.toString()
}
/** What OpenSSH prints: bits, fingerprint, comment, and type. */
const listed = (key: string) => sshKeygen(['-l', '-f', '-'], `${key}\n`).split(' ')

test('public keys have the fingerprints that OpenSSH prints, and private keys as OpenSSH writes them are refused', () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-ssh-keys-'))
  try {
    const kinds = ['ed25519', 'ecdsa 256', 'ecdsa 384', 'ecdsa 521', 'rsa 2048']
    for (const kind of kinds) {
      const [type, bits] = kind.split(' ') as [string, string?]
      for (const format of ['RFC4716', 'PKCS8', 'PEM'].slice(0, type === 'ed25519' ? 1 : 3)) {
        const file = join(folder, `${kind} ${format}`)
        sshKeygen(['-q', '-t', type, ...(bits ? ['-b', bits] : []), '-m', format, '-N', '', '-C', `of ${kind}`, '-f', file])
        const text = readFileSync(`${file}.pub`, 'utf8')
        const key = parsePublicKey(text)
        expect([key.text, key.comment, key.fingerprint]).toEqual([text.trim(), `of ${kind}`, listed(text)[1]!])
        const refused = () => parsePublicKey(readFileSync(file, 'utf8'))
        expect(refused).toThrow(InvalidPublicKey)
        expect(refused).toThrow('is a private key')
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('OpenSSH reads the keys of the other tests as they do', () => {
  for (const { text, fingerprint } of Object.values(sshKeys)) expect(listed(text)[1]).toBe(fingerprint)
  for (const text of Object.values(securityKeys)) expect(listed(text)[1]).toBe(parsePublicKey(text).fingerprint)
  expect(listed(weakSshKeys.rsa1024)[0]).toBe('1024')
})
