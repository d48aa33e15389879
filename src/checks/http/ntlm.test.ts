import { expect, test } from 'bun:test'
import { authenticateMessage, challengeOf, negotiateMessage, ntlmv2 } from './ntlm'

// Example values of MS-NLMP section 4.2: user, password, domain; target info with the names Domain and Server.
const credentials = { username: 'User', password: 'Password', domain: 'Domain' }
const targetInfo = Buffer.from('02000c0044006f006d00610069006e0001000c005300650072007600650072000000' + '0000', 'hex')
const challenge = { serverChallenge: Buffer.from('0123456789abcdef', 'hex'), targetInfo }
const clientChallenge = Buffer.alloc(8, 0xaa)

test('the NTLMv2 proof matches the example in MS-NLMP section 4.2.4', () => {
  const proof = ntlmv2(challenge, credentials, Buffer.alloc(8), clientChallenge)
  expect(proof.subarray(0, 16).toString('hex')).toBe('68cd0ab851e51c96aabc927bebef6a1c')
})

test('only a valid challenge is parsed', () => {
  const message = Buffer.concat([
    Buffer.from('NTLMSSP\0', 'latin1'),
    Buffer.from('02000000', 'hex'),
    Buffer.from('0000000038000000', 'hex'),
    Buffer.from('338a02e2', 'hex'),
    challenge.serverChallenge,
    Buffer.alloc(8),
    Buffer.from('2400240038000000', 'hex'),
    Buffer.alloc(8),
    targetInfo,
  ])
  expect(challengeOf(message)).toEqual(challenge)
  expect(challengeOf(message.subarray(0, 60))).toBeNull()
  expect(challengeOf(negotiateMessage())).toBeNull()
  expect(challengeOf(Buffer.alloc(0))).toBeNull()
})

test('the reply holds domain, user and proof at the offsets in its header', () => {
  const message = authenticateMessage(challenge, credentials, { now: 0, clientChallenge })
  const part = (at: number) =>
    message.subarray(message.readUInt32LE(at + 4), message.readUInt32LE(at + 4) + message.readUInt16LE(at))
  expect(message.readUInt32LE(8)).toBe(3)
  expect(part(12).toString('hex')).toBe('86c35097ac9cec102554764a57cccc19aaaaaaaaaaaaaaaa')
  expect(part(28).toString('utf16le')).toBe('Domain')
  expect(part(36).toString('utf16le')).toBe('User')
  // 1601 to 1970 in units of 100 ns.
  expect(part(20).readBigUInt64LE(24)).toBe(116444736000000000n)
})
