import { resolve } from 'node:path'
import type { TsigKey } from '../../src/dns/tsig'
import { nameServerSynced, startNameServer } from '../../src/features/dns/publish/name-server'
import type { ProviderRrset } from '../../src/features/dns/providers/provider'
import { readTransfer } from '../../src/features/dns/providers/zone-transfer'
import { originOf } from '../../src/features/dns/zones/names'
import { builtinProvider } from './builtin-provider'
import type { HubUnderTest } from './hub-zone'
import { cutBefore } from './power-dns-double'
import { rrset, type ProviderUnderTest } from './provider-contract'
import { pluginContext } from './plugin-context'
import { world } from './world'

const builtin = '/v1/dns/providers/builtin'

/** Makes an external change once before the next write, when the provider has already read. */
type Interrupt = (changeExternally: () => Promise<void>) => unknown

/** A hub with its API, and its name server, whose zone transfers show the result. */
export async function builtinUnderTest(): Promise<ProviderUnderTest & HubUnderTest & { interrupt: Interrupt }> {
  const here = await world({ BAILIWICK_DNS_LISTEN: '127.0.0.1:0' })
  const { hub, app, acme, limit } = here
  const nameServer = (await startNameServer(hub, resolve('src/bin/name-server.ts')))!
  const created = (await acme.call('POST', `${builtin}/tsig-keys`, { name: 'looks.example' })).body
  const key: TsigKey = {
    name: `${created.name}.`,
    algorithm: created.algorithm,
    secret: Uint8Array.from(Buffer.from(created.secret, 'base64')),
  }
  let trouble: 'half of the answer' | 'no answer' | null = null
  let changeExternally: (() => Promise<void>) | null = null
  const front = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      if (request.method !== 'GET' && changeExternally) {
        await changeExternally()
        changeExternally = null
      }
      const answer = await app.handle(request)
      if (trouble === 'no answer' && request.method !== 'GET') return cutBefore()
      if (trouble !== 'half of the answer') return answer
      const text = await answer.text()
      return new Response(text.slice(0, text.length / 2), {
        status: answer.status,
        headers: { 'content-type': 'application/json' },
      })
    },
  })
  const url = `http://127.0.0.1:${front.port}`
  const opened = (access: object = {}) => builtinProvider({ url, token: acme.token, ...access }, pluginContext())
  const provider = opened()
  return {
    kind: 'builtin',
    settings: {},
    caps: provider.caps,
    world: here,
    provider,
    interrupt: act => (changeExternally = act),
    ...byApi(acme.call),
    async look(name) {
      await nameServerSynced(hub)
      const at = { address: nameServer.host, port: nameServer.port }
      const limits = { records: 100_000, octets: 2 ** 24, timeoutMs: 10_000 }
      const { rrsets } = await readTransfer({ at, key, now: () => Date.now() }, name, limits)
      return [...rrsets, ...(await aliasesOf(acme.call, name))]
    },
    unauthorized: opened({ token: `${acme.token}x` }),
    unreachable: opened({ url: 'http://127.0.0.1:9' }),
    trouble: {
      throttle: () => limit(acme.workspaceId, { requests_per_minute_per_token: 0 }),
      shorten: () => (trouble = 'half of the answer'),
      fallSilent: () => (trouble = 'no answer'),
      async calm() {
        trouble = null
        await limit(acme.workspaceId, {})
      },
    },
    async stop() {
      await front.stop(true)
      await nameServer.stop()
    },
  }
}

/** Calls the API and returns the JSON of the response. */
type Call = (method: string, path: string, body?: unknown) => Promise<{ status: number; body: any }>

let zones = 0

/** Creates zones, and changes them as another client. */
export const byApi = (call: Call): Pick<ProviderUnderTest, 'makeZone' | 'changeExternally'> => ({
  async makeZone() {
    const name = `z${++zones}.example`
    const { status, body } = await call('POST', '/v1/dns/zones', { name, nameservers: ['ns1.example.net'] })
    if (status !== 201) throw new Error(JSON.stringify(body))
    return name
  },
  async changeExternally(name, below, type, ttl, values) {
    const at = { name: below === '@' ? below : `${below}.${originOf(name)}`, type, ttl }
    const rrsets = [{ ...at, records: (values ?? []).map(content => ({ content })) }]
    const { status, body } = await call('PUT', `/v1/dns/zones/${(await zoneNamed(call, name)).id}/rrsets`, { rrsets })
    if (status !== 200) throw new Error(JSON.stringify(body))
  },
})

export const zoneNamed = async (call: Call, name: string): Promise<any> =>
  (await call('GET', `/v1/dns/zones?name=${encodeURIComponent(name)}`)).body.data[0]

/** Name servers never return an ALIAS, but the addresses of its target. */
export async function aliasesOf(call: Call, name: string): Promise<ProviderRrset[]> {
  const { rrsets } = (await call('GET', `/v1/dns/zones/${(await zoneNamed(call, name)).id}/export?format=json`)).body
  return rrsets
    .filter((one: any) => one.type === 'ALIAS')
    .map(({ name: below, type, ttl, records }: any) =>
      rrset(
        below,
        type,
        ttl,
        records.map((one: any) => one.content),
      ),
    )
}
