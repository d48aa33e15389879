import { describe, expect, test } from 'bun:test'
import { readCatalog } from '../../src/features/servers/accounts/catalog'
import { cloudAccounts, cloudCatalogs } from '../../src/features/servers/accounts/tables'
import { cloudScene } from '../support/clouds/cloud-scene'
import { pointers } from '../support/pointers'
import { world } from '../support/world'

test('kinds describe their settings and what they can do', async () => {
  const { acme } = await world()
  const { data } = (await acme.call('GET', '/v1/cloud-kinds')).body
  const hetzner = data.find((one: any) => one.kind === 'hetzner')
  expect(hetzner).toMatchObject({
    title: 'Hetzner Cloud',
    secrets: ['api_token'],
    capabilities: { sizes: 'catalog', needs_location: true, ssh_keys: 'required', has_prices: true, sync_seconds: 60 },
  })
  expect(hetzner.capabilities.actions).toContain('provision')
  expect(data.map((one: any) => [one.kind, one.capabilities.volumes, one.capabilities.volume_snapshots])).toEqual([
    ['hetzner', true, false],
    ['proxmox', false, false],
    ['incus', true, true],
  ])
  for (const one of data)
    expect(Object.keys(one.settings.properties)).toEqual(expect.arrayContaining([...one.secrets, ...one.destination]))
})

