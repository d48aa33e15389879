import { afterAll, beforeAll, expect, test } from 'bun:test'
import { lookup } from 'rdapper'
import { icannForm } from '../../src/features/registry/whois-forms'
import { readWhois } from '../../src/features/registry/whois-response'
import { RegistryDouble } from '../support/registry-double'

// The doors of the simulated registry, opened by clients that aren’t ours.

let double: RegistryDouble
beforeAll(async () => {
  double = await RegistryDouble.start()
  double.bootstrap.services = [[['com'], [`${double.url}/registry/`]]]
  for (const name of ['shop.com', 'shop.io'])
    double.names.set(name, { expires: '2027-05-01T00:00:00Z', statuses: ['client transfer prohibited'] })
})
afterAll(() => double.stop())

const whois = async (...query: string[]): Promise<Uint8Array> => {
  const run = Bun.spawn(['whois', '-h', '127.0.0.1', '-p', String(double.whoisPort), ...query], {
    stdout: 'pipe',
    timeout: 120_000,
  })
  const [bytes, code] = await Promise.all([new Response(run.stdout).bytes(), run.exited])
  expect(code).toBe(0)
  return bytes
}

test('whois of Debian gets the same answers as Bailiwick', async () => {
  expect(readWhois(await whois('shop.io'), icannForm, 'shop.io')).toMatchObject({
    state: 'found',
    facts: {
      expires_at: Date.parse('2027-05-01T00:00:00Z'),
      statuses: ['client transfer prohibited'],
      registrar: { name: 'Example Registrar' },
    },
  })
  expect(readWhois(await whois('free.io'), icannForm, 'free.io').state).toBe('absent')
  expect(new TextDecoder().decode(await whois('free.de'))).toContain('Status: free')
})

test('rdapper finds the server by the bootstrap file, and reads a domain', async () => {
  const options = { rdapOnly: true, rdapFollowLinks: false, customBootstrapUrl: `${double.url}/bootstrap.json` }
  const found = await lookup('shop.com', options)
  expect(found.record).toMatchObject({
    isRegistered: true,
    expirationDate: '2027-05-01T00:00:00Z',
    registrar: { name: 'Example Registrar', ianaId: '376' },
    statuses: [{ status: 'client transfer prohibited' }],
    nameservers: [{ host: 'ns1.example.net' }],
  })
  expect((await lookup('free.com', options)).record).toMatchObject({ isRegistered: false })
})
