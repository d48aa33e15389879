import { describe, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { actions } from '../../src/features/actions/tables'
import { servers } from '../../src/features/servers/tables'
import { finishSync, syncAccount } from '../../src/features/servers/accounts/sync'
import { cloudAccounts } from '../../src/features/servers/accounts/tables'
import { watchServers } from '../../src/features/servers/watch'
import { cloudScene } from '../support/clouds/cloud-scene'
import { incusScene } from '../support/clouds/incus-scene'
import { ProxmoxCloud } from '../support/clouds/proxmox-cloud'
import { template } from '../support/clouds/proxmox-under-test'
import { sshKeys } from '../support/ssh-keys'
import { say, watched } from '../support/watched-monitors'
import { callerWith, closeLater, world } from '../support/world'

const pointers = (answer: { status: number; body: any }) => [answer.status, answer.body.errors?.map((one: any) => one.pointer)]

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
  }, 30_000)

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
  }, 30_000)

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
    expect(incomplete.body.errors[0].detail).toBe('The draft can’t be created. `size`: is required to create a server.')
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

  test('can be added without a cloud account', async () => {
    const here = await world()
    const call = (body: object) => here.acme.call('POST', '/v1/servers', body, { 'Idempotency-Key': JSON.stringify(body) })
    const added = await call({ name: 'nas', kind: 'bare_metal', location: 'Basement', addresses: ['fd00::1', '192.0.2.7'] })
    expect(added.status).toBe(201)
    expect(added.body).toMatchObject({
      origin: 'added',
      status: 'unknown',
      location: 'Basement',
      actions: [],
      addresses: [{ address: '192.0.2.7' }, { address: 'fd00::1', family: 6, scope: 'private' }],
    })
    expect(pointers(await call({ name: 'nas2', size: 'cx22', addresses: ['192.0.2.0/24'] }))).toEqual([
      422,
      ['#/size', '#/addresses/0'],
    ])
    const act = await here.acme.call('POST', `/v1/servers/${added.body.id}/actions`, { action: 'power-on' })
    expect([act.status, act.body.code]).toEqual([422, 'unsupported_action'])
    expect((await here.acme.call('DELETE', `/v1/servers/${added.body.id}`)).status).toBe(204)
  })
})

