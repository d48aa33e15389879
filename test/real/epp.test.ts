import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { EppDoor } from '../support/epp-door'
import { RegistryDouble } from '../support/registry-double'

// The EPP door of the simulated registry, opened by Net::EPP of Debian.

const folder = mkdtempSync(join(tmpdir(), 'bailiwick-epp-'))
let registry: RegistryDouble
let door: EppDoor
beforeAll(async () => {
  registry = await RegistryDouble.start()
  door = await EppDoor.start(registry, () => Date.parse('2026-11-21T10:00:00Z'))
  writeFileSync(join(folder, 'ca.pem'), door.certificate.pem)
})
afterAll(() => {
  door.stop()
  registry.stop()
  rmSync(folder, { recursive: true, force: true })
})

test('Net::EPP registers a domain, renews it, moves it to another registrar, and deletes it', async () => {
  const run = Bun.spawn(['perl', 'test/real/epp-clients/net_epp.pl', String(door.port), join(folder, 'ca.pem')], {
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 60_000,
  })
  const [output, errors, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  const steps = output
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect({ errors, code }).toEqual({ errors: '', code: 0 })
  expect(steps).toEqual([
    ['login registrar-1', 2200, null],
    ['login registrar-1', 1000, 1],
    // One session at a time.
    ['login registrar-1', 2502, null],
    ['greeting', 2502, 'Example Registry'],
    ['check', 1000, '1'],
    ['create contact', 1000, 1],
    ['contact', 1000, 'Example & Sons'],
    ['create host', 1000, 1],
    ['host', 1000, '192.0.2.1'],
    ['create', 1000, 1],
    ['create again', 2302, null],
    ['check taken', 1000, '0'],
    [
      'info',
      1000,
      {
        name: 'netepp.com',
        registrant: 'sh8013',
        ns: ['ns1.example.net'],
        clID: 'registrar-1',
        status: ['ok'],
        authInfo: 'domain-code',
        exDate: '2028-11-21T10:00:00.000Z',
      },
    ],
    ['renew', 1000, 1],
    // The date that it is renewed from no longer fits.
    ['renew again', 2306, null],
    ['renewed', 1000, '2029-11-21T10:00:00.000Z'],
    ['lock', 1000, 1],
    ['login registrar-2', 1000, 1],
    ['not theirs', 2201, null],
    ['transfer locked', 2304, null],
    ['unlock', 1000, 1],
    ['transfer, wrong code', 2202, null],
    ['transfer', 1001, { trStatus: 'pending', reID: 'registrar-2', acID: 'registrar-1' }],
    ['approve', 1000, 1],
    ['theirs', 1000, 'registrar-2'],
    ['delete', 1000, 1],
    ['gone', 2303, null],
    ['ping', 0, 1],
    ['logout', 0, 1],
  ])
  expect(registry.names.size).toBe(0)
})
