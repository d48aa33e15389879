import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hetzner } from '../../src/features/dns/providers/hetzner'
import { HetznerDouble } from '../support/hetzner'
import { pluginContext } from '../support/plugin-context'
import { runDnsClient } from '../support/python-packages'

// The double of Hetzner is driven by clients of others.

describe('the double of Hetzner', () => {
  const double = new HetznerDouble()
  beforeAll(async () => {
    await double.start()
    for (const name of ['hcloud.example', 'octo.example']) double.zone(name)
    double.zone('secondary.example', 'secondary')
  })
  afterAll(() => double.stop())

  /** Number of record sets that the adapter reads, other than the name servers at the apex. */
  const read = async (name: string) => {
    const provider = hetzner.open({ api_token: double.token, base_url: double.url }, pluginContext())
    return (await provider.read((await provider.findZone(name))!)).rrsets.filter(one => one.name !== '@').length
  }

  test('works with hcloud', async () => {
    const zones = ['hcloud.example', 'secondary.example', 'created.example']
    const output = await runDnsClient(['python', 'hetzner_hcloud.py', double.url, double.token, ...zones], {})
    const { counts, delegation, failures } = JSON.parse(output)
    expect(counts).toEqual([40, 0, 20, 0])
    expect(delegation).toEqual(['helium.ns.hetzner.de.', 'hydrogen.ns.hetzner.com.', 'oxygen.ns.hetzner.com.'])
    expect(failures).toEqual([
      ...['unauthorized', 'not_found', 'uniqueness_error', 'invalid_input', 'incorrect_zone_mode', 'not_found'],
      ...['uniqueness_error', 'invalid_input', 'invalid_input', 'invalid_input', 'invalid_input', 'protected', 'protected'],
    ])
    expect(await read('hcloud.example')).toBe(31)
  }, 180_000)

  test('works with octoDNS', async () => {
    const zone = 'octo.example.'
    const provider = { class: 'octodns_hetzner.HetznerProvider', token: double.token, backend: 'hcloud', zone }
    const types = 'A,AAAA,CAA,CNAME,NS,DS,MX,PTR,SRV,TLSA,TXT'
    const sync = async (step: string) => {
      const args = [JSON.stringify(provider), types, step]
      return Number(await runDnsClient(['python', 'octodns_hetzner_sync.py', ...args], { ENDPOINT: double.url }))
    }
    expect([await sync('first'), await sync('first'), await sync('changed'), await sync('changed')]).toEqual([40, 0, 20, 0])
    expect(await read('octo.example')).toBe(30)
  }, 180_000)
})
