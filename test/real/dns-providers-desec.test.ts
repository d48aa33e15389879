import { afterAll, beforeAll, expect, test } from 'bun:test'
import { desec } from '../../src/features/dns/providers/desec'
import { DesecDouble } from '../support/desec'
import { pluginContext } from '../support/plugin-context'
import { samples } from '../support/provider-contract'
import { runDnsClient } from '../support/python-packages'

// The double of deSEC is driven by a client that others wrote, and compared with the library that deSEC itself uses.

const double = new DesecDouble()
beforeAll(() => double.start())
afterAll(() => double.stop())

test('the double of deSEC works with octoDNS', async () => {
  const zone = 'octo.example'
  double.domain(zone, 60)
  const provider = { class: 'octodns_desec.DesecProvider', token: double.token, retries: 0, zone: `${zone}.` }
  const types = 'A,AAAA,CAA,CNAME,NS,DS,HTTPS,MX,PTR,SSHFP,SRV,TLSA,TXT,OPENPGPKEY'
  const sync = async (step: string) =>
    Number(
      await runDnsClient(['python', 'octodns_desec_sync.py', JSON.stringify(provider), types, step], { ENDPOINT: double.url }),
    )
  expect([await sync('first'), await sync('first'), await sync('changed'), await sync('changed')]).toEqual([40, 0, 20, 0])
  // Each sync with changes is one request.
  expect(double.requests.filter(one => one.method === 'PATCH')).toHaveLength(2)
  const adapter = desec.open({ api_token: double.token, base_url: double.url }, pluginContext())
  const { rrsets, foreign } = await adapter.read({ name: zone, ref: null })
  expect([rrsets.length, foreign]).toEqual([31, []])
}, 180_000)

test('the double of deSEC returns values in the format of dnspython', async () => {
  const domain = double.domain('types.example')
  const special: [string, string][] = [
    ['TXT', '"\\209\\130 \\"quoted\\" \\\\ ; @ \\000"'],
    ['AAAA', '::ffff:192.0.2.1'],
    ['MX', '10 Mail.Example.NET.'],
  ]
  const values = [...special]
  for (const [type, , before, after] of samples)
    if (type !== 'ALIAS' && type !== 'TYPE65280')
      values.push(...[...before, ...after].map((text): [string, string] => [type, text]))
  const stored = values.map(
    ([type, text], place) => domain.patch([{ subname: `v${place}`, type, ttl: 3600, records: [text] }])[0]!.records[0]!,
  )
  const output = await runDnsClient(['python', 'dnspython_text.py', JSON.stringify(values)], {})
  expect(stored).toEqual(JSON.parse(output))
})
