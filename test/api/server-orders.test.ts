import { describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { servers } from '../../src/features/servers/tables'
import { cloudScene } from '../support/clouds/cloud-scene'
import { incusScene } from '../support/clouds/incus-scene'
import { pointers } from '../support/pointers'
import { sshKeys } from '../support/ssh-keys'
import { world } from '../support/world'

describe('a new server', () => {
  test('is created at the cloud with its mark, once, and costs what was accepted', async () => {
    const here = await world()
    const { double, create, finish, get, refresh } = await cloudScene(here)
    const created = await create('web-1', { labels: { role: 'web' }, user_data: '#cloud-config\n' })
    expect(created.status).toBe(201)
    expect(created.body).toMatchObject({ status: 'provisioning', origin: 'made', user_data_set: true, provider_ref: null })
    expect(created.body.price).toMatchObject({ currency: 'EUR', known: true })
    const action = await finish(created.body.action_id)
    expect(action).toMatchObject({ type: 'server.provision', status: 'success', error: null })
    expect(action.steps.map((one: any) => [one.name, one.status])).toEqual([
      ['check_price', 'success'],
      ['create', 'success'],
      ['wait', 'success'],
      ['firewalls', 'skipped'],
    ])
    const there = double.serverNamed('web-1')!
    expect(await get(created.body.id)).toMatchObject({
      status: 'running',
      health: 'up',
      provider_ref: String(there.id),
      action_id: null,
      order: null,
      labels: { role: 'web' },
    })
    expect(there.labels).toEqual({ bailiwick: created.body.id, role: 'web' })
    expect((await refresh()).committed.monthly).toBe(created.body.price.monthly)
    expect(await here.emitted()).toEqual(['server.status_changed'])
    expect(await here.audited()).toEqual(['cloud.account.create', 'cloud.server.create'])
    expect(double.offences).toEqual([])
  })

  test('is not bought without an idempotency key, and only once with the same', async () => {
    const here = await world()
    const { double, order, finish } = await cloudScene(here)
    const without = await here.acme.call('POST', '/v1/servers', order('web-1'))
    expect([without.status, without.body.code]).toEqual([400, 'idempotency_key_required'])
    expect((await here.acme.call('POST', '/v1/servers?dry_run=true', order('web-1'))).status).toBe(200)
    const key = { 'Idempotency-Key': 'a-key' }
    const first = await here.acme.call('POST', '/v1/servers', order('web-1'), key)
    const again = await here.acme.call('POST', '/v1/servers', order('web-1'), key)
    expect(again.body).toEqual(first.body)
    await finish(first.body.action_id)
    expect(double.project.servers.size).toBe(1)
  })

  test('waits as a draft until it is provisioned', async () => {
    const here = await world()
    const { double, create, act, finish, get, account } = await cloudScene(here)
    const draft = (await create('web-1', { provision: false, size: null, image: null, ssh_keys: [] })).body
    expect(draft).toMatchObject({ status: 'draft', health: 'unknown', price: { monthly: null }, order: { size: null } })
    expect(draft.actions).toEqual([{ action: 'provision', via: ['cloud'] }])
    const incomplete = await act(draft.id, 'provision')
    expect(pointers(incomplete)).toEqual([422, ['#/action', '#/action', '#/action']])
    expect(incomplete.body.errors[0].detail).toBe(
      'The draft can’t be created at the cloud. `size` is required to create a server.',
    )
    const patch = {
      size: 'cx22',
      image: 'debian-12',
      ssh_keys: [sshKeys.ed25519.text],
    }
    expect((await here.acme.call('PATCH', `/v1/servers/${draft.id}`, patch)).body.order.size).toBe('cx22')
    expect(pointers(await act(draft.id, 'provision'))).toEqual([422, ['#/params/max_monthly_price']])
    const tooLow = await act(draft.id, 'provision', { max_monthly_price: '1.00', currency: 'EUR' })
    expect([tooLow.status, tooLow.body.code, tooLow.body.maximum]).toEqual([409, 'price_above_maximum', '1.00'])
    expect(double.project.servers.size).toBe(0)
    const started = await act(draft.id, 'provision', { max_monthly_price: '20.00', currency: 'EUR' })
    expect(started.status).toBe(202)
    const second = await act(draft.id, 'provision', { max_monthly_price: '20.00', currency: 'EUR' })
    expect([second.status, second.body.code, second.body.holder]).toEqual([409, 'resource_locked', started.body.id])
    expect((await here.acme.call('DELETE', `/v1/cloud-accounts/${account.id}`)).status).toBe(409)
    expect((await finish(started.body.id)).status).toBe('success')
    expect((await get(draft.id)).status).toBe('running')
    const edited = await here.acme.call('PATCH', `/v1/servers/${draft.id}`, { size: 'cx32' })
    expect([edited.status, edited.body.code]).toEqual([409, 'conflict'])
  })

  test('names what is wrong with the order', async () => {
    const here = await world()
    const { create, order } = await cloudScene(here)
    const wrong = await create('Not valid!', { location: 'moon1', size: 'cx1', image: 'debian-0', ssh_keys: [] })
    expect(pointers(wrong)).toEqual([422, ['#/name', '#/location', '#/size', '#/image', '#/ssh_keys']])
    expect(wrong.body.errors[1].detail).toContain('fsn1')
    expect(pointers(await create('a', { size: { cores: 1, memory_bytes: 2 ** 30, disk_bytes: 2 ** 30 } }))).toEqual([
      422,
      ['#/size'],
    ])
    expect(pointers(await create('a', { account_id: 'cloud_01k3z9a1b2c3d4e5f6g7h8j9km' }))).toEqual([422, ['#/account_id']])
    const dry = await create('Not valid!', {}, '?dry_run=true')
    expect(dry.status).toBe(200)
    expect(dry.body.problems.map((one: any) => one.pointer)).toEqual(['#/name'])
    expect(dry.body).toMatchObject({ committed: '0.00', cap: null, steps: ['check_price', 'create', 'wait'] })
    const theirs = await here.rival.call('POST', '/v1/servers', order('a'), { 'Idempotency-Key': 'theirs' })
    expect(pointers(theirs)).toEqual([422, ['#/account_id']])
    expect((await here.acme.call('GET', '/v1/servers')).body.data).toEqual([])
  })

  test('is created as often as the spending cap has room, however many requests come at once', async () => {
    const here = await world()
    // Each costs 5.11 EUR.
    const { create, account, finish, double } = await cloudScene(here, {
      spend: { monthly_cap: '51.60', confirm_above: '6.00', currency: 'EUR' },
    })
    const answers = await Promise.all(Array.from({ length: 50 }, (_, n) => create(`web-${n}`, { max_monthly_price: undefined })))
    const made = answers.filter(one => one.status === 201)
    const refused = answers.filter(one => one.status === 403)
    expect([made.length, refused.length]).toEqual([10, 40])
    expect(refused[0]!.body).toMatchObject({ code: 'spend_cap_reached', cap: '51.60', currency: 'EUR' })
    for (const one of made) expect((await finish(one.body.action_id)).status).toBe('success')
    const { committed } = (await here.acme.call('GET', `/v1/cloud-accounts/${account.id}`)).body
    expect(Number(committed.monthly) * 1e6).toBe(double.bill().monthlyMicros)
    expect(double.bill().monthlyMicros).toBeLessThanOrEqual(51.6e6)
    expect(double.project.servers.size).toBe(10)
    const notices = (await here.acme.call('GET', '/v1/notices')).body.data
    expect(notices.map((one: any) => [one.kind, one.count])).toEqual([['cloud_account.spend_near', 1]])
  })

  test('costs no more than a cap that cloud permissions alone can’t raise', async () => {
    const here = await world()
    const { account } = await cloudScene(here, { spend: { monthly_cap: '10.00', confirm_above: '6.00', currency: 'EUR' } })
    const cloudOnly = await here.scoped('cloud.write')
    const raised = await cloudOnly.call('PATCH', `/v1/cloud-accounts/${account.id}`, {
      spend: { monthly_cap: null, confirm_above: '0', currency: null },
    })
    expect([raised.status, raised.body.required_permission]).toEqual([403, 'account.write'])
  })

  test('counts as before once its size is retired, or is no longer listed', async () => {
    const here = await world()
    const spend = { monthly_cap: '6.00', confirm_above: '0', currency: 'EUR' }
    const { create, finish, double, refresh, get, account } = await cloudScene(here, { spend })
    const { id, action_id } = (await create('web-1')).body
    await finish(action_id)
    const committed = async () => (await refresh()).committed
    const before = await committed()
    expect(Number(before.monthly)).toBeGreaterThan(0)
    const retired = { announced: '2024-06-06T00:00:00+00:00', unavailable_after: '2024-09-06T00:00:00+00:00' }
    for (const one of double.project.serverType('cx22').locations) one.deprecation = retired
    await here.advance(3_700_000)
    expect([await committed(), (await get(id)).price.known]).toEqual([before, true])
    expect((await create('web-2', { size: 'cax11' })).body.code).toBe('spend_cap_reached')
    const again = await create('web-3')
    expect([again.status, again.body.errors[0]]).toMatchObject([422, { pointer: '#/size' }])
    expect(again.body.errors[0].detail).toStartWith('cx22 can no longer be ordered in fsn1.')
    const sizes = (await here.acme.call('GET', `/v1/cloud-accounts/${account.id}/sizes`)).body.data
    expect(sizes.map((one: any) => one.slug)).not.toContain('cx22')
    double.answered = body =>
      body.server_types
        ? {
            ...body,
            server_types: body.server_types.filter((one: any) => one.name !== 'cx22'),
            meta: { pagination: { ...body.meta.pagination, total_entries: body.meta.pagination.total_entries - 1 } },
          }
        : body
    await here.advance(3_700_000)
    expect([await committed(), (await get(id)).price.known]).toEqual([before, true])
  })

  test('is not bought if its price rose meanwhile, and is a draft again', async () => {
    const here = await world()
    const { create, finish, get, double, refresh } = await cloudScene(here)
    const created = (await create('web-1', { max_monthly_price: '6.00' })).body
    double.raisePrice('cx22', 2)
    const action = await finish(created.action_id)
    expect(action).toMatchObject({ status: 'error', error: { code: 'price_above_maximum' } })
    expect(double.project.servers.size).toBe(0)
    expect(await get(created.id)).toMatchObject({ status: 'draft', price: { monthly: null } })
    expect((await refresh()).committed.monthly).toBe('0.00')
  })

  test('is bought with few requests, and its price is shown in the catalog', async () => {
    const here = await world()
    const { create, finish, double, get, account } = await cloudScene(here)
    await create('warm', { provision: false })
    double.raisePrice('cx22', 1.5)
    const before = double.requests.length
    const created = (await create('web-1')).body
    await finish(created.action_id)
    const read = double.requests.slice(before).map(one => one.path)
    expect(read.filter(one => ['/locations', '/images', '/networks'].includes(one))).toEqual([])
    expect(read.filter(one => one === '/server_types' || one === '/pricing')).toEqual(['/server_types', '/pricing'])
    const price = Number((await get(created.id)).price.monthly)
    expect(price * 1e6).toBe(double.bill().monthlyMicros)
    const sizes = (await here.acme.call('GET', `/v1/cloud-accounts/${account.id}/sizes`)).body.data
    const { offers } = sizes.find((one: any) => one.slug === 'cx22')
    expect(Number(offers[0].price.monthly)).toBeCloseTo(price - 0.595, 6)
    expect(sizes.length).toBeGreaterThan(3)
  })

  test('costs what it costs when it is bought, within what was accepted and the cap', async () => {
    const here = await world()
    const { create, finish, get, double, refresh } = await cloudScene(here, {
      spend: { monthly_cap: '11.00', confirm_above: '0', currency: 'EUR' },
    })
    const first = (await create('web-1')).body
    double.raisePrice('cx22', 2)
    expect((await finish(first.action_id)).status).toBe('success')
    expect(Number((await refresh()).committed.monthly) * 1e6).toBe(double.bill().monthlyMicros)
    await finish((await here.acme.call('DELETE', `/v1/servers/${first.id}?at_provider=destroy`)).body.id)

    // The catalog can't be read at first, which doesn’t skip the check.
    const second = (await create('web-2')).body
    double.raisePrice('cx22', 2)
    double.fault = ({ path }) => (path === '/pricing' ? { status: 503, code: 'unavailable' } : null)
    await here.advance(2000)
    double.fault = () => null
    expect(await finish(second.action_id)).toMatchObject({ status: 'error', error: { code: 'spend_cap_reached' } })
    expect(await get(second.id)).toMatchObject({ status: 'draft', price: { monthly: null } })
    expect(double.project.servers.size).toBe(0)
  })

  test('stays what it is if the cloud can’t be reached when its creation should end', async () => {
    const here = await world()
    const { create, get, double, refresh, action } = await cloudScene(here)
    double.project.actionMs = () => 3_000_000
    const created = (await create('web-1')).body
    await here.advance(2000)
    double.fault = ({ path }) => (path === '/actions' || path.startsWith('/servers/') ? 'dropped' : null)
    await here.advance(3_700_000)
    await here.advance(60_000)
    expect(await action(created.action_id)).toMatchObject({ status: 'error', error: { code: 'provider_failed' } })
    const there = double.serverNamed('web-1')!
    expect(await get(created.id)).toMatchObject({ provider_ref: String(there.id), price: { known: true } })
    expect(Number((await refresh()).committed.monthly) * 1e6).toBe(double.bill().monthlyMicros)
  })

  test('is created in another location if the size is out of stock', async () => {
    const here = await world()
    const { create, finish, get, double } = await cloudScene(here)
    double.stock('cx22', 'fsn1', false)
    const created = (await create('web-1', { fallback_locations: ['nbg1'] })).body
    expect((await finish(created.action_id)).status).toBe('success')
    expect((await get(created.id)).location).toBe('nbg1')
  })

  test.each([false, true])('is created in another location if its creation fails later, lost response: %p', async isLost => {
    const here = await world()
    const { create, finish, get, double } = await cloudScene(here)
    double.project.keepsFailedServers = true
    double.project.actionErrors = { create_server: { code: 'resource_unavailable', message: 'no host available' } }
    double.fault = ({ method, path }) => (isLost && method === 'POST' && path === '/servers' ? 'lost' : null)
    const created = (await create('web-1', { fallback_locations: ['nbg1', 'hel1'] })).body
    await here.settle()
    double.project.actionErrors = {}
    double.fault = () => null
    expect((await finish(created.action_id)).status).toBe('success')
    expect((await get(created.id)).location).toBe('nbg1')
    expect([...double.project.servers.values()].map(one => [one.name, one.location])).toEqual([['web-1', 'nbg1']])
  })

  test('is adopted if the response of the cloud was lost', async () => {
    const here = await world()
    const { create, finish, get, double } = await cloudScene(here)
    double.fault = request => (request.method === 'POST' && request.path === '/servers' ? 'lost' : null)
    const created = (await create('web-1')).body
    await here.advance(3000)
    double.fault = () => null
    expect((await finish(created.action_id)).status).toBe('success')
    expect(double.project.servers.size).toBe(1)
    expect((await get(created.id)).provider_ref).toBe(String(double.serverNamed('web-1')!.id))
  })

  test('is found by its mark if the cloud forgets the operation that created it', async () => {
    const here = await world()
    const { double, call, order, finish, get } = await incusScene(here)
    const created = (await call('POST', '/servers', order('web-2', { start: false }))).body
    await here.advance(1000)
    expect(double.named('web-2')).toBeDefined()
    // As after a restart of the hub: Incus forgets operations 5 seconds after their end.
    double.operations = []
    expect(await finish(created.action_id)).toMatchObject({ status: 'success', error: null })
    expect(await get(created.id)).toMatchObject({ status: 'off', order: null, provider_ref: expect.any(String) })
  })

  test('fails if another server has its name', async () => {
    const here = await world()
    const { create, finish, get, double } = await cloudScene(here, { import: { mode: 'none', label_selector: null } })
    double.addServer({ name: 'web-1' })
    const created = (await create('web-1')).body
    expect(await finish(created.action_id)).toMatchObject({ status: 'error', error: { code: 'already_exists' } })
    expect((await get(created.id)).status).toBe('draft')
    expect(double.project.servers.size).toBe(1)
  })
})

describe('the spending cap', () => {
  test('removing servers here only, or resizing them, does not free the spending cap', async () => {
    const here = await world()
    const { double, create, finish, act, refresh } = await cloudScene(here, {
      spend: { monthly_cap: '6.00', confirm_above: '0', currency: 'EUR' },
    })
    const { id, action_id } = (await create('web-1')).body
    await finish(action_id)
    expect((await here.acme.call('DELETE', `/v1/servers/${id}?at_provider=keep`)).status).toBe(204)
    expect((await create('web-2')).body.code).toBe('spend_cap_reached')
    await here.advance(60_000)
    expect((await create('web-2')).body.code).toBe('spend_cap_reached')
    expect(Number((await refresh()).committed.monthly) * 1e6).toBe(double.bill().monthlyMicros)

    const other = await cloudScene(here, {
      name: 'Other',
      spend: { monthly_cap: '21.00', confirm_above: '0', currency: 'EUR' },
    })
    const big = (await other.create('big', { size: 'cx42', max_monthly_price: '30' })).body
    await other.finish(big.action_id)
    await other.finish((await act(big.id, 'power_off')).body.id)
    const smaller = await act(big.id, 'resize', { size: 'cx22' })
    expect(smaller.status).toBe(202)
    expect((await other.create('web-3')).body.code).toBe('spend_cap_reached')
  })

  test('a purchase that may have been made is not forgotten', async () => {
    const here = await world()
    const { double, create, finish, get } = await cloudScene(here, { import: { mode: 'none', label_selector: null } })
    let isLost = false
    double.fault = request => {
      if (request.method === 'POST' && request.path === '/servers') {
        isLost = true
        return 'lost'
      }
      return isLost ? { status: 401, code: 'unauthorized', message: 'unable to authenticate' } : null
    }
    const created = (await create('web-1')).body
    expect((await finish(created.action_id)).status).toBe('error')
    expect(await get(created.id)).toMatchObject({ status: 'error', price: { monthly: created.price.monthly } })
    expect(pointers(await here.acme.call('DELETE', `/v1/servers/${created.id}`))).toEqual([422, ['#/query/at_provider']])
    double.fault = () => null
    const deletion = await here.acme.call('DELETE', `/v1/servers/${created.id}?at_provider=destroy`)
    expect((await finish(deletion.body.id)).status).toBe('success')
    expect(double.project.servers.size).toBe(0)
    expect((await get(created.id)).status).toBe('deleted')
  })

  test('a purchase whose outcome is unknown is retried, and buys one server, whether the first request was carried out or not', async () => {
    for (const isCarriedOut of [true, false]) {
      const here = await world()
      const { double, create, finish, get, act } = await cloudScene(here, { import: { mode: 'none', label_selector: null } })
      let isOver = false
      double.fault = request => {
        if (isOver) return { status: 401, code: 'unauthorized', message: 'unable to authenticate' }
        if (request.method !== 'POST' || request.path !== '/servers') return null
        isOver = true
        return isCarriedOut ? 'lost' : { status: 503, code: 'unavailable', message: 'try later' }
      }
      const created = (await create('web-1')).body
      expect((await finish(created.action_id)).status).toBe('error')
      const before = await get(created.id)
      expect([before.status, before.provider_ref, before.price.monthly]).toEqual(['error', null, created.price.monthly])
      expect(before.actions.map((one: { action: string }) => one.action)).toEqual(['provision', 'delete'])
      expect(pointers(await act(created.id, 'provision'))).toEqual([422, ['#/params/max_monthly_price']])
      const accepted = { max_monthly_price: created.price.monthly, currency: 'EUR' }

      // The first request may still be carried out, so a definite refusal doesn’t make it a draft.
      isOver = false
      double.fault = ({ method, path }) =>
        method === 'POST' && path === '/servers'
          ? { status: 412, code: 'resource_unavailable', message: 'out of stock' }
          : path === '/servers' && isCarriedOut
            ? { status: 401, code: 'unauthorized', message: 'unable to authenticate' }
            : null
      expect((await finish((await act(created.id, 'provision', accepted)).body.id)).status).toBe('error')
      expect(await get(created.id)).toMatchObject({ status: 'error', price: { monthly: created.price.monthly } })

      double.fault = () => null
      const retried = await act(created.id, 'provision', accepted)
      expect(retried.status).toBe(202)
      expect((await finish(retried.body.id)).status).toBe('success')
      expect([...double.project.servers.values()].map(one => one.name)).toEqual(['web-1'])
      expect(await get(created.id)).toMatchObject({ status: 'running', provider_ref: String(double.serverNamed('web-1')!.id) })
      expect((await act(created.id, 'provision', accepted)).body.code).toBe('conflict')
    }
  })

  test('a purchase whose outcome is unknown can’t be edited, and what it made is never taken for another order', async () => {
    const here = await world()
    const { double, create, finish, get, act } = await cloudScene(here, { import: { mode: 'none', label_selector: null } })
    let isLost = false
    double.fault = request => {
      if (request.method === 'POST' && request.path === '/servers') {
        isLost = true
        return 'lost'
      }
      return isLost ? { status: 401, code: 'unauthorized', message: 'unable to authenticate' } : null
    }
    const draft = (await create('web-1', { provision: false })).body
    const accepted = { max_monthly_price: '20', currency: 'EUR' }
    expect((await finish((await act(draft.id, 'provision', accepted)).body.id)).status).toBe('error')
    for (const change of [{ size: 'cx32' }, { image: 'ubuntu-24.04' }, { user_data: '#!/bin/sh' }, { name: 'web-2' }]) {
      const edited = await here.acme.call('PATCH', `/v1/servers/${draft.id}`, change)
      expect([edited.status, edited.body.code, edited.body.detail]).toEqual([
        409,
        'conflict',
        expect.stringContaining('The outcome of the purchase is unknown'),
      ])
    }
    expect((await here.acme.call('PATCH', `/v1/servers/${draft.id}`, { notes: 'bought?' })).status).toBe(200)
    // If it became a draft anyway, another order would not adopt what the first one created.
    await record(here.hub, async tx => {
      const order = { ...draft.order, size: 'cx32' }
      await tx.update(servers).set({ status: 'draft', order }).where(eq(servers.id, draft.id))
      return { result: undefined }
    })
    double.fault = () => null
    const again = await finish((await act(draft.id, 'provision', accepted)).body.id)
    expect(again).toMatchObject({
      status: 'error',
      error: { code: 'conflict', detail: expect.stringContaining('the size cx22') },
    })
    const there = double.serverNamed('web-1')!
    expect(await get(draft.id)).toMatchObject({
      ...{ status: 'running', provider_ref: String(there.id), size: { slug: 'cx22' }, order: null },
    })
    await here.advance(60_000)
    expect(Math.round(Number((await get(draft.id)).price.monthly) * 1e6)).toBe(double.bill().monthlyMicros)
    expect(double.project.servers.size).toBe(1)
  })
})

test('actions that make a server dearer are purchases', async () => {
  const here = await world()
  const { double, act, finish, get, named } = await cloudScene(here, {
    spend: { monthly_cap: '5.50', confirm_above: '0', currency: 'EUR' },
  })
  double.addServer({ name: 'web-1' })
  await here.advance(60_000)
  const { id, price } = await named('web-1')
  expect(pointers(await act(id, 'enable_backups'))).toEqual([422, ['#/params/max_monthly_price']])
  const capped = await act(id, 'enable_backups', { max_monthly_price: '7', currency: 'EUR' })
  expect([capped.status, capped.body.code]).toEqual([403, 'spend_cap_reached'])
  const account = (await get(id)).account_id
  await here.acme.call('PATCH', `/v1/cloud-accounts/${account}`, {
    spend: { monthly_cap: '20', confirm_above: '0', currency: 'EUR' },
  })
  await finish((await act(id, 'enable_backups', { max_monthly_price: '7', currency: 'EUR' })).body.id)
  const backed = await get(id)
  expect(Number(backed.price.monthly)).toBeGreaterThan(Number(price.monthly))
  expect(Number(backed.price.monthly) * 1e6).toBe(double.bill().monthlyMicros)
  // Cheaper is free.
  await finish((await act(id, 'disable_backups')).body.id)
  expect((await get(id)).price.monthly).toBe(price.monthly)
})
