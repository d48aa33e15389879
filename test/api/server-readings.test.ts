import { describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { finishSync, syncAccount } from '../../src/features/servers/accounts/sync'
import { cloudAccounts } from '../../src/features/servers/accounts/tables'
import { cloudScene } from '../support/clouds/cloud-scene'
import { incusScene } from '../support/clouds/incus-scene'
import { ProxmoxCloud } from '../support/clouds/proxmox-cloud'
import { template } from '../support/clouds/proxmox-under-test'
import { pointers } from '../support/pointers'
import { closeLater, world } from '../support/world'

describe('servers that exist at a cloud', () => {
  test('are added with a cloud account, and follow what changes there', async () => {
    const here = await world()
    const { double, account, named, get, refresh } = await cloudScene(here)
    const web = double.addServer({ name: 'web-1', labels: { role: 'web' } })
    await here.advance(60_000)
    const server = await named('web-1')
    expect(server).toMatchObject({
      origin: 'found',
      kind: 'vm',
      account_id: account.id,
      status: 'running',
      health: 'up',
      power: 'on',
      location: 'fsn1',
      size: { slug: 'cx22' },
      image: 'debian-12',
      labels: { role: 'web' },
      observed: { status: { source: 'cloud', stale: false }, health: { source: 'cloud' } },
    })
    expect(server.price.known).toBe(true)
    expect((await refresh()).counts).toEqual({ servers: 1, unclaimed: 0 })
    const expanded = (await here.acme.call('GET', `/v1/servers/${server.id}?expand=account`)).body.expanded
    expect(expanded.account).toMatchObject({ id: account.id, name: 'Hetzner' })
    // The first event of a server that was found would say nothing new.
    expect(await here.emitted()).toEqual([])

    double.console.powerOff(web)
    await here.advance(60_000)
    expect(await get(server.id)).toMatchObject({ status: 'off', health: 'down', power: 'off' })
    expect(await here.emitted()).toEqual(['server.status_changed'])
    const [event] = (await here.acme.call('GET', '/v1/events')).body.data
    expect(event.data).toMatchObject({
      server: { id: server.id, name: 'web-1', labels: { role: 'web' } },
      status: 'down',
      previous_status: 'unknown',
      power: 'off',
      source: 'cloud',
      reason: 'The server is switched off.',
    })
    await here.audited()

    double.console.rename(web, 'web-01')
    await here.advance(120_000)
    expect((await get(server.id)).name).toBe('web-01')
    expect(await here.audited()).toEqual(['cloud.server.follow'])
    const moves = (await here.acme.call('GET', `/v1/servers/${server.id}/transitions?field=status`)).body.data
    expect(moves.map((one: any) => [one.from, one.to])).toEqual([
      ['running', 'off'],
      ['unknown', 'running'],
    ])
  })

  test('are missing once they are deleted there, and the workspace is notified once', async () => {
    const here = await world()
    const { double, named, get } = await cloudScene(here)
    const web = double.addServer({ name: 'web-1' })
    double.addServer({ name: 'web-2' })
    await here.advance(60_000)
    const server = await named('web-1')
    double.console.delete(web)
    await here.advance(180_000)
    expect(await get(server.id)).toMatchObject({ status: 'missing', health: 'unknown', price: { monthly: null } })
    expect((await named('web-2')).status).toBe('running')
    const notices = (await here.acme.call('GET', '/v1/notices')).body.data
    expect(notices.filter((one: any) => one.kind === 'server.missing').map((one: any) => one.count)).toEqual([1])
    expect((await here.acme.call('DELETE', `/v1/servers/${server.id}`)).status).toBe(204)
  })

  test('are read again soon if they can’t be read because they are just stopping', async () => {
    const here = await world()
    const { instance, get, account, call } = await incusScene(here)
    const sync = async () => (await call('GET', `/cloud-accounts/${account.id}`)).body.sync
    await here.emitted()
    instance.isUnreadable = true
    await here.advance(30_000)
    expect([(await get()).status, await here.emitted()]).toEqual(['error', []])
    expect(await sync()).toMatchObject({ failures_in_a_row: 0, last_error: null })
    Object.assign(instance, { isUnreadable: false, status: 'Stopped' })
    await here.advance(5000)
    expect([(await get()).status, await here.emitted()]).toEqual(['off', ['server.status_changed']])
    // A server that stays unreadable is not read more often.
    instance.isUnreadable = true
    await here.advance(30_000)
    await here.advance(5000)
    const { finished_at, next_at } = await sync()
    expect([(await get()).status, Date.parse(next_at) - Date.parse(finished_at)]).toEqual(['error', 30_000])
  })

  test('are missing one after another, whichever of them can’t be read by themselves', async () => {
    const here = await world()
    const { double, refresh } = await cloudScene(here)
    for (let n = 0; n < 70; n++) double.addServer({ name: `web-${n}` })
    await here.advance(60_000)
    const all = [...double.project.servers.values()]
    const broken = new Set(all.slice(0, 30).map(one => `/servers/${one.id}`))
    for (const one of all.slice(0, 60)) double.console.delete(one)
    double.fault = ({ path }) => (broken.has(path) ? 'html' : null)
    for (let readings = 0; readings < 12; readings++) await here.advance(60_000)
    expect((await refresh()).sync).toMatchObject({ failures_in_a_row: 0, last_error: null })
    const missing = (await here.acme.call('GET', '/v1/servers?status=missing&limit=100')).body.data
    expect(missing).toHaveLength(30)
    double.fault = () => null
    for (let readings = 0; readings < 5; readings++) await here.advance(60_000)
    expect((await here.acme.call('GET', '/v1/servers?status=missing&limit=100')).body.data).toHaveLength(60)
  })

  test('show each change that was made at the cloud with the next reading, once', async () => {
    const here = await world()
    const { double, named, get } = await cloudScene(here)
    const web = double.addServer({ name: 'web-1', labels: { role: 'web' } })
    await here.advance(60_000)
    const { id, price } = await named('web-1')
    await here.audited()
    const changes: [string, () => void, object][] = [
      ['name', () => double.console.rename(web, 'web-01'), { name: 'web-01' }],
      ['size', () => double.console.resize(web, 'cx32'), { size: { slug: 'cx32', cores: 4 } }],
      ['labels', () => double.console.relabel(web, { role: 'api' }), { labels: { role: 'api' } }],
      ['protection', () => (web.protection = { delete: true, rebuild: true }), { protection: { delete: true, rebuild: true } }],
      ['deletion', () => double.console.delete(web), { status: 'missing', price: { monthly: null } }],
    ]
    for (const [what, change, shown] of changes) {
      change()
      await here.advance(60_000)
      expect({ what, ...(await get(id)) }).toMatchObject(shown)
      expect({ what, audited: await here.audited() }).toEqual({ what, audited: ['cloud.server.follow'] })
      await here.advance(60_000)
      await here.advance(60_000)
      expect({ what, audited: await here.audited() }).toEqual({ what, audited: [] })
      if (what === 'size') expect((await get(id)).price.monthly).not.toBe(price.monthly)
    }
    const entries = (await here.acme.call('GET', '/v1/audit-events?action=cloud.server.follow')).body.data
    const seen = entries.map((one: any) => Object.keys(one.changes.after ?? {})).reverse()
    expect(seen.slice(1)).toEqual([
      ['name'],
      expect.arrayContaining(['size', 'cores', 'memory_bytes']),
      ['labels'],
      ['protection'],
      ['status'],
    ])
    const notices = (await here.acme.call('GET', '/v1/notices')).body.data
    expect(notices.map((one: any) => [one.kind, one.count])).toEqual([['server.missing', 1]])
    expect(await here.emitted()).toEqual([])
  })

  test('stay as they are while the cloud returns only half a list, or nothing', async () => {
    const here = await world()
    const { double, named, get, refresh } = await cloudScene(here)
    for (let n = 0; n < 60; n++) double.addServer({ name: `web-${n}` })
    await here.advance(60_000)
    const server = await named('web-59')
    double.answered = (body, request) => (request.path === '/servers' ? { ...body, servers: body.servers.slice(0, 10) } : body)
    await here.advance(60_000)
    expect((await refresh()).sync).toMatchObject({ failures_in_a_row: 1, last_error: { code: 'incomplete' } })
    expect((await get(server.id)).status).toBe('running')
    expect((await here.acme.call('GET', '/v1/servers?status=missing')).body.data).toEqual([])
    // After three failed readings, nothing is known.
    await here.advance(60_000)
    await here.advance(60_000)
    expect(await get(server.id)).toMatchObject({ status: 'unknown', health: 'unknown', observed: { status: { stale: true } } })
    double.answered = body => body
    await here.advance(120_000)
    expect(await get(server.id)).toMatchObject({ status: 'running', health: 'up', observed: { status: { stale: false } } })
    expect(await here.emitted()).toEqual([])
  })

  test('stay as they are while the list of the cloud never ends, or is too long', async () => {
    const here = await world()
    const { double, named, get, refresh } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    const paged = (page: number, total_entries: number) => (body: any) =>
      body.servers ? { ...body, meta: { pagination: { ...body.meta.pagination, page, total_entries } } } : body
    for (const [answered, code] of [
      [paged(1, 1e9), 'refused'],
      [paged(7, 1), 'incomplete'],
      [
        (body: any) =>
          body.servers ? { ...body, servers: body.servers.map((one: any) => ({ ...one, name: 'x'.repeat(5_000_000) })) } : body,
        'invalid_response',
      ],
    ] as const) {
      double.answered = answered
      await here.advance(60_000)
      expect((await refresh()).sync.last_error?.code).toBe(code)
      expect(await get(id)).toMatchObject({ name: 'web-1', status: 'running' })
      double.answered = body => body
      await here.advance(120_000)
      expect((await refresh()).sync).toMatchObject({ failures_in_a_row: 0, last_error: null })
    }
    expect((await here.acme.call('GET', '/v1/servers')).body.data).toHaveLength(1)
  })

  test('that were created here have the labels that are set here, and get them back', async () => {
    const here = await world()
    const { double, create, finish, get, account } = await cloudScene(here)
    const created = (await create('web-1', { labels: { role: 'web', stage: 'test' } })).body
    await finish(created.action_id)
    const there = double.serverNamed('web-1')!
    const patch = async (body: object) => (await here.acme.call('PATCH', `/v1/servers/${created.id}`, body)).body
    await here.audited()
    const patched = await patch({ labels: { role: 'database', team: 'core' } })
    expect([patched.labels, patched.status]).toEqual([{ role: 'database', team: 'core' }, 'running'])
    expect(await here.audited()).toEqual(['cloud.server.update'])
    expect(await finish(patched.action_id)).toMatchObject({ type: 'server.set_labels', status: 'success', error: null })
    expect(there.labels).toEqual({ bailiwick: created.id, role: 'database', team: 'core' })
    expect(patched.actions).toEqual([])
    expect((await get(created.id)).actions.map((one: any) => one.action)).not.toContain('set_labels')
    // Someone else changes one label and adds another one: ours is put back, and theirs is taken over.
    await here.audited()
    double.console.relabel(there, { bailiwick: created.id, role: 'web', team: 'core', added: 'there' })
    await here.advance(60_000)
    for (let seconds = 0; seconds < 20; seconds += 5) await here.advance(5000)
    expect(there.labels).toEqual({ bailiwick: created.id, role: 'database', team: 'core', added: 'there' })
    expect((await get(created.id)).labels).toEqual({ role: 'database', team: 'core', added: 'there' })
    expect((await here.audited()).filter(one => one === 'cloud.server.set_labels')).toHaveLength(1)
    // So is the mark.
    double.console.relabel(there, { role: 'database', team: 'core', added: 'there' })
    await here.advance(60_000)
    for (let seconds = 0; seconds < 20; seconds += 5) await here.advance(5000)
    expect(there.labels).toEqual({ bailiwick: created.id, role: 'database', team: 'core', added: 'there' })
    expect((await here.audited()).filter(one => one === 'cloud.server.set_labels')).toHaveLength(1)
    // What a request leaves out is removed, also if it was added there.
    const removed = await patch({ labels: { role: 'database' } })
    expect(removed.labels).toEqual({ role: 'database' })
    await finish(removed.action_id)
    expect(there.labels).toEqual({ bailiwick: created.id, role: 'database' })
    double.console.relabel(there, { bailiwick: created.id, role: 'database', team: 'again' })
    await here.advance(60_000)
    expect((await get(created.id)).labels).toEqual({ role: 'database', team: 'again' })
    expect(double.offences).toEqual([])
    const found = double.addServer({ name: 'found', labels: { role: 'web' } })
    await here.advance(60_000)
    const other = (await here.acme.call('GET', '/v1/servers?q=found')).body.data[0]
    expect((await here.acme.call('PATCH', `/v1/servers/${other.id}`, { labels: { role: 'api' } })).body.action_id).toBeNull()
    await here.advance(120_000)
    expect(found.labels).toEqual({ role: 'web' })
    expect((await here.acme.call('GET', `/v1/cloud-accounts/${account.id}`)).body.state).toBe('ok')
  }, 180_000)

  test('that are busy get their labels later, and labels are put back three times in ten minutes at most', async () => {
    const here = await world()
    const { double, create, finish, act, get } = await cloudScene(here)
    const created = (await create('web-1', { labels: { role: 'web' } })).body
    await finish(created.action_id)
    const there = double.serverNamed('web-1')!
    double.project.actionMs = command => (command === 'stop_server' ? 30_000 : 0)
    const busy = await act(created.id, 'power_off')
    const patched = await here.acme.call('PATCH', `/v1/servers/${created.id}`, { labels: { stage: 'live' } })
    expect([patched.status, patched.body.labels]).toEqual([200, { stage: 'live' }])
    await finish(busy.body.id)
    for (let seconds = 0; seconds < 20; seconds += 5) await here.advance(5000)
    expect(there.labels).toEqual({ bailiwick: created.id, stage: 'live' })
    let restored = 0
    for (let minutes = 0; minutes < 6; minutes++) {
      double.console.relabel(there, { stage: `other-${minutes}` })
      await here.advance(60_000)
      for (let seconds = 0; seconds < 20; seconds += 5) await here.advance(5000)
      if (there.labels.stage === 'live') restored++
    }
    // The first one after the server was busy counts, too.
    expect(restored).toBe(2)
    expect((await get(created.id)).labels.stage).toBe('live')
  }, 180_000)

  test('keep labels that others add with the key of one that was removed before the cloud had it', async () => {
    const here = await world()
    const { double, create, finish, act, get } = await cloudScene(here)
    const created = (await create('web-1')).body
    await finish(created.action_id)
    const there = double.serverNamed('web-1')!
    double.project.actionMs = command => (command === 'stop_server' ? 30_000 : 0)
    const busy = await act(created.id, 'power_off')
    for (const labels of [{ stage: 'live' }, {}])
      expect((await here.acme.call('PATCH', `/v1/servers/${created.id}`, { labels })).body.labels).toEqual(labels)
    await finish(busy.body.id)
    await here.advance(60_000)
    double.console.relabel(there, { bailiwick: created.id, stage: 'theirs' })
    await here.advance(120_000)
    expect(there.labels).toEqual({ bailiwick: created.id, stage: 'theirs' })
    expect((await get(created.id)).labels).toEqual({ stage: 'theirs' })
  })

  test('are added by their labels, or one by one, up to the limit of the plan', async () => {
    const here = await world()
    const { double, account, refresh } = await cloudScene(here, { import: { mode: 'selector', label_selector: 'role=web' } })
    double.addServer({ name: 'web-1', labels: { role: 'web' } })
    const other = double.addServer({ name: 'db-1', labels: { role: 'db' } })
    await here.advance(60_000)
    expect((await here.acme.call('GET', '/v1/servers')).body.data.map((one: any) => one.name)).toEqual(['web-1'])
    expect((await refresh()).counts).toEqual({ servers: 1, unclaimed: 1 })
    const unclaimed = (await here.acme.call('GET', `/v1/cloud-accounts/${account.id}/unclaimed`)).body.data
    expect(unclaimed).toMatchObject([{ ref: String(other.id), name: 'db-1', labels: { role: 'db' } }])
    expect(
      pointers(await here.acme.call('POST', `/v1/cloud-accounts/${account.id}/claim`, { refs: ['999', String(other.id)] })),
    ).toEqual([422, ['#/refs/0']])
    const claimed = await here.acme.call('POST', `/v1/cloud-accounts/${account.id}/claim`, { refs: [String(other.id)] })
    expect(claimed.body.server_ids).toHaveLength(1)
    expect((await refresh()).counts).toEqual({ servers: 2, unclaimed: 0 })
    // What was unclaimed before is not counted twice.
    expect(Math.round(Number((await refresh()).committed.monthly) * 1e6)).toBe(double.bill().monthlyMicros)

    await here.limit(here.acme.workspaceId, { servers: 3 })
    double.addServer({ name: 'web-2', labels: { role: 'web' } })
    double.addServer({ name: 'web-3', labels: { role: 'web' } })
    await here.advance(180_000)
    expect((await refresh()).counts).toEqual({ servers: 3, unclaimed: 1 })
    const notices = (await here.acme.call('GET', '/v1/notices')).body.data
    expect(notices.filter((one: any) => one.kind === 'cloud_account.servers_left_out').map((one: any) => one.count)).toEqual([1])
  })

  test('are not added again by a reading that started before they were deleted or removed', async () => {
    const here = await world()
    const { double, act, finish, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    double.addServer({ name: 'web-2' })
    await here.advance(60_000)
    const [one, two] = [await named('web-1'), await named('web-2')]
    const [account] = await here.hub.read.select().from(cloudAccounts)
    let before: unknown = null
    double.answered = (body, { path, query }) => (path === '/servers' && query.has('sort') ? (before ??= body) : body)
    await here.advance(60_000)
    await finish((await act(one.id, 'delete')).body.id)
    // A repeated request changes nothing.
    expect((await here.acme.call('DELETE', `/v1/servers/${one.id}?at_provider=destroy`)).status).toBe(204)
    await here.acme.call('DELETE', `/v1/servers/${two.id}?at_provider=keep`)
    here.clock.set(-60_000)
    expect(await syncAccount(here.hub, account!)).toMatchObject({ error: null })
    expect((await here.acme.call('GET', '/v1/servers')).body.data).toEqual([])
  })

  test('are not added or changed by a reading of an account whose settings changed meanwhile', async () => {
    const here = await world()
    const { double, account, refresh } = await cloudScene(here)
    const other = await cloudScene(here, { name: 'Other' })
    double.addServer({ name: 'web-1' })
    double.addServer({ name: 'web-2' })
    await here.advance(60_000)
    const accounts = await here.hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, account.id))
    const { sync: synced } = await refresh()
    double.console.rename(double.serverNamed('web-1')!, 'renamed')
    double.console.delete(double.serverNamed('web-2')!)
    double.addServer({ name: 'new' })
    // Stored directly: a PATCH also starts a reading with the new settings, at the same time as the one of this test.
    await record(here.hub, async tx => {
      const settings = { ...accounts[0]!.settings, base_url: other.double.url }
      await tx.update(cloudAccounts).set({ settings }).where(eq(cloudAccounts.id, account.id))
      return { result: undefined }
    })
    here.clock.set(1000)
    const outcome = await syncAccount(here.hub, accounts[0]!)
    expect(outcome).toMatchObject({ error: null, reading: { servers: [{}, {}] } })
    await record(here.hub, tx => finishSync(tx, here.hub, accounts[0]!, outcome))
    const after = (await here.acme.call('GET', '/v1/servers?sort=name')).body.data
    expect(after.map((one: any) => [one.name, one.status])).toEqual([
      ['web-1', 'running'],
      ['web-2', 'running'],
    ])
    expect((await refresh()).sync.finished_at).toBe(synced.finished_at)
  })

  test('that are removed while a reading runs stay removed, even if it did not list them', async () => {
    const here = await world()
    const { double, account, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const [read] = await here.hub.read.select().from(cloudAccounts)
    const outcome = await syncAccount(here.hub, read!)
    await here.acme.call('DELETE', `/v1/servers/${(await named('web-1')).id}?at_provider=keep`)
    const ignored = async () => (await here.hub.read.select().from(cloudAccounts))[0]!.ignoredRefs
    expect(await ignored()).toHaveLength(1)
    if (outcome.error) throw new Error(outcome.error.detail)
    const half = { ...outcome, reading: { ...outcome.reading, servers: [] } }
    await record(here.hub, tx => finishSync(tx, here.hub, read!, half))
    expect(await ignored()).toHaveLength(1)
    const [next] = await here.hub.read.select().from(cloudAccounts)
    await record(here.hub, tx => finishSync(tx, here.hub, next!, half))
    expect([await ignored(), account.id]).toEqual([[], next!.id])
  })

  test('are not taken for others that use their ref again', async () => {
    const here = await world()
    const { double, create, finish, get, named } = await cloudScene(here)
    const created = (await create('web-1')).body
    await finish(created.action_id)
    const first = double.serverNamed('web-1')!
    double.console.delete(first)
    const other = double.addServer({ name: 'db-1', labels: { bailiwick: 'srv_01k3z9a1b2c3d4e5f6g7h8j9km' } })
    double.project.servers.delete(other.id)
    double.project.servers.set(first.id, Object.assign(other, { id: first.id }))
    await here.advance(120_000)
    expect(await get(created.id)).toMatchObject({ name: 'web-1', status: 'missing' })
    expect(await named('db-1')).toMatchObject({ origin: 'found', status: 'running', provider_ref: String(first.id) })
  })

  test('are not taken for guests of Proxmox that someone else created with the same VMID', async () => {
    const here = await world()
    const [cert, key] = ['pem', 'key'].map(one => readFileSync(`test/fixtures/tls/self-signed.${one}`, 'utf8')) as [
      string,
      string,
    ]
    const double = await new ProxmoxCloud({ cert, key }).start()
    closeLater(async () => double.stop())
    template(double, 9000, 'debian-12')
    for (const vmid of [200, 201, 202]) double.guest(vmid, `old-${vmid}`, { type: vmid === 201 ? 'lxc' : 'qemu' })
    const fingerprint = new X509Certificate(cert).fingerprint256
    const settings = { url: double.address, token_id: double.tokenId, token_secret: double.secret, fingerprint }
    const account = await here.acme.call('POST', '/v1/cloud-accounts', { kind: 'proxmox', name: 'pve', settings })
    await here.settle()
    const size = { cores: 1, memory_bytes: 2 ** 30, disk_bytes: 10 * 2 ** 30 }
    const order = { name: 'web-1', account_id: account.body.id, size, image: '9000' }
    const { id, action_id } = (await here.acme.call('POST', '/v1/servers', order, { 'Idempotency-Key': 'web-1' })).body
    const end = async (action: string): Promise<any> => {
      for (let tries = 0; tries < 40; tries++) {
        const { body } = await here.acme.call('GET', `/v1/actions/${action}`)
        if (body.finished_at !== null) return body
        await here.advance(3000)
      }
      throw new Error(`the action ${action} does not finish`)
    }
    expect(await end(action_id)).toMatchObject({ status: 'success' })
    await here.advance(60_000)
    const all = async () => (await here.acme.call('GET', '/v1/servers')).body.data as any[]
    const before = await all()
    const vmid = Number(before.find(one => one.id === id).provider_ref)
    // A new name or edited notes don't make another server of it.
    double.guests.get(vmid)!.config.name = 'web-one'
    double.guests.get(vmid)!.config.description = 'edited'
    double.guests.get(200)!.config.name = 'renamed'
    await here.advance(360_000)
    const named = async () => Object.fromEntries((await all()).map(one => [`${one.provider_ref} ${one.name}`, one.status]))
    expect(await named()).toEqual({
      '200 renamed': 'off',
      '201 old-201': 'off',
      '202 old-202': 'off',
      [`${vmid} web-one`]: 'running',
    })
    // Proxmox proposes the lowest free VMID, and someone else gets it.
    for (const each of [200, 201, vmid]) {
      const { type } = double.guests.get(each)!
      double.guests.delete(each)
      const net0 = 'name=eth0,bridge=vmbr0,hwaddr=BC:24:11:BB:00:02,ip=dhcp,type=veth'
      double.guest(each, `production-${each}`, { type, ...(type === 'lxc' && { config: { net0 } }) })
    }
    // Also before a reading has noticed it.
    const path = (ref: number) => `/v1/servers/${before.find(one => one.provider_ref === String(ref)).id}?at_provider=destroy`
    expect(await end((await here.acme.call('DELETE', path(200))).body.id)).toMatchObject({ result: { unchanged: true } })
    await here.advance(360_000)
    const others = Object.fromEntries([200, 201, vmid].map(one => [`${one} production-${one}`, 'off']))
    const missing = { '201 old-201': 'missing', [`${vmid} web-one`]: 'missing' }
    expect(await named()).toEqual({ ...others, ...missing, '202 old-202': 'off' })
    for (const each of [201, vmid]) expect((await here.acme.call('DELETE', path(each))).status).toBe(204)
    await here.advance(10_000)
    expect([200, 201, vmid].map(each => double.guests.get(each)!.config[each === 201 ? 'hostname' : 'name'])).toEqual(
      [200, 201, vmid].map(each => `production-${each}`),
    )
    expect(await named()).toEqual({ ...others, '202 old-202': 'off' })
  })

  test('are found by status, location, labels, and text', async () => {
    const here = await world()
    const { double } = await cloudScene(here)
    double.addServer({ name: 'web-1', labels: { role: 'web' } })
    double.console.powerOff(double.addServer({ name: 'db-1', labels: { role: 'db', env: 'test' } }))
    await here.advance(60_000)
    const listed = async (query: string) =>
      (await here.acme.call('GET', `/v1/servers?sort=name&${query}`)).body.data.map((one: any) => one.name)
    expect(await listed('status=running')).toEqual(['web-1'])
    expect(await listed('health=down')).toEqual(['db-1'])
    expect(await listed('location=fsn1')).toEqual(['db-1', 'web-1'])
    expect(await listed('label_selector=role%3Ddb,!canary')).toEqual(['db-1'])
    expect(await listed('label_selector=role!%3Ddb')).toEqual(['web-1'])
    expect(await listed('q=web')).toEqual(['web-1'])
    expect((await here.acme.call('GET', '/v1/servers?label_selector=a=b=c')).status).toBe(400)
  })
})