describe('actions on a server', () => {
  test('switch it off and on, which its events say at once', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    const off = await act(id, 'power-off')
    expect(off.status).toBe(202)
    expect(await get(id)).toMatchObject({ status: 'stopping', health: 'up', action_id: off.body.id, actions: [] })
    await finish(off.body.id)
    expect(await get(id)).toMatchObject({ status: 'off', health: 'down', power: 'off' })
    const [event] = (await here.acme.call('GET', '/v1/events')).body.data
    expect(event.data).toMatchObject({ status: 'down', source: 'action' })
    const again = await act(id, 'power_off')
    expect(again.body).toMatchObject({ status: 'success', result: { unchanged: true } })
    const on = await act(id, 'power_on')
    await finish(on.body.id)
    expect(await get(id)).toMatchObject({ status: 'running', health: 'up' })
    expect(await here.emitted()).toEqual(['server.status_changed', 'server.status_changed'])
    const reboot = await act(id, 'reboot')
    await finish(reboot.body.id)
    expect(await here.emitted()).toEqual([])
  })

  test('wait if the caller prefers, and are refused for what is impossible', async () => {
    const here = await world()
    const { double, act, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    const impossible = await act(id, 'power_on', {})
    expect(impossible.body.result).toEqual({ unchanged: true })
    const resized = await act(id, 'resize', { size: 'cx32', max_monthly_price: '20', currency: 'EUR' })
    expect([resized.status, resized.body.code, resized.body.detail]).toEqual([
      409,
      'conflict',
      'The server is running, so the action resize is not possible now.',
    ])
    expect(pointers(await act(id, 'reboot', { hard: true }))).toEqual([422, ['#/params/hard']])
    expect(pointers(await act(id, 'shutdown', { timeout_seconds: 1 }))).toEqual([422, ['#/params/timeout_seconds']])
    const unknown = await act(id, 'explode')
    expect([unknown.status, unknown.body.code]).toEqual([422, 'unsupported_action'])
    expect(unknown.body.supported).toContain('power_cycle')
  })

  test('rename, resize, and protect it, and delete it at the cloud', async () => {
    const here = await world()
    const { double, act, finish, get, named, refresh } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id, price } = await named('web-1')
    await finish((await act(id, 'rename', { name: 'web-one' })).body.id)
    expect(double.serverNamed('web-one')).toBeDefined()
    expect((await get(id)).name).toBe('web-one')
    await finish((await act(id, 'power_off')).body.id)
    const before = Number(price.monthly)
    const resize = await finish((await act(id, 'resize', { size: 'cx32', max_monthly_price: '50', currency: 'EUR' })).body.id)
    expect(resize.status).toBe('success')
    const resized = await get(id)
    expect(resized.size.slug).toBe('cx32')
    expect(Number(resized.price.monthly)).toBeGreaterThan(before)
    await finish((await act(id, 'set_protection', { delete: true, rebuild: true })).body.id)
    expect((await get(id)).protection).toEqual({ delete: true, rebuild: true })
    const refused = await here.acme.call('DELETE', `/v1/servers/${id}?at_provider=destroy`)
    expect([refused.status, refused.body.code]).toEqual([409, 'protected'])
    await finish((await act(id, 'set_protection', { delete: false, rebuild: false })).body.id)
    expect(pointers(await here.acme.call('DELETE', `/v1/servers/${id}`))).toEqual([422, ['#/query/at_provider']])
    const deletion = await here.acme.call('DELETE', `/v1/servers/${id}?at_provider=destroy`)
    expect(deletion.status).toBe(202)
    expect((await finish(deletion.body.id)).status).toBe('success')
    expect(double.project.servers.size).toBe(0)
    expect(await get(id)).toMatchObject({ status: 'deleted', price: { monthly: null } })
    expect((await here.acme.call('GET', '/v1/servers')).body.data).toEqual([])
    expect((await refresh()).committed.monthly).toBe('0.00')
  })

  test('only remove it here if that is wanted, and it is not added again', async () => {
    const here = await world()
    const { double, named, refresh } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    expect((await here.acme.call('DELETE', `/v1/servers/${id}?at_provider=keep`)).status).toBe(204)
    await here.advance(180_000)
    expect((await here.acme.call('GET', '/v1/servers')).body.data).toEqual([])
    expect((await refresh()).counts).toEqual({ servers: 0, unclaimed: 1 })
    expect(double.project.servers.size).toBe(1)
  })

  test('do not fail because of a response that was cut off or is not of the cloud', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    const broken = [
      { status: 404, body: '{"error":{"code":"not_f' },
      { status: 200, body: '<html>Welcome</html>' },
      { status: 404, body: '<html>Not Found</html>' },
    ]
    let isSent = false
    double.fault = ({ path, method }) => {
      isSent ||= method === 'DELETE'
      const raw = isSent && method === 'GET' && /^\/(?:servers\/\d+|actions)$/.test(path) ? broken.shift() : undefined
      return raw ? { raw } : null
    }
    expect((await finish((await act(id, 'delete')).body.id)).status).toBe('success')
    expect(broken).toEqual([])
    expect(double.project.servers.size).toBe(0)
    expect(await get(id)).toMatchObject({ status: 'deleted' })
  })

  test('retry while the cloud is busy or limits requests, and fail with its reason', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    let refusals = 3
    double.fault = request =>
      request.method === 'POST' && refusals-- > 0 ? { status: 423, code: 'locked', message: 'item is locked' } : null
    expect((await finish((await act(id, 'power_off')).body.id)).status).toBe('success')
    double.fault = request =>
      request.method === 'POST' ? { status: 422, code: 'invalid_input', message: 'that is not possible' } : null
    const failed = await finish((await act(id, 'power_on')).body.id)
    expect(failed).toMatchObject({ status: 'error', error: { code: 'provider_failed' } })
    expect(failed.error.detail).toContain('that is not possible')
    expect(await get(id)).toMatchObject({ status: 'off', action_id: null })
  })
})

test('bound monitors tell whether a server is up', async () => {
  const here = await world()
  const { double, get, named } = await cloudScene(here)
  double.addServer({ name: 'web-1' })
  await here.advance(60_000)
  const { id } = await named('web-1')
  const monitor = (await here.acme.call('POST', '/v1/monitors', { name: 'Site', target: 'https://example.com/' })).body
  const theirs = (await here.rival.call('POST', '/v1/monitors', { name: 'Site', target: 'https://example.com/' })).body
  expect(pointers(await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [theirs.id] }))).toEqual([
    422,
    ['#/health_monitor_ids/0'],
  ])
  expect((await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [monitor.id] })).status).toBe(200)
  expect(await get(id)).toMatchObject({ health: 'up', status: 'running' })
})

