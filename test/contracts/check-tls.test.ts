import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { createServer, type Server } from 'node:tls'
import { X509Certificate } from 'node:crypto'
import { InvalidCheckInput } from '../../src/checks/check'
import { tls } from '../../src/checks/tls'
import { checkContext } from '../support/check-context'
import { certificateChain } from '../support/certificate-chain'

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
const ca = fixture('ca.pem')
const servers: Server[] = []
const ports: Record<string, number> = {}

beforeAll(async () => {
  for (const name of ['two-names', 'expired', 'self-signed']) {
    const server = createServer({ key: fixture(`${name}.key`), cert: fixture(`${name}.pem`) }, socket => {
      socket.on('error', () => {})
      socket.end()
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    servers.push(server)
    ports[name] = (server.address() as AddressInfo).port
  }
})
afterAll(() => {
  for (const server of servers) server.close()
})

const run = (name: string, options: object = {}, input: Parameters<typeof checkContext>[0] = {}, host = 'a.test') =>
  tls.run(tls.target(`${host}:${ports[name]}`), { ca, ...options }, checkContext(input))
const end = Date.UTC(2124, 0, 1)
const day = 86_400_000

describe('a certificate', () => {
  test('that is trusted, matches the name and is valid passes', async () => {
    const facts = await run('two-names')
    expect(facts).toMatchObject({ error: null, connected: true, tls: { certificate: { not_after: end, chain_not_after: end } } })
    expect(facts.request).toBe(`TLS a.test:${ports['two-names']}`)
  })

  test.each<[string, string, object, number | undefined, string | RegExp]>([
    ['not trusted', 'two-names', { ca: undefined }, undefined, /signed by unknown authority/],
    ['self-signed', 'self-signed', { ca: undefined }, undefined, 'certificate is self-signed'],
    [
      'for another name',
      'two-names',
      { server_name: 'c.test' },
      undefined,
      'certificate is valid for a.test, b.test, not c.test',
    ],
    ['expired', 'expired', {}, Date.UTC(2021, 0, 4), 'certificate expired 3 days ago'],
    ['expired, even unverified', 'expired', { verify_tls: false }, Date.UTC(2021, 0, 4), 'certificate expired 3 days ago'],
    ['not valid yet', 'two-names', { verify_tls: false }, Date.UTC(2024, 11, 31), 'certificate is not valid for another 1 day'],
    ['about to expire', 'two-names', { server_name: 'c.test' }, undefined, 'certificate is valid for a.test, b.test, not c.test'],
    [
      'missing an expected name',
      'two-names',
      { expected_names: ['A.test', 'd.test'] },
      undefined,
      'certificate is not valid for d.test',
    ],
    ['from another issuer', 'two-names', { expected_issuer: '*Other*' }, undefined, 'certificate issuer is CN=Fixture CA'],
    [
      'unexpected',
      'two-names',
      { expected_sha256: ['0'.repeat(64)] },
      undefined,
      /^certificate has an unexpected SHA-256 fingerprint: [0-9a-f]{64}$/,
    ],
  ])('that is %s fails', async (_, name, options, now, message) => {
    const { error } = await run(name, options, now === undefined ? {} : { now })
    expect(error).toEqual({
      kind: 'certificate',
      message: typeof message === 'string' ? message : expect.stringMatching(message),
    })
  })

  test('meets all expectations', async () => {
    const print = new X509Certificate(fixture('two-names.pem')).fingerprint256
    const options = { expected_names: ['b.test'], expected_issuer: 'cn=fixture*', expected_sha256: [print], min_valid_days: 3650 }
    expect((await run('two-names', options)).error).toBeNull()
    expect((await run('self-signed', { verify_tls: false, server_name: 'c.test' })).error).toBeNull()
    const byName = await run('two-names', { server_name: 'B.test' }, {}, '127.0.0.1')
    expect(byName).toMatchObject({ error: null, request: `TLS 127.0.0.1:${ports['two-names']} as b.test` })
  })
})

test('a certificate with only a common name matches no name', async () => {
  const { chain, root, key } = await certificateChain('a.test', { intermediate: 40, leaf: 90, unnamed: true })
  const server = createServer({ key, cert: chain }, socket => socket.on('error', () => {}))
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  ports.unnamed = (server.address() as AddressInfo).port
  const { error } = await run('unnamed', { ca: root })
  expect(error).toEqual({
    kind: 'certificate',
    message: 'certificate has no subject alternative names, so it is not valid for a.test',
  })
  expect((await run('unnamed', { ca: root, verify_tls: false })).error).toBeNull()
})

test('an expired certificate does not count if the chain is trusted without it', async () => {
  const { chain, cross, root, key } = await certificateChain('a.test', { intermediate: 40, leaf: 90 })
  const server = createServer({ key, cert: chain + cross }, socket => {
    socket.on('error', () => {})
    socket.end()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  ports.crossed = (server.address() as AddressInfo).port
  const facts = await run('crossed', { ca: root, min_valid_days: 30 })
  expect(facts.error).toBeNull()
  const { not_after, chain_not_after } = facts.tls!.certificate!
  expect(Math.round((not_after - chain_not_after) / day)).toBe(50)
  expect((await run('crossed', { ca: root, min_valid_days: 41 })).error!.message).toMatch(
    /^a certificate in the chain expires in/,
  )
  expect((await run('crossed', { verify_tls: false })).error!.message).toBe('a certificate in the chain expired 1 day ago')
})

test('the default port is 443, and invalid targets are rejected', () => {
  expect(tls.target('Mail.Example.com')).toBe('mail.example.com:443')
  expect(() => tls.target('https://a.test')).toThrow(InvalidCheckInput)
  expect(() => tls.validate!({ server_name: 'a b' }, '')).toThrow(InvalidCheckInput)
  expect(() => tls.validate!({ ca: 'none' }, '')).toThrow('must contain only PEM certificates')
})
