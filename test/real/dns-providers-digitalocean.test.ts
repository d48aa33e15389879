import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { digitalOcean } from '../../src/features/dns/providers/digitalocean'
import { DigitalOceanDouble } from '../support/digitalocean'
import { pluginContext } from '../support/plugin-context'
import { runDnsClient } from '../support/python-packages'

// The double of DigitalOcean is driven by clients of others.

describe('the double of DigitalOcean', () => {
  const double = new DigitalOceanDouble()
  beforeAll(async () => {
    await double.start()
    for (const name of ['pydo.example', 'octo.example']) double.domain(name)
  })
  afterAll(() => double.stop())

  /** Number of record sets that the adapter reads, other than the name servers at the apex. */
  const read = async (name: string) => {
    const provider = digitalOcean.open({ api_token: double.token, base_url: double.url }, pluginContext())
    return (await provider.read((await provider.findZone(name))!)).rrsets.filter(one => one.name !== '@').length
  }

  test('works with pydo', async () => {
    const args = [double.url, double.token, 'pydo.example', 'created.example']
    const { counts, zone_file, failures } = JSON.parse(await runDnsClient(['python', 'digitalocean_pydo.py', ...args], {}))
    expect(counts).toEqual([40, 0, 20, 0])
    expect(zone_file).toBeNull()
    const missing = ['not_found', 'The resource you were accessing could not be found.']
    expect(failures).toEqual([
      [401, 'Unable to authenticate you'],
      missing,
      [422, 'Name already exists'],
      missing,
      [422, 'Data needs to end with a dot (.)'],
      [422, 'Data needs to end with a dot (.)'],
      [422, 'Data is not a valid hostname'],
      [422, 'IP address did not match IPv4 format (e.g. 127.0.0.1).'],
      [422, 'Ttl must be greater than or equal to 30'],
      [422, 'Type is not included in the list'],
      [422, "Data can't be blank"],
    ])
    expect(await read('pydo.example')).toBe(30)
  }, 180_000)

  test('works with octoDNS', async () => {
    const provider = { class: 'octodns_digitalocean.DigitalOceanProvider', token: double.token, zone: 'octo.example.' }
    const types = 'A,AAAA,CAA,CNAME,MX,NS,SRV,TXT'
    const sync = async (step: string) => {
      const args = [JSON.stringify(provider), types, step]
      return Number(await runDnsClient(['python', 'octodns_digitalocean_sync.py', ...args], { ENDPOINT: double.url }))
    }
    expect([await sync('first'), await sync('first'), await sync('changed'), await sync('changed')]).toEqual([40, 0, 20, 0])
    expect(await read('octo.example')).toBe(30)
  }, 180_000)
})
