import { afterAll, beforeAll, expect, test } from 'bun:test'
import { EgressRefused, type VettedHost } from '../../src/core/net/egress'
import { HostScanner } from '../../src/checks/tls-probe/host-scan'
import { checkContext } from '../support/check-context'
import { alert } from '../support/tls-messages'
import { scriptedTls, type ScriptedTls } from '../support/tls-scan'

let server: ScriptedTls
/** Connections that wait for the answer, and the most there were. */
let [waiting, most] = [0, 0]
beforeAll(async () => {
  server = await scriptedTls(socket => {
    most = Math.max(most, ++waiting)
    socket.once('data', () =>
      setTimeout(() => {
        waiting--
        socket.end(alert(70))
      }, 5),
    )
  })
})
afterAll(() => server.stop())

const vetted = (address: string): VettedHost => ({ address, family: 4, host: 'a.test', port: server.port, listed: false })
const request = { host: 'a.test', port: 443, protocol: 'tls', servername: null } as const
const scanner = new HostScanner()

test('every address of a host is scanned, up to eight', async () => {
  const addresses = Array.from({ length: 10 }, (_, at) => `127.0.0.${at + 1}`)
  const facts = await scanner.scan(request, async () => addresses.map(vetted), checkContext())
  expect(facts.addresses.map(one => one.address)).toEqual(addresses.slice(0, 8))
  // The server listens on the first address only.
  expect(facts.addresses.map(one => one.versions['1.2'].status)).toEqual(['not_offered', ...Array(7).fill('not_tested')])
  expect(facts.addresses[1]!.errors).toMatchObject([{ kind: 'refused' }, { kind: 'refused' }])
  expect([facts.skipped_addresses, facts.error, facts.addresses[0]!.servername]).toEqual([2, null, 'a.test'])
})

test('an address that hosts share is scanned for one at a time', async () => {
  most = 0
  const scans = Array.from({ length: 5 }, () => scanner.scan(request, async () => [vetted('127.0.0.1')], checkContext()))
  for (const { addresses } of await Promise.all(scans)) expect(addresses[0]!.versions['1.2'].status).toBe('not_offered')
  expect(most).toBe(2)
})

test('a name is sent instead of the host, and an address never', async () => {
  const named = { ...request, servername: 'other.test' }
  const [facts] = (await scanner.scan(named, async () => [vetted('127.0.0.1')], checkContext())).addresses
  expect(facts!.servername).toBe('other.test')
  const literal = { ...vetted('127.0.0.1'), host: '127.0.0.1' }
  expect((await scanner.scan(request, async () => [literal], checkContext())).addresses[0]!.servername).toBeNull()
})

test('a host that must not be reached is not scanned', async () => {
  const refuse = async () => {
    throw new EgressRefused('blocked_address', 'The host is forbidden.')
  }
  expect(await scanner.scan(request, refuse, checkContext())).toEqual({
    addresses: [],
    skipped_addresses: 0,
    error: { kind: 'blocked_address', message: 'The host is forbidden.' },
  })
})
