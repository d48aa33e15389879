import { expect, test } from 'bun:test'
import { generateKeyPairSync } from 'node:crypto'
import { isCommandOf, signCommand, type AgentCommand } from './agent-command'
import { isAgentPermission } from './agent-permissions'
import { isPublicKeyText, parseSignature, requestSigner, type SignedRequest } from './request-signature'
import { isSignedBy, parsePublicKey, publicKeyText, signRequest } from './signed'

const { publicKey, privateKey } = generateKeyPairSync('ed25519')
const request: SignedRequest = {
  method: 'POST',
  path: '/v1/ingest/agents/reports',
  time: 1_795_389_806_555,
  count: 7,
  body: Buffer.from('{"v":1}'),
}

test('a signed request is accepted, and none in which anything differs', () => {
  const { signature, ...read } = parseSignature(signRequest(privateKey, request))!
  expect(read).toEqual({ time: request.time, count: request.count })
  expect(isSignedBy(publicKey, request, signature)).toBe(true)
  const changes: Partial<SignedRequest>[] = [
    { method: 'GET' },
    { path: '/v1/ingest/agents/reports?x=1' },
    { time: request.time + 1 },
    { count: 8 },
    { body: Buffer.from('{"v":2}') },
  ]
  for (const change of changes) expect(isSignedBy(publicKey, { ...request, ...change }, signature)).toBe(false)
  expect(isSignedBy(generateKeyPairSync('ed25519').publicKey, request, signature)).toBe(false)
})

test('the Web Cryptography API signs in the same way', async () => {
  const der = new Uint8Array(privateKey.export({ format: 'der', type: 'pkcs8' }))
  const key = await crypto.subtle.importKey('pkcs8', der, 'Ed25519', false, ['sign'])
  // Ed25519 signatures are deterministic (RFC 8032 section 5.1.6).
  expect(await requestSigner(key)(request)).toBe(signRequest(privateKey, request))
})

test.each(['', 'v1', 'v2 t=1,n=1,s=', 'v1 t=-1,n=1,s=AA==', `v1 t=1,n=1,s=${'A'.repeat(87)}=`])('%p is no signature', header => {
  expect(parseSignature(header)).toBeNull()
})

test('keys are read as they were written', () => {
  const text = publicKeyText(privateKey)
  expect(text).toBe(publicKeyText(publicKey))
  expect(publicKeyText(parsePublicKey(text)!)).toBe(text)
  expect(isPublicKeyText(text)).toBe(true)
  for (const bad of ['', text.slice(0, -1), text.replace('ed25519', 'rsa'), `${text}=`]) {
    expect(parsePublicKey(bad)).toBeNull()
    expect(isPublicKeyText(bad)).toBe(false)
  }
})

test('a command is accepted only from the hub, and unchanged', () => {
  const command: AgentCommand = {
    id: 'cmd_1',
    agent_id: 'agent_1',
    name: 'restart_unit',
    params: { unit: 'nginx.service' },
    issued_at: 1,
    expires_at: 2,
    requested_by: { type: 'user', id: 'usr_1', name: 'Alice' },
  }
  const signed = signCommand(privateKey, command)
  expect(JSON.parse(signed.payload)).toEqual(command)
  expect(isCommandOf(publicKey, signed)).toBe(true)
  expect(isCommandOf(publicKey, { ...signed, payload: signed.payload.replace('nginx', 'sshd') })).toBe(false)
  expect(isCommandOf(publicKey, { ...signed, signature: '' })).toBe(false)
  expect(isCommandOf(generateKeyPairSync('ed25519').publicKey, signed)).toBe(false)
})

test.each([
  ['collect', true],
  ['restart:nginx.service', true],
  ['restart:getty@tty1.service', true],
  ['recipe:web', false],
  ['certificates:web', true],
  ['certificates:', false],
  ['certificates:../x', false],
  ['update', true],
  ['restart:', false],
  ['restart:a b', false],
  ['restart:-x', false],
  ['shell', false],
  ['Collect', false],
])('permission %s', (text, expected) => {
  expect(isAgentPermission(text)).toBe(expected)
})