describe('cloud accounts', () => {
  test('are checked and read right after they are created, and never show their secrets', async () => {
    const here = await world()
    const { account, double, refresh } = await cloudScene(here)
    expect(account).toMatchObject({
      kind: 'hetzner',
      state: 'unknown',
      secrets_set: ['api_token'],
      import: { mode: 'all', label_selector: null },
      spend: { monthly_cap: null, confirm_above: '0', currency: null },
      sync: { finished_at: null, failures_in_a_row: 0 },
      counts: { servers: 0, unclaimed: 0 },
    })
    expect(await refresh()).toMatchObject({
      state: 'ok',
      last_error: null,
      sync: { finished_at: '2026-11-21T10:00:00.000Z', next_at: '2026-11-21T10:01:00.000Z' },
      rate: { limit: 3600 },
      committed: { monthly: '0.00', unpriced: 0 },
    })
    const texts = await Promise.all(
      ['/v1/cloud-accounts', `/v1/cloud-accounts/${account.id}`, '/v1/audit-events'].map(
        async path => (await here.acme.call('GET', path)).text,
      ),
    )
    expect(texts.join()).not.toContain(double.token)
    expect((await here.rival.call('GET', '/v1/cloud-accounts')).body.data).toEqual([])
  })

  test('are refused for invalid settings, duplicate names, and selectors that can’t be read', async () => {
    const here = await world()
    const { account } = await cloudScene(here)
    const create = (more: object) =>
      here.acme.call('POST', '/v1/cloud-accounts', {
        kind: 'hetzner',
        name: 'Other',
        settings: { api_token: 'x'.repeat(64) },
        ...more,
      })
    expect(pointers(await create({ settings: {} }))).toEqual([422, ['#/settings/api_token']])
    expect(pointers(await create({ settings: { api_token: 'x'.repeat(64), region: 'eu' } }))).toEqual([
      422,
      ['#/settings/region'],
    ])
    expect(pointers(await create({ kind: 'disconnected-of' }))).toEqual([422, ['#/kind']])
    expect((await create({ name: account.name })).body.code).toBe('already_exists')
    expect(pointers(await create({ import: { mode: 'selector', label_selector: null } }))).toEqual([
      422,
      ['#/import/label_selector'],
    ])
    const unreadable = await create({ import: { mode: 'selector', label_selector: 'role==web' } })
    expect(pointers(unreadable)).toEqual([422, ['#/import/label_selector']])
    expect(pointers(await create({ spend: { monthly_cap: '10', confirm_above: '0', currency: null } }))).toEqual([
      422,
      ['#/spend/currency'],
    ])
    expect(pointers(await create({ spend: { monthly_cap: '10,5', confirm_above: '0', currency: 'EUR' } }))).toEqual([
      422,
      ['#/spend/monthly_cap'],
    ])
    expect((await here.acme.call('GET', '/v1/cloud-accounts')).body.data).toHaveLength(1)
  })

  test('that fail are reported once, with growing pauses, and recover by themselves', async () => {
    const here = await world()
    const { double, account, refresh } = await cloudScene(here)
    await here.audited()
    double.fault = () => ({ status: 401, code: 'unauthorized', message: 'unable to authenticate' })
    for (let minute = 0; minute < 15; minute++) await here.advance(60_000)
    expect(await refresh()).toMatchObject({
      state: 'failing',
      last_error: { code: 'unauthorized' },
      sync: { last_error: { code: 'unauthorized' } },
    })
    const { failures_in_a_row: failures } = (await refresh()).sync
    expect(failures).toBeGreaterThanOrEqual(3)
    expect(failures).toBeLessThan(10)
    expect(await here.audited()).toEqual(['cloud.account.fail'])
    const notices = (await here.acme.call('GET', '/v1/notices')).body.data
    expect(notices.map((one: any) => [one.kind, one.count])).toEqual([['cloud_account.failing', 1]])
    double.fault = () => null
    const checked = await here.acme.call('POST', `/v1/cloud-accounts/${account.id}/check`)
    expect(checked.body.state).toBe('ok')
    await here.settle()
    expect((await refresh()).sync).toMatchObject({ failures_in_a_row: 0, last_error: null })
  })

  test('are tested before they are created, without storing anything', async () => {
    const here = await world()
    const { double } = await cloudScene(here)
    const input = { kind: 'hetzner', settings: { api_token: double.token, base_url: double.url } }
    expect((await here.acme.call('POST', '/v1/cloud-checks', input)).body).toMatchObject({ state: 'ok', error: null })
    const wrong = { ...input, settings: { ...input.settings, api_token: 'w'.repeat(64) } }
    expect((await here.acme.call('POST', '/v1/cloud-checks', wrong)).body).toMatchObject({
      state: 'failing',
      detail: null,
      error: { code: 'unauthorized' },
    })
    expect((await here.acme.call('GET', '/v1/cloud-accounts')).body.data).toHaveLength(1)
  })

  test('list what can be ordered, read at most once an hour', async () => {
    const here = await world()
    const { double, account } = await cloudScene(here)
    const catalogRequests = () => double.requests.filter(one => one.path === '/server_types').length
    const before = catalogRequests()
    const list = async (what: string, query = '') =>
      (await here.acme.call('GET', `/v1/cloud-accounts/${account.id}/${what}${query}`)).body.data
    expect((await list('locations')).map((one: any) => one.slug)).toContain('fsn1')
    const sizes = await list('sizes')
    expect(sizes.find((one: any) => one.slug === 'cx22')).toMatchObject({ cores: 2, memory_bytes: 2 ** 32 })
    expect(sizes[0].offers[0].price).toMatchObject({ currency: 'EUR' })
    expect((await list('images')).map((one: any) => one.slug)).toContain('debian-12')
    expect(await list('networks')).toEqual([])
    expect(catalogRequests()).toBe(before)
    await list('sizes', '?refresh=true')
    expect(catalogRequests()).toBeGreaterThan(before)
    double.fault = () => 'html'
    const failed = await here.acme.call('GET', `/v1/cloud-accounts/${account.id}/sizes?refresh=true`)
    expect([failed.status, failed.body.code]).toEqual([424, 'provider_failed'])
    expect(await list('sizes')).toEqual(sizes)
    const { as_of: asOf } = (await here.acme.call('GET', `/v1/cloud-accounts/${account.id}/images`)).body
    expect(asOf).toBe(new Date(here.clock.now()).toISOString())
    await here.advance(1_800_000)
    expect((await here.acme.call('GET', `/v1/cloud-accounts/${account.id}/images`)).body.as_of).toBe(asOf)
  })

  test('never store a catalog that was read with other settings', async () => {
    const here = await world()
    const { double } = await cloudScene(here)
    const [account] = await here.hub.read.select().from(cloudAccounts)
    const stored = async () => (await here.hub.read.select().from(cloudCatalogs))[0]!
    await here.advance(1000)
    const settings = { base_url: `${double.url}/`, api_token: double.token }
    expect((await here.acme.call('PATCH', `/v1/cloud-accounts/${account!.id}`, { settings })).status).toBe(200)
    // What was requested before the change arrives after it.
    expect((await readCatalog(here.hub, account!, true)).readAt).toBe(here.clock.now())
    expect((await here.hub.read.select().from(cloudCatalogs)).map(one => one.readAt)).not.toContain(here.clock.now())
    const [now] = await here.hub.read.select().from(cloudAccounts)
    await readCatalog(here.hub, now!, true)
    expect((await stored()).readAt).toBe(here.clock.now())
  })

  test('are read now by an action, and deleted with the servers that were found in them and their monitors', async () => {
    const here = await world()
    const { double, account, finish } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    const started = await here.acme.call('POST', `/v1/cloud-accounts/${account.id}/sync`)
    expect(started.status).toBe(202)
    expect(await finish(started.body.id)).toMatchObject({ status: 'success', result: { servers: 1, unclaimed: 0 } })
    const { data: servers } = (await here.acme.call('GET', '/v1/servers')).body
    expect(servers).toHaveLength(1)
    const followed = await here.acme.call('POST', '/v1/monitors', { target: servers[0].id })
    expect(followed.status).toBe(201)
    await here.audited()
    expect((await here.acme.call('DELETE', `/v1/cloud-accounts/${account.id}`)).status).toBe(204)
    expect((await here.acme.call('GET', '/v1/servers')).body.data).toEqual([])
    expect((await here.acme.call('GET', '/v1/monitors')).body.data).toEqual([])
    expect(await here.audited()).toEqual(['cloud.account.delete', 'monitor.delete'])
    expect(double.project.servers.size).toBe(1)
    await here.advance(300_000)
  })

  test('send secrets to another address only if they are entered again', async () => {
    const here = await world()
    const { account } = await cloudScene(here)
    const moved = await here.acme.call('PATCH', `/v1/cloud-accounts/${account.id}`, {
      settings: { base_url: 'https://proxy.example.net/v1' },
    })
    expect(pointers(moved)).toEqual([422, ['#/settings/api_token']])
  })
})
