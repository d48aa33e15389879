import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call, fullToken, installation, startHub, type HubProcess, type Installation } from '../support/binary'
import { compiled } from '../support/compiled-zone'
import type { OtherServer } from '../support/name-servers'
import { startUpdatableBind, startUpdatableKnot } from '../support/update-servers'

const key = { name: 'bailiwick', algorithm: 'hmac-sha384', secret: Buffer.alloc(48, 5).toString('base64') }
const file = `$TTL 3600
@ SOA ns1 dns\\.admin 2026112101 7200 900 1209600 600
@ NS ns1
@ MX 10 mail
@ TXT "v=spf1 mx -all"
ns1 A 192.0.2.53
mail AAAA 2001:db8::25
www 300 CNAME @
*.dev A 192.0.2.80
t TXT "${'x'.repeat(200)}" "a;b\\"c\\\\d"
_https._tcp SVCB 1 www alpn=h2 port=8443
odd TYPE65280 \\# 2 abcd
sub NS ns.sub
ns.sub A 192.0.2.54
${Array.from({ length: 3000 }, (_, n) => `host-${n} A 10.0.${n >> 8}.${n & 255}`).join('\n')}
`

let here: Installation
let hub: HubProcess
let token: string
beforeAll(async () => {
  here = await installation()
  hub = await startHub(here)
  token = await fullToken(here)
}, 180_000)
afterAll(async () => {
  await hub?.[Symbol.asyncDispose]()
  await here?.[Symbol.asyncDispose]()
})

const post = (path: string, body: object) => call(hub, token, 'POST', path, body)

describe.each([
  ['BIND', startUpdatableBind],
  ['Knot', startUpdatableKnot],
] as const)('a zone of %s', (which, start) => {
  const name = `${which.toLowerCase()}.test`
  const signedName = `signed-${name}`
  let server: OtherServer
  let signed: OtherServer
  beforeAll(async () => {
    server = await start([name], file, { key })
    signed = await start([signedName], file, { key, signed: true })
  }, 180_000)
  afterAll(async () => {
    await server?.stop()
    await signed?.stop()
  })

  test('is transferred, and exported unchanged', async () => {
    const created = await post('/v1/dns/zones', { name })
    const from = { server: { host: '127.0.0.1', port: server.port }, key }
    const answer = await post(`/v1/dns/zones/${created.body.id}/import-from`, from)
    expect(answer.body).toMatchObject({ serial: 2026112101, mode: 'replace', skipped: 0 })
    const exported = await call(hub, token, 'GET', `/v1/dns/zones/${created.body.id}/export`)
    expect(compiled(exported.body, `${name}.`)).toEqual(compiled(file, `${name}.`))

    const other = { ...from, key: { ...key, secret: Buffer.alloc(48).toString('base64') } }
    expect((await post(`/v1/dns/zones/${created.body.id}/import-from`, other)).body).toMatchObject({ failure: 'unauthorized' })
    const { key: _, ...unsigned } = from
    expect((await post(`/v1/dns/zones/${created.body.id}/import-from`, unsigned)).body).toMatchObject({ failure: 'refused' })
  }, 180_000)

  test('that is signed is imported without its signing records, by transfer or from a provider', async () => {
    const settings = {
      host: '127.0.0.1',
      port: signed.port,
      key_name: key.name,
      algorithm: key.algorithm,
      key_secret: key.secret,
    }
    const provider = await post('/v1/dns/providers', { kind: 'rfc2136', name: signedName, settings })
    const created = await post('/v1/dns/zones', { name: signedName })
    const sources = [{ server: { host: settings.host, port: settings.port }, key }, { provider_id: provider.body.id }]
    for (const source of sources) {
      const answer = await post(`/v1/dns/zones/${created.body.id}/import-from`, { ...source, mode: 'replace' })
      expect(answer.status).toBe(200)
      if ('server' in source) expect(answer.body.skipped).toBeGreaterThan(10)
      const exported = await call(hub, token, 'GET', `/v1/dns/zones/${created.body.id}/export`)
      const bare = (lines: string[]) => lines.filter(line => !/\sSOA\s/.test(line))
      expect(bare(compiled(exported.body, `${signedName}.`))).toEqual(bare(compiled(file, `${signedName}.`)))
    }
  }, 180_000)
})
