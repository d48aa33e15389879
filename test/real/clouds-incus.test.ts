import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import {
  CloudError,
  type Cloud,
  type CloudFailure,
  type ServerOrder,
  type Started,
} from '../../src/features/servers/clouds/cloud'
import { incus } from '../../src/features/servers/clouds/incus/incus'
import type { IncusSettings } from '../../src/features/servers/clouds/incus/settings'
import type { PlainRule } from '../../src/features/servers/firewalls/rules'
import { measuredUsage } from '../../src/features/servers/metrics/rates'
import { cloudContract, detached } from '../support/clouds/cloud-contract'
import { IncusServer } from '../support/clouds/incus-server'
import { addressesOf, incusUnderTest, joined, size } from '../support/clouds/incus-under-test'
import { until } from '../support/binary'
import { pluginContext } from '../support/plugin-context'
import { world } from '../support/world'

describe.each(['incus', 'lxd'] as const)('%s', flavor => {
  let server: IncusServer
  let settings: IncusSettings
  let cloud: Cloud
  const context = pluginContext()
  beforeAll(async () => {
    server = await IncusServer.start(flavor)
    settings = await joined(await server.token())
    cloud = incus.open(settings, context)
  }, 180_000)
  afterAll(async () => {
    await server?.stop()
  }, 180_000)

  const errorOf = async (call: Promise<unknown>): Promise<{ failure: CloudFailure; message: string }> => {
    try {
      await call
    } catch (error) {
      if (error instanceof CloudError) return error
      throw error
    }
    throw new Error('It did not fail.')
  }
  const finish = async (at: Cloud, started: Started): Promise<string | null> => {
    if (started.state === 'done') return started.ref ?? null
    for (let operation = started.operation; ;) {
      const polled = await at.poll(operation)
      if (polled.state === 'gone') return null
      if (polled.state === 'done') return polled.ref ?? null
      operation = polled.operation
    }
  }
  const provision = async (name: string, more: Partial<ServerOrder> = {}, at = cloud): Promise<string> => {
    const base = { location: null, size, image: 'one', sshKeys: [], userData: null, labels: {}, networks: [], backups: false }
    const order = { ...base, mark: `srv_${name}`, name, ref: null, enableIpv4: true, enableIpv6: true, start: false, ...more }
    return (await finish(at, await at.start(null, { verb: 'provision', order })))!
  }
  const remove = async (ref: string, at = cloud) => await finish(at, await at.start(ref, { verb: 'delete' }))
  const configOf = async (name: string) => (await server.call('GET', `/1.0/instances/${name}`)).config as Record<string, string>

  cloudContract('the contract', () => incusUnderTest(server, settings))

  test('firewalls drop packets that no rule allows, from the moment a rule is removed', async () => {
    await server.call('POST', '/1.0/instances', { name: 'packets', source: { type: 'image', alias: 'one' }, type: 'container' })
    await server.call('PUT', '/1.0/instances/packets/state', { action: 'start', timeout: 30 })
    const seen = async () => (await cloud.find({ mark: 'srv_none', name: 'packets', ref: null }))!
    while ((await seen()).addresses.length === 0) await Bun.sleep(50)
    const { ref, addresses } = await seen()
    const { address } = addresses[0]!
    await server.cli('exec', 'packets', '--', 'httpd', '-p', '8080', '-h', '/www')
    const expectAnswers = async (...expected: [boolean, boolean]) => {
      for (const [at, port] of [80, 8080].entries())
        if (expected[at]) await until(`a page at port ${port}`, () => server.getsPage(address, port))
        else expect([port, await server.getsPage(address, port)]).toEqual([port, false])
    }
    // The guest serves its page once it has its address.
    await expectAnswers(true, true)
    const id = 'fw_00000000000000000000packet'
    const rule = { id: 'r1', direction: 'in' as const, protocol: 'tcp' as const, ports: ['80'], networks: ['10.0.0.0/8'] }
    const set = async (...rules: PlainRule[]) =>
      expect(await cloud.setFirewall!({ id, name: 'web', rules, refs: [ref], detach: [] })).toMatchObject({
        state: 'applied',
        refused: [],
      })
    await set(rule)
    await expectAnswers(true, false)
    await set({ ...rule, ports: ['8080'] })
    await expectAnswers(false, true)
    await set({ ...rule, networks: ['192.0.2.0/24'] })
    await expectAnswers(false, false)
    // Blocks come before rules, also those of other firewalls.
    const all = { ...rule, ports: ['80', '8080'], networks: ['0.0.0.0/0', '::/0'] }
    await set(all)
    await expectAnswers(true, true)
    const block = { action: 'block' as const, id: 'blocks', direction: 'in' as const, protocol: 'any' as const, ports: [] }
    const blocking = { id: 'fw_000000000000000000000block', name: 'blocks', refs: [ref], detach: [] }
    const setBlocks = async (...networks: string[]) =>
      expect(await cloud.setFirewall!({ ...blocking, rules: [{ ...block, networks }] })).toMatchObject({ refused: [] })
    await setBlocks('10.0.0.0/8')
    await expectAnswers(false, false)
    await setBlocks('192.0.2.0/24')
    await expectAnswers(true, true)
    await set(all, { ...block, networks: ['10.0.0.0/8'] })
    await expectAnswers(false, false)
    const [read] = (await cloud.readFirewalls!([{ id, refs: [ref] }])).firewalls
    expect(read!.rules).toContainEqual({ ...block, networks: ['10.0.0.0/8'] })
    await set(all)
    await expectAnswers(true, true)
    expect(await cloud.removeFirewall!(blocking.id, [{ ref, hasOthers: true }])).toEqual({ state: 'applied' })
    expect(await cloud.removeFirewall!(id, [detached(ref)])).toEqual({ state: 'applied' })
    await expectAnswers(true, true)
  }, 180_000)

  test('what others changed since it was read is not overwritten', async () => {
    const ref = await provision('raced', { start: true })
    const raced = pluginContext()
    const { request } = raced
    const sent: string[] = []
    raced.request = async (one, limits) => {
      const path = new URL(one.url).pathname
      const isChange = one.method === 'PATCH' && (path === '/1.0/instances/raced' || path.startsWith('/1.0/networks/'))
      if (isChange && !sent.includes(path)) await server.call('PATCH', path, { config: { 'user.raced': 'true' } })
      if (isChange) sent.push(path)
      const response = await request(one, limits)
      if (isChange) sent.push(String(response.status))
      return response
    }
    const at = incus.open(settings, raced)
    const id = 'fw_000000000000000000000raced'
    const all = (await cloud.list()).servers.map(one => one.ref)
    const { refused } = await at.setFirewall!({ id, name: 'web', rules: [], refs: all, detach: [] })
    expect(refused.filter(one => one.ref === ref)).toEqual([])
    // The host may only filter the network.
    const paths = [...new Set(sent.filter(one => one.startsWith('/')))]
    for (const path of paths) {
      const tries = sent.flatMap((one, n) => (one === path ? [sent[n + 1]] : []))
      expect([path, tries[0], tries.length]).toEqual([path, '412', 2])
      expect((await server.call('GET', path)).config['user.raced']).toBe('true')
    }
    expect(paths.length).toBeGreaterThan(0)
    expect(await at.removeFirewall!(id, all.map(detached))).toEqual({ state: 'applied' })
    await remove(ref)
  }, 180_000)

  test('identifies itself', async () => {
    const version = flavor === 'incus' ? /^Incus 6\.0\.\d+ on / : /^LXD 5\.0\.\d+ on /
    expect((await cloud.check()).detail).toMatch(version)
  })

  test('a trust token works once, and tries the addresses in it', async () => {
    const token = await server.token('again')
    const content = JSON.parse(Buffer.from(token, 'base64').toString())
    const withAddresses = (addresses: string[], more = {}) =>
      Buffer.from(JSON.stringify({ ...content, ...more, addresses })).toString('base64')
    const nowhere = withAddresses(['127.0.0.1:9'])
    expect(await errorOf(joined(nowhere))).toMatchObject({
      failure: 'unreachable',
      message: expect.stringContaining('127.0.0.1:9'),
    })
    const impostor = withAddresses(content.addresses, { fingerprint: 'ab'.repeat(32) })
    const { failure, message } = await errorOf(joined(impostor))
    expect([failure, message]).toEqual(['unreachable', expect.stringContaining(content.fingerprint)])
    expect(message).toContain('ab'.repeat(32))
    // The server compares the whole token.
    const { url, fingerprint } = await joined(token, { url: 'https://127.0.0.1:9' })
    expect([url, fingerprint]).toEqual([server.url, content.fingerprint])
    const used = await errorOf(joined(token))
    expect([used.failure, used.message]).toEqual(['unauthorized', expect.stringContaining('was used before')])
  })

  test('a trust token is exchanged even if the response is lost', async () => {
    const token = await server.token('lost')
    const losing = pluginContext()
    const { request } = losing
    losing.request = async (sent, limits) => {
      const response = await request(sent, limits)
      return sent.method === 'POST' ? { ...response, body: new Uint8Array(0) } : response
    }
    const stored = await joined(token, {}, losing)
    expect((await incus.open(stored, context).check()).warnings).toEqual([])
  })

  test('a new trust token replaces what is stored for another certificate', async () => {
    const stale = { ...settings, fingerprint: 'ef'.repeat(32) }
    const replaced = await joined(await server.token('renewed'), stale)
    expect(replaced).toMatchObject({ url: settings.url, fingerprint: settings.fingerprint })
    expect(replaced.client_certificate).not.toBe(settings.client_certificate)
    expect((await incus.open(replaced, context).check()).warnings).toEqual([])
    // The client is trusted already, so the token isn’t used.
    const unused = await server.token('unused')
    expect((await joined(unused, replaced)).client_certificate).toBe(replaced.client_certificate!)
    expect((await joined(unused)).fingerprint).toBe(settings.fingerprint!)
  })

  test('an unused trust token can be checked without using it', async () => {
    const trust_token = await server.token('checked')
    for (let times = 0; times < 2; times++)
      expect((await incus.open({ trust_token }, context).check()).detail).toStartWith(server.url)
    expect((await joined(trust_token)).url).toBe(server.url)
  })

  test('only the pinned certificate and a trusted client are accepted', async () => {
    const changed = incus.open({ ...settings, fingerprint: 'cd'.repeat(32) }, context)
    const { failure, message } = await errorOf(changed.list())
    expect(failure).toBe('unreachable')
    expect(message).toContain(settings.fingerprint!)
    expect(message).toContain('cd'.repeat(32))
    const { fingerprint: pinned, ...unpinned } = settings
    const rejected = await errorOf(incus.open(unpinned, context).check())
    expect([rejected.failure, rejected.message]).toEqual(['unreachable', expect.stringContaining(pinned!)])
    const removed = await joined(await server.token('removed'))
    for (const { fingerprint, name } of await server.call('GET', '/1.0/certificates?recursion=1'))
      if (name === 'removed') await server.call('DELETE', `/1.0/certificates/${fingerprint}`)
    expect((await errorOf(incus.open(removed, context).check())).failure).toBe('unauthorized')
  })

  test('a client can be restricted to a project', async () => {
    await server.call('POST', '/1.0/projects', {
      name: 'team',
      config: { 'features.images': 'false', 'features.profiles': 'false' },
    })
    const restricted = await server.cli(
      ...['config', 'trust', 'add', ...(flavor === 'lxd' ? ['--name'] : []), 'team', '--restricted', '--projects', 'team'],
    )
    const stored = await joined(restricted.trim().split('\n').at(-1)!, { project: 'team' })
    const team = incus.open(stored, context)
    expect(await team.check()).toEqual({ detail: expect.stringContaining('project team'), warnings: [] })
    expect((await team.list()).servers).toEqual([])
    const ref = await provision('in-team', { start: true }, team)
    expect((await team.list()).servers.map(one => [one.ref, one.name, one.status])).toEqual([[ref, 'in-team', 'running']])
    expect((await cloud.list()).servers.map(one => one.name)).not.toContain('in-team')
    await remove(ref, team)
    for (const call of ['list', 'check', 'catalog'] as const)
      expect([call, (await errorOf(incus.open({ ...stored, project: 'default' }, context)[call]())).failure]).toEqual([
        call,
        'unauthorized',
      ])
    await server.call('DELETE', '/1.0/projects/team')
    // An empty list would look as if all servers had been deleted.
    for (const gone of [team, incus.open({ ...settings, project: 'team' }, context)])
      expect((await errorOf(gone.list())).failure).toBeOneOf(['refused', 'unauthorized'])
  })

  test('what new servers need is checked', async () => {
    const wrong = { profiles: ['default', 'absent'], storage_pool: 'absent', network: 'absent' }
    const { warnings } = await incus.open({ ...settings, ...wrong }, context).check()
    expect(warnings).toEqual([
      expect.stringContaining('profile absent'),
      expect.stringContaining('storage pool absent'),
      expect.stringContaining('network absent'),
    ])
    for (const [member, value] of Object.entries(wrong)) {
      const call = provision('wrong', {}, incus.open({ ...settings, [member]: value }, context))
      expect([member, (await errorOf(call)).failure]).toEqual([member, 'not_found'])
    }
  })

  test('addresses appear, and cloud-init gets keys and user data', async () => {
    const sshKeys = [{ name: 'alice', publicKey: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAAA alice' }]
    const userData = '#cloud-config\npackages: [htop]\n'
    const ref = await provision('addressed', { start: true, networks: ['bwbr0'], sshKeys, userData, labels: { role: 'web' } })
    expect(await configOf('addressed')).toMatchObject({
      'user.bailiwick.server': 'srv_addressed',
      'user.bailiwick.label.role': 'web',
      'cloud-init.user-data': userData,
      'cloud-init.vendor-data': expect.stringContaining(sshKeys[0]!.publicKey),
    })
    const addresses = await addressesOf(cloud, ref)
    expect(addresses).toEqual([{ address: expect.stringMatching(/^10\.87\.0\.\d+$/), family: 4, scope: 'private', ptr: null }])
    expect((await cloud.catalog()).networks).toEqual([{ ref: 'bwbr0', title: 'bwbr0', cidrs: ['10.87.0.0/24'], location: null }])
    expect((await cloud.list()).servers.find(one => one.ref === ref)?.addresses).toEqual(addresses)
    await remove(ref)
  }, 180_000)

  test('a busy guest uses CPU, and what it sends and receives is counted', async () => {
    const ref = await provision('busy', { start: true })
    await addressesOf(cloud, ref)
    const used = async () => ({ at: Date.now(), usage: (await cloud.list()).usage!.get(ref)! })
    const before = await used()
    expect(before.usage.received).toBeGreaterThan(0)
    expect(before.usage.memoryBytes).toBeGreaterThan(0)
    const loop = ['sh', '-c', 'end=$(($(date +%s) + 5)); while [ $(date +%s) -lt $end ]; do :; done']
    await server.call('POST', '/1.0/instances/busy/exec', { command: loop, 'wait-for-websocket': false, interactive: false })
    const measured = measuredUsage(await used(), before)
    expect(measured.get('cpu.used_percent')).toBeGreaterThan(5)
    expect(measured.get('network.received_bytes_per_second')).toBeGreaterThanOrEqual(0)
    await finish(cloud, await cloud.start(ref, { verb: 'power_off' }))
    expect((await cloud.list()).usage!.has(ref)).toBe(false)
    await remove(ref)
  }, 180_000)

  test('a copy is not mistaken for the server that it was copied from', async () => {
    const ref = await provision('original')
    await server.call('POST', '/1.0/instances', {
      name: 'copy',
      profiles: ['default'],
      source: { type: 'copy', source: 'original' },
    })
    const { servers } = await cloud.list()
    const both = servers.filter(one => one.name === 'copy' || one.name === 'original')
    expect(both.map(one => [one.name, one.mark]).sort()).toEqual([
      ['copy', null],
      ['original', 'srv_original'],
    ])
    expect((await cloud.find({ mark: 'srv_original', name: 'x', ref: null }))?.ref).toBe(ref)
    for (const one of both) await remove(one.ref)
  })

  test('a guest that does not shut down in time is reported, or switched off', async () => {
    const ref = await provision('stubborn')
    // A signal that guests ignore.
    await server.call('PATCH', '/1.0/instances/stubborn', { config: { 'raw.lxc': 'lxc.signal.halt=SIGWINCH' } })
    await finish(cloud, await cloud.start(ref, { verb: 'power_on' }))
    const shutdown = async (thenForce: boolean) =>
      await finish(cloud, await cloud.start(ref, { verb: 'shutdown', timeoutSeconds: 1, thenForce }))
    expect((await errorOf(shutdown(false))).failure).toBe('timeout')
    expect((await cloud.get(ref))?.status).toBe('running')
    await shutdown(true)
    expect((await cloud.get(ref))?.status).toBe('off')
    await remove(ref)
  }, 180_000)

  test('what is impossible while a server runs is reported', async () => {
    const ref = await provision('busy', { start: true })
    if (flavor === 'incus') {
      const renamed = cloud.start(ref, { verb: 'rename', name: 'renamed' })
      expect((await errorOf(renamed)).failure).toBe('invalid')
      const rebuilt = cloud.start(ref, { verb: 'rebuild', image: 'two', userData: null })
      expect((await errorOf(rebuilt)).failure).toBe('invalid')
    }
    await finish(cloud, await cloud.start(ref, { verb: 'power_off' }))
    for (const verb of ['reboot', 'power_cycle', 'suspend', 'resume'] as const)
      expect([verb, (await errorOf(cloud.start(ref, { verb }))).failure]).toEqual([verb, 'invalid'])
    await remove(ref)
  }, 180_000)

  test('root disks have a size where the storage pool has quotas, and only grow', async () => {
    await server.call('POST', '/1.0/storage-pools', { name: 'quotas', driver: 'btrfs', config: { size: '1GiB' } })
    const at = incus.open({ ...settings, storage_pool: 'quotas' }, context)
    const disk = 64 * 2 ** 20
    const ref = await provision('sized', { size: { ...size, diskBytes: disk } }, at)
    const resize = async (diskBytes: number, upgradeDisk = true) =>
      await finish(at, await at.start(ref, { verb: 'resize', size: { ...size, diskBytes }, upgradeDisk }))
    expect((await at.get(ref))?.resources.diskBytes).toBe(disk)
    await resize(2 * disk, false)
    expect((await at.get(ref))?.resources.diskBytes).toBe(disk)
    await resize(2 * disk)
    expect((await at.get(ref))?.resources.diskBytes).toBe(2 * disk)
    expect((await errorOf(resize(disk))).failure).toBe('invalid')
    await remove(ref, at)
    await server.call('DELETE', '/1.0/storage-pools/quotas')
  }, 180_000)

  test('volumes with quotas are full in the guest, take more after they grow, and stay while they are attached', async () => {
    const mebibyte = 2 ** 20
    await server.call('POST', '/1.0/storage-pools', { name: 'volumes', driver: 'btrfs', config: { size: '1GiB' } })
    const at = incus.open({ ...settings, storage_pool: 'volumes' }, context)
    const volumes = at.volumes!
    const guest = await provision('quota', { start: true }, at)
    const order = { mark: 'vol_quota', name: 'data', sizeBytes: 32 * mebibyte, location: null, format: null, labels: {} }
    await finish(at, await volumes.start(null, { verb: 'create', order }))
    const { ref } = (await volumes.find(order, null))!
    await finish(at, await volumes.start(ref, { verb: 'attach', serverRef: guest, mountPath: '/srv/data' }))
    const inGuest = (script: string) => server.cli('exec', 'quota', '--', '/bin/busybox', 'sh', '-c', script)
    const write = (file: string, count: number) =>
      inGuest(`dd if=/dev/urandom of=/srv/data/${file} bs=1M count=${count} && sync /srv/data/${file}`).then(
        () => 'written',
        (error: Error) => error.message,
      )
    expect(await write('small', 8)).toBe('written')
    expect(await write('large', 40)).toMatch(/quota exceeded|no space left/i)
    await inGuest('rm /srv/data/large; sync')
    expect((await errorOf(volumes.start(ref, { verb: 'delete' }))).failure).toBe('invalid')
    await finish(at, await volumes.start(ref, { verb: 'resize', sizeBytes: 96 * mebibyte }))
    expect(await write('large', 40)).toBe('written')
    await remove(guest, at)
    await finish(at, await volumes.start(ref, { verb: 'delete' }))
    await server.call('DELETE', '/1.0/storage-pools/volumes')
  }, 180_000)

  test('a guest that switches itself off is reported within 35 seconds, and one that is deleted is missing after the next reading', async () => {
    const here = await world()
    const names = ['leaving', 'staying']
    for (const name of names) await provision(name, { start: true })
    await here.acme.call('POST', '/v1/cloud-accounts', { kind: 'incus', name: 'Rack', settings })
    await here.settle()
    const named = async (name: string) => (await here.acme.call('GET', `/v1/servers?q=${name}`)).body.data[0]
    const statuses = () => Promise.all(names.map(async name => (await named(name)).status))
    expect(await statuses()).toEqual(['running', 'running'])
    await here.emitted()

    // The guest takes the client's connection with it.
    await server.cli('exec', 'leaving', '--', 'poweroff', '-f').catch(() => {})
    // Before it is done with that, Incus reports several statuses in turn.
    await until('the end of the guest', async () => {
      const [stored, read] = await Promise.all([1, 2].map(depth => server.call('GET', `/1.0/instances?recursion=${depth}`)))
      const of = (rows: any[]) => rows.find(one => one.name === 'leaving')
      return of(stored).config['volatile.last_state.power'] === 'STOPPED' && of(read).status === 'Stopped'
    })
    expect(await here.emitted()).toEqual([])
    await here.advance(35_000)
    expect([await statuses(), await here.emitted()]).toEqual([['off', 'running'], ['server.status_changed']])
    const [event] = (await here.acme.call('GET', '/v1/events')).body.data
    const { id } = await named('leaving')
    const changed = { server: { id, name: 'leaving', kind: 'container' }, status: 'down', power: 'off', source: 'cloud' }
    expect(event).toMatchObject({ kind: 'server.status_changed', data: changed })

    // LXD may still be busy with its end.
    await until('the deletion', () =>
      server.call('DELETE', '/1.0/instances/leaving').then(
        () => true,
        () => false,
      ),
    )
    await here.advance(incus.syncSeconds * 1000)
    expect([await statuses(), await here.emitted()]).toEqual([['missing', 'running'], []])
    await remove((await named('staying')).provider_ref)
  }, 180_000)

  test('an operation that the server has forgotten continues with the next step', async () => {
    const ref = await provision('forgotten')
    const id = '6ef3d5ee-0000-4000-8000-000000000000'
    expect(await cloud.poll({ id, name: 'forgotten' })).toEqual({ state: 'gone' })
    const created = { id, name: 'forgotten', next: 'start', mark: 'srv_forgotten' }
    expect(await finish(cloud, { state: 'running', operation: created })).toBe(ref)
    expect((await cloud.get(ref))?.status).toBe('running')
    expect((await errorOf(cloud.poll({ ...created, mark: 'srv_other' }))).failure).toBe('already_exists')
    expect(await cloud.poll({ ...created, name: 'absent' })).toEqual({ state: 'gone' })
    await remove(ref)
    expect(await cloud.poll({ id, name: 'forgotten', next: 'delete' })).toEqual({ state: 'done' })
  })
})