describe('the health of a server', () => {
  test('is concluded from what its cloud reports once an action is long enough ago', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    const web = double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    await finish((await act(id, 'reboot')).body.id)
    double.console.powerOff(web)
    await here.advance(65_000)
    await watchServers(here.hub)
    expect(await get(id)).toMatchObject({ status: 'off', health: 'up' })
    await here.advance(180_000)
    await watchServers(here.hub)
    expect(await get(id)).toMatchObject({ status: 'off', health: 'down' })
    expect(await here.emitted()).toEqual(['server.status_changed'])
  })

  test('is unknown as soon as it is deleted', async () => {
    const here = await world()
    const { double, act, finish, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    await finish((await act(id, 'delete')).body.id)
    expect(await get(id)).toMatchObject({ status: 'deleted', health: 'unknown', health_reason: 'The server was deleted.' })
    expect(await here.emitted()).toEqual([])
  })

  test('does not change because the hub was down for an hour', async () => {
    const here = await world()
    const { double, get, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    double.console.powerOff(double.addServer({ name: 'db-1' }))
    await here.advance(60_000)
    const before = [await named('web-1'), await named('db-1')]
    await here.emitted()
    await here.audited()
    here.clock.jump(3_600_000)
    await watchServers(here.hub)
    for (const one of before) expect(await get(one.id)).toMatchObject({ status: one.status, health: one.health })
    await here.advance(60_000)
    for (const one of before)
      expect(await get(one.id)).toMatchObject({ health: one.health, health_since_at: one.health_since_at })
    expect(await here.emitted()).toEqual([])
    expect(await here.audited()).toEqual([])
    expect((await here.acme.call('GET', '/v1/notices')).body.data).toEqual([])
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

test('monitors that are still up do not contradict a server that was switched off', async () => {
  const here = await world()
  const { double, act, finish, get, named } = await cloudScene(here)
  double.addServer({ name: 'web-1' })
  await here.advance(60_000)
  const { id } = await named('web-1')
  const monitor = await watched(here, { name: 'Site' })
  await say(here, monitor, { status: 'up' })
  await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [monitor] })
  expect(await get(id)).toMatchObject({ health: 'up', health_reason: 'A monitor of the server is up.' })
  await here.emitted()
  await finish((await act(id, 'power_off')).body.id)
  await watchServers(here.hub)
  expect((await get(id)).health).toBe('down')
  expect(await here.emitted()).toEqual(['server.status_changed'])
  await here.acme.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [] })
  await finish((await act(id, 'power_on')).body.id)
  expect(await get(id)).toMatchObject({ health: 'up', health_reason: 'The cloud reports the status running.' })
})

describe('what must never happen', () => {
  test('private keys and user data are stored nowhere in plain text', async () => {
    const here = await world()
    const { double, create, act, finish, named } = await cloudScene(here)
    const privateKey = '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----'
    const draft = { provision: false, ssh_keys: [privateKey] }
    expect(pointers(await create('web-1', draft))).toEqual([422, ['#/ssh_keys/0']])
    const { id } = (await create('web-2', { provision: false })).body
    expect(pointers(await here.acme.call('PATCH', `/v1/servers/${id}`, { ssh_keys: [privateKey] }))).toEqual([
      422,
      ['#/ssh_keys/0'],
    ])
    double.addServer({ name: 'web-3' })
    await here.advance(60_000)
    const found = await named('web-3')
    const rebuild = await act(found.id, 'rebuild', { image: 'debian-12', user_data: '#cloud-config secret-4711' })
    await finish(rebuild.body.id)
    expect(double.requests.some(one => JSON.stringify(one.body ?? null).includes('secret-4711'))).toBe(true)
    const stored = JSON.stringify([await here.hub.read.select().from(actions), await here.hub.read.select().from(servers)])
    expect(stored).not.toContain('secret-4711')
    expect(stored).not.toContain('PRIVATE KEY')
    const tooLong = await act(found.id, 'rebuild', { image: 'debian-12', user_data: 'ü'.repeat(20_000) })
    expect(pointers(tooLong)).toEqual([422, ['#/params/user_data']])
    expect(pointers(await act(found.id, 'rebuild', { image: 'windows' }))).toEqual([422, ['#/params/image']])
    expect(pointers(await act(found.id, 'rename', { name: 'not valid!' }))).toEqual([422, ['#/params/name']])
  })

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

  test('a request that can’t wait fails after it bought something', async () => {
    const here = await world()
    const { create } = await cloudScene(here)
    const one = (await create('web-1')).body
    const busy = await here.acme.call('POST', `/v1/servers/${one.id}/actions`, { action: 'delete' })
    expect([busy.status, busy.body.code, busy.body.holder]).toEqual([409, 'resource_locked', one.action_id])
  })

  test('tokens that are restricted to a server learn about monitors', async () => {
    const here = await world()
    const { double, named } = await cloudScene(here)
    double.addServer({ name: 'web-1' })
    await here.advance(60_000)
    const { id } = await named('web-1')
    const monitor = await watched(here, { name: 'Secret customer' })
    const token = (await here.acme.call('POST', '/v1/tokens', { name: 'narrow', mode: 'full', resource_ids: [id] })).body.token
    const narrow = callerWith(here.app, here.acme.workspaceId, token)
    expect(pointers(await narrow.call('PATCH', `/v1/servers/${id}`, { health_monitor_ids: [monitor] }))).toEqual([
      422,
      ['#/health_monitor_ids/0'],
    ])
  })
})
