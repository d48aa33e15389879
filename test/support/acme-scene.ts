import { AcmeDouble } from './acme-double'
import { closeLater, type ApiResponse, type World } from './world'

/** Settings of worlds in which no zone has a public delegation: nothing responds at this address. */
export const noResolvers = { BAILIWICK_DNS_RESOLVERS: '127.0.0.1:9' }

/** A certificate authority that looks for records in the zones of a hub, an account there, and a zone. */
export async function acmeScene(here: World, zones: readonly string[] = ['example.com']) {
  const ca = new AcmeDouble()
  closeLater(async () => ca.stop())
  ca.now = () => here.clock.now()
  ca.lookUp = name => txtOf(here, name)
  const { call } = here.acme
  const directory = { directory_url: ca.directoryUrl, ca_pem: ca.ca, terms_agreed: true }
  const account = (await call('POST', '/v1/acme-accounts', { name: 'CA', ...directory })).body
  const zoneIds: Record<string, string> = {}
  for (const name of zones) zoneIds[name] = (await call('POST', '/v1/dns/zones', { name })).body.id
  await here.settle()
  await here.audited()
  await here.emitted()
  const create = (names: string[], more: object = {}) =>
    call('POST', '/v1/managed-certificates', { names, acme_account_id: account.id, ...more })
  const get = async (id: string) => (await call('GET', `/v1/managed-certificates/${id}`)).body
  /** Runs jobs until the action of a managed certificate has finished. */
  const finish = async (id: string) => {
    for (let step = 0; step < 200; step++) {
      const { action_id } = await get(id)
      const action = (await call('GET', `/v1/actions/${action_id}`)).body
      if (['success', 'error'].includes(action.status)) return action
      await here.advance(5_000)
    }
    throw new Error('The action did not finish.')
  }
  const issue = async (names: string[], more: object = {}) => {
    const created = await create(names, more)
    if (created.status !== 201) throw new Error(created.text)
    await finish(created.body.id)
    return await get(created.body.id)
  }
  const download = (id: string) => call('POST', `/v1/managed-certificates/${id}/download`)
  /** Replaces the records of a name and type in a zone. */
  const setRecords = (zone: string, name: string, type: string, contents: readonly string[]): Promise<ApiResponse> =>
    call('PUT', `/v1/dns/zones/${zoneIds[zone]}/rrsets`, {
      rrsets: [{ name, type, records: contents.map(content => ({ content })) }],
    })
  return { ca, account, zoneIds, create, get, finish, issue, download, setRecords }
}

/** The TXT values of a name in the zones of acme, following CNAME records. */
export async function txtOf({ acme }: Pick<World, 'acme'>, name: string): Promise<string[]> {
  const zones = (await acme.call('GET', '/v1/dns/zones')).body.data as any[]
  const zone = zones.filter(one => `.${name}`.endsWith(`.${one.name}`)).toSorted((a, b) => b.name.length - a.name.length)[0]
  if (!zone) return []
  const relative = name === zone.name ? '@' : name.slice(0, -zone.name.length - 1)
  const records = (await acme.call('GET', `/v1/dns/zones/${zone.id}/records?name=${relative}`)).body.data as any[]
  const alias = records.find(one => one.type === 'CNAME')
  if (alias) return await txtOf({ acme }, alias.content.replace(/\.$/, ''))
  return records.filter(one => one.type === 'TXT').map(one => JSON.parse(one.content))
}
