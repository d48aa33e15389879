import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { mayHaveApplied } from '../../src/adapters/failure'
import {
  CloudError,
  type Cloud,
  type Operation,
  type ServerCommand,
  type ServerOrder,
  type Started,
} from '../../src/features/servers/clouds/cloud'
import { hetzner } from '../../src/features/servers/clouds/hetzner/hetzner'
import { cloudContract } from '../support/clouds/cloud-contract'
import { createNetwork, createSshKey } from '../support/clouds/hetzner-catalog-routes'
import { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { hetznerUnderTest, opened, publicKey } from '../support/clouds/hetzner-under-test'
import { ManualClock } from '../support/manual-clock'

const doubles: HetznerCloudDouble[] = []
afterAll(() => doubles.forEach(one => one.stop()))

async function started(clock?: ManualClock): Promise<HetznerCloudDouble> {
  const double = await new HetznerCloudDouble(clock).start()
  doubles.push(double)
  return double
}

cloudContract('hetzner', async () => hetznerUnderTest(await started()))

describe('hetzner, in addition to the contract', () => {
  let double: HetznerCloudDouble
  let clock: ManualClock
  let cloud: Cloud

  beforeEach(async () => {
    clock = new ManualClock()
    double = await started(clock)
    cloud = opened(double)
  })

  const order = (more: Partial<ServerOrder> = {}): ServerOrder => ({
    ...{ mark: 'srv_1', name: 'web-1', ref: null, location: 'fsn1', size: { slug: 'cx22' }, image: 'debian-12' },
    ...{ sshKeys: [{ name: 'laptop', publicKey }], userData: null, labels: {}, networks: [], start: true },
    ...{ enableIpv4: true, enableIpv6: true, backups: false },
    ...more,
  })
  const provision = (more: Partial<ServerOrder> = {}) => cloud.start(null, { verb: 'provision', order: order(more) })
  /** Polls until the end, which comes as soon as there is another request. */
  const finish = async (begun: Started): Promise<string | undefined> => {
    for (let operation = begun.state === 'running' ? begun.operation : null; operation;) {
      const polled = await cloud.poll(operation)
      operation = polled.state === 'running' ? polled.operation : null
    }
    return begun.ref
  }
  const made = async (more: Partial<ServerOrder> = {}) => (await finish(await provision(more)))!
  const run = async (ref: string, command: ServerCommand) => await finish(await cloud.start(ref, command))
  const errorOf = async (call: Promise<unknown>): Promise<CloudError> => {
    const error = await call.then(
      () => null,
      (one: unknown) => one,
    )
    if (!(error instanceof CloudError)) throw new Error(`not a CloudError: ${Bun.inspect(error)}`)
    return error
  }
  const failureOf = async (call: Promise<unknown>) => {
    const error = await errorOf(call)
    return [error.failure, mayHaveApplied(error), error.message]
  }
  const requests = () => double.requests.map(one => `${one.method} ${one.path}`)
  const changes = () => requests().filter(one => !one.startsWith('GET'))
  const operationOf = (begun: Started): Operation => {
    if (begun.state !== 'running') throw new Error('It is done.')
    return begun.operation
  }

  describe('a reading', () => {
    const fill = (count: number) => {
      for (let at = 1; at <= count; at++) double.addServer({ name: `web-${at}` })
    }

    test.each([
      [1000, 20],
      [2001, 41],
    ])('of %p servers reads each page once, in order', async (count, pages) => {
      fill(count)
      const { servers, rate } = await cloud.list()
      expect(servers.map(one => one.name)).toEqual(Array.from({ length: count }, (_, at) => `web-${at + 1}`))
      expect(double.requests.map(one => one.query.toString())).toEqual(
        Array.from({ length: pages }, (_, at) => `sort=id&page=${at + 1}&per_page=50`),
      )
      expect(rate).toEqual({ limit: 3600, remaining: 3600 - pages, resetsAt: clock.now() + pages * 1000 })
    })

    test('during which the number of servers changes is incomplete', async () => {
      fill(120)
      const [first] = double.project.servers.values()
      double.beforePage = page => void (page === 2 && double.console.delete(first!))
      expect((await failureOf(cloud.list()))[0]).toBe('incomplete')
      double.beforePage = page => void (page === 3 && double.addServer({ name: 'new' }))
      expect((await failureOf(cloud.list()))[0]).toBe('incomplete')
    })

    test('can miss a server that moved to a page that was read, which then still exists', async () => {
      fill(120)
      const [first] = double.project.servers.values()
      double.beforePage = page => {
        if (page !== 2) return
        double.console.delete(first!)
        double.addServer({ name: 'new' })
      }
      const names = (await cloud.list()).servers.map(one => one.name)
      expect([names.length, new Set(names).size, names.includes('web-51'), names.includes('new')]).toEqual([
        120,
        120,
        false,
        true,
      ])
      expect(await cloud.get(String(double.serverNamed('web-51')!.id))).toMatchObject({ name: 'web-51' })
    })

    test('has addresses, labels without the mark, and sizes in octets', async () => {
      const network = createNetwork(double.project, {
        ...{ name: 'backend', ip_range: '10.0.0.0/16' },
        subnets: [{ type: 'cloud', network_zone: 'eu-central', ip_range: '10.0.1.0/24' }],
      })
      const ref = await made({
        labels: { role: 'web' },
        networks: [String(network.id)],
        backups: true,
        userData: '#cloud-config',
      })
      const there = double.serverNamed('web-1')!
      expect(await cloud.get(ref)).toEqual({
        ...{
          ref: String(there.id),
          identity: null,
          name: 'web-1',
          kind: 'vm',
          status: 'running',
          statusText: 'running',
          power: 'on',
        },
        ...{ location: 'fsn1', size: 'cx22', image: 'debian-12' },
        resources: { cores: 2, memoryBytes: 4 * 1024 ** 3, diskBytes: 40 * 1024 ** 3 },
        addresses: [
          { address: there.ipv4!.ip, family: 4, scope: 'public', ptr: expect.stringContaining('static.') },
          { address: there.ipv6!.ip.replace('/64', '1'), family: 6, scope: 'public', ptr: null },
          { address: '10.0.1.2', family: 4, scope: 'private', ptr: null },
        ],
        ...{ labels: { role: 'web' }, protection: { delete: false, rebuild: false }, backups: true, mark: 'srv_1' },
      })
      expect([there.labels, there.userData, there.sshKeys]).toEqual([
        { role: 'web', bailiwick: 'srv_1' },
        '#cloud-config',
        ['laptop'],
      ])
    })

    test('shows what was changed in the console', async () => {
      const ref = await made()
      const there = double.serverNamed('web-1')!
      double.console.rename(there, 'renamed')
      double.console.powerOff(there)
      double.console.resize(there, 'cx32')
      double.console.relabel(there, { ...there.labels, team: 'a' })
      expect((await cloud.list()).servers).toMatchObject([
        { ref, name: 'renamed', status: 'off', power: 'off', size: 'cx32', labels: { team: 'a' }, mark: 'srv_1' },
      ])
      double.console.delete(there)
      expect((await cloud.list()).servers).toEqual([])
    })

    test('tells when the rate limit is exceeded, and when to retry', async () => {
      double.remaining = 0
      const { failure, retryAfterMs, message } = await errorOf(cloud.list())
      expect([failure, retryAfterMs, message]).toEqual([
        'throttled',
        60_000,
        'Hetzner rate limit exceeded: limit of 3600 requests per hour reached (rate_limit_exceeded)',
      ])
      clock.advance(1000)
      expect((await cloud.list()).rate).toEqual({ limit: 3600, remaining: 0, resetsAt: clock.now() + 3_600_000 })
    })
  })

  describe('the catalog', () => {
    test('has images once by name, and snapshots by id', async () => {
      const ref = await made()
      for (const type of ['snapshot', 'backup']) {
        if (type === 'backup') await run(ref, { verb: 'enable_backups' })
        const body = JSON.stringify({ type, description: `A ${type}` })
        const headers = { authorization: `Bearer ${double.token}`, 'content-type': 'application/json' }
        await fetch(`${double.url}/servers/${ref}/actions/create_image`, { method: 'POST', headers, body })
      }
      const { images } = await cloud.catalog()
      expect(images.filter(one => one.slug === 'debian-12')).toEqual([
        {
          ...{ slug: 'debian-12', title: 'Debian 12', family: 'debian', architecture: null, kind: 'system' },
          ...{ minDiskBytes: 5 * 1024 ** 3, isDeprecated: false },
        },
      ])
      expect(images.find(one => one.slug === 'debian-13')?.architecture).toBe('x86')
      expect(images.find(one => one.slug === 'debian-11')?.isDeprecated).toBe(true)
      const own = images.filter(one => one.kind === 'snapshot' || one.kind === 'backup')
      expect(own.map(one => [one.title, one.minDiskBytes])).toEqual([
        ['A snapshot', 40 * 1024 ** 3],
        ['A backup', 40 * 1024 ** 3],
      ])
      const again = await made({ name: 'web-2', mark: 'srv_2', image: own[0]!.slug })
      expect((await cloud.get(again))?.image).toBe(own[0]!.slug)
    })

    test('has what is in stock, and not what can no longer be ordered', async () => {
      double.stock('cx22', 'nbg1', false)
      const { sizes, locations, networks } = await cloud.catalog()
      const size = (slug: string) => sizes.find(one => one.slug === slug)!
      expect(size('cx22').offers.map(one => [one.location, one.available, one.price])).toEqual([
        ['fsn1', true, { monthlyMicros: 4_510_100, currency: 'EUR' }],
        ['nbg1', false, { monthlyMicros: 4_510_100, currency: 'EUR' }],
        ['hel1', true, { monthlyMicros: 4_510_100, currency: 'EUR' }],
      ])
      expect(size('ccx13')).toMatchObject({ sharedCores: false, architecture: 'x86', unavailableAfter: null })
      expect(size('ccx13').offers.find(one => one.location === 'ash')?.price?.monthlyMicros).toBe(16_053_100)
      expect([size('cx11').offers, size('cx11').unavailableAfter]).toEqual([[], Date.parse('2024-09-06T00:00:00Z')])
      // Servers that have it still cost something.
      expect(size('cx11').pastOffers).toContainEqual({ location: 'fsn1', price: expect.objectContaining({ currency: 'EUR' }) })
      expect([size('cpx11').offers.length, size('cpx11').unavailableAfter]).toEqual([4, Date.parse('2099-01-01T00:00:00Z')])
      expect(locations.find(one => one.slug === 'ash')).toEqual({
        slug: 'ash',
        title: 'Ashburn, VA',
        country: 'US',
        city: 'Ashburn, VA',
      })
      expect(networks).toEqual([])
      // Hetzner has removed it.
      expect(requests().filter(one => one.includes('datacenters'))).toEqual([])
    })

    test('has the prices that the bill has, and follows them', async () => {
      const price = async (more: Partial<ServerOrder> = {}) => hetzner.price!(await cloud.catalog(), order(more))
      expect((await cloud.catalog()).extras).toEqual({
        ipv4: ['fsn1', 'nbg1', 'hel1', 'ash'].map(location => ({ location, price: { monthlyMicros: 595_000, currency: 'EUR' } })),
        backupPercent: 20,
        volumePerGb: { monthlyMicros: 47_600, currency: 'EUR' },
        snapshotPerGb: { monthlyMicros: 13_090, currency: 'EUR' },
      })
      expect(double.bill()).toEqual({ monthlyMicros: 0, currency: 'EUR' })
      const before = await price({ backups: true })
      const ref = await made({ backups: true })
      expect(before).toEqual(double.bill())
      double.raisePrice('cx22', 1.37)
      expect(await price({ backups: true })).toEqual(double.bill())
      expect(before).not.toEqual(double.bill())
      await run(ref, { verb: 'delete' })
      await made({ enableIpv4: false })
      expect(await price({ enableIpv4: false })).toEqual(double.bill())
      for (const unknown of [{ size: { slug: 'absent' } }, { location: 'ash' }, { location: null }])
        expect(await price(unknown)).toBeNull()
      // Two requests are enough for one size.
      const [{ sizes, extras }, counted] = [await cloud.catalog(), double.requests.length]
      expect(await cloud.prices!('cx22')).toEqual({ size: sizes.find(one => one.slug === 'cx22')!, extras })
      expect(requests().slice(counted)).toEqual(['GET /server_types', 'GET /pricing'])
      expect((await cloud.prices!('absent')).size).toBeNull()
      double.answered = one => (one.pricing ? { pricing: { ...one.pricing, primary_ips: [], server_backup: {} } } : one)
      expect([await price(), await price({ enableIpv4: false, backups: true })]).toEqual([null, null])
      expect(await price({ enableIpv4: false })).not.toBeNull()
    })
  })

  describe('a new server', () => {
    test('is finished after all actions, which take their time', async () => {
      double.project.actionMs = command => (command === 'create_server' ? 8000 : 4000)
      const begun = await provision({ backups: true })
      const ref = begun.ref!
      const poll = async (operation: Operation) => {
        const polled = await cloud.poll(operation)
        const [server] = (await cloud.list()).servers
        return { ...polled, status: server!.status }
      }
      const first = await poll(operationOf(begun))
      expect(first).toMatchObject({ state: 'running', progress: 0, status: 'provisioning' })
      expect(await failureOf(cloud.start(ref, { verb: 'power_cycle' }))).toEqual([
        'locked',
        false,
        'Hetzner rejected the request (423): server is locked (locked)',
      ])
      clock.advance(8000)
      expect(await poll(operationOf(begun))).toMatchObject({ state: 'running', progress: 83, status: 'starting' })
      clock.advance(4000)
      const backups = await poll(operationOf(begun))
      expect(backups).toMatchObject({ state: 'running', status: 'running' })
      clock.advance(4000)
      expect(await poll((backups as { operation: Operation }).operation)).toMatchObject({ state: 'done', status: 'running' })
      expect([(await cloud.get(ref))?.backups, changes().filter(one => one.includes('enable_backup')).length]).toEqual([true, 1])
    })

    test.each([1, 2, 3, 4, 5, 6, 7, 8])('is created once, whichever response is lost: the one of request %p', async number => {
      double.fault = () => (double.requests.length === number ? 'lost' : null)
      const wanted = order({ backups: true })
      // As the hub does it: what was interrupted is looked for first.
      for (let attempt = 0, isDone = false; !isDone && attempt < 5; attempt++)
        try {
          const there = attempt === 0 ? null : await cloud.find(wanted)
          expect(there?.mark).toBeOneOf([undefined, wanted.mark])
          await finish(there ? await cloud.continueProvision!(there.ref, wanted) : await provision({ backups: true }))
          isDone = true
        } catch (error) {
          expect(error).toBeInstanceOf(CloudError)
        }
      double.fault = () => null
      expect((await cloud.list()).servers).toMatchObject([{ name: 'web-1', status: 'running', backups: true, mark: 'srv_1' }])
      expect(double.bill()).toEqual(hetzner.price!(await cloud.catalog(), wanted)!)
      expect(double.project.sshKeys.size).toBe(1)
    })

    test('needs an SSH key, which is looked for by its fingerprint, and added otherwise', async () => {
      expect((await failureOf(provision({ sshKeys: [] })))[0]).toBe('invalid')
      createSshKey(double.project, { name: 'known', public_key: publicKey })
      const other = { name: 'known', publicKey: publicKey.replace('R2mX', 'R2mY') }
      await made({ sshKeys: [{ name: 'laptop', publicKey }, other, other] })
      const names = double.serverNamed('web-1')!.sshKeys
      expect(names).toEqual(['known', expect.stringMatching(/^known (?:[0-9a-f]{2}:){15}[0-9a-f]{2}$/)])
      await made({ name: 'web-2', mark: 'srv_2', sshKeys: [other] })
      expect(double.serverNamed('web-2')!.sshKeys).toEqual([names[1]!])
      expect(double.project.sshKeys.size).toBe(2)
    })

    test('whose key someone else adds meanwhile uses that one', async () => {
      double.fault = ({ method, path }) => {
        if (method === 'POST' && path === '/ssh_keys') createSshKey(double.project, { name: 'first', public_key: publicKey })
        return null
      }
      await made()
      expect(double.serverNamed('web-1')!.sshKeys).toEqual(['first'])
    })

    test('can be refused for many reasons, and nothing is created', async () => {
      double.stock('cx22', 'fsn1', false)
      double.addServer({ name: 'taken', location: 'nbg1' })
      const refused = async (more: Partial<ServerOrder>) => (await failureOf(provision(more))).slice(0, 2)
      expect(await refused({})).toEqual(['out_of_stock', false])
      expect(await refused({ location: 'nbg1', name: 'taken' })).toEqual(['already_exists', false])
      expect(await refused({ location: 'mars' })).toEqual(['invalid', false])
      expect(await refused({ location: 'ash' })).toEqual(['invalid', false])
      expect(await refused({ location: 'nbg1', size: { slug: 'cx11' } })).toEqual(['invalid', false])
      expect(await refused({ location: 'nbg1', image: 'debian-99' })).toEqual(['invalid', false])
      expect(await refused({ location: 'nbg1', userData: 'x'.repeat(33_000) })).toEqual(['invalid', false])
      expect(await refused({ location: 'nbg1', networks: ['1'] })).toEqual(['not_found', false])
      expect(await refused({ location: 'nbg1', size: { cores: 1, memoryBytes: 1, diskBytes: 1 } })).toEqual(['invalid', false])
      double.project.serverLimit = 1
      expect(await failureOf(provision({ location: 'nbg1' }))).toEqual([
        ...['quota', false],
        'Hetzner rejected the request (403): server limit exceeded (resource_limit_exceeded)',
      ])
      double.project.serverLimit = 2
      // Also when it turns out later.
      double.project.actionErrors = { create_server: { code: 'resource_unavailable', message: 'no host available' } }
      expect(await failureOf(made({ location: 'nbg1' }))).toEqual([
        ...['out_of_stock', false],
        'Hetzner could not apply the change: no host available (resource_unavailable)',
      ])
      expect((await cloud.list()).servers.map(one => one.name)).toEqual(['taken'])
    })

    test.each([false, true])('that could not be created is deleted, also if the response was lost: %p', async isLost => {
      double.project.keepsFailedServers = true
      double.project.actionErrors = { create_server: { code: 'resource_unavailable', message: 'no host available' } }
      double.fault = ({ method, path }) => (isLost && method === 'POST' && path === '/servers' ? 'lost' : null)
      const created = async () => {
        const begun = await provision({ backups: true }).catch(async () => {
          const { ref } = (await cloud.find(order()))!
          return await cloud.continueProvision!(ref, order({ backups: true }))
        })
        await finish(begun)
      }
      expect(await failureOf(created())).toEqual([
        ...['out_of_stock', false],
        'Hetzner could not apply the change: no host available (resource_unavailable)',
      ])
      expect((await cloud.list()).servers).toEqual([])
    })

    test('never names a data center', async () => {
      await made()
      for (const { body } of double.requests) expect(Object.keys(body ?? {})).not.toContain('datacenter')
    })
  })

  describe('commands', () => {
    test('a guest has time to shut down, and is switched off after that if so wanted', async () => {
      const ref = await made()
      double.project.shutdownMs = Infinity
      const shutdown = (thenForce: boolean) => cloud.start(ref, { verb: 'shutdown', timeoutSeconds: 30, thenForce })
      let operation = operationOf(await shutdown(false))
      const poll = async () => {
        const polled = await cloud.poll(operation)
        if (polled.state === 'running') operation = polled.operation
        return polled.state
      }
      clock.advance(29_000)
      expect([await poll(), (await cloud.get(ref))?.status]).toEqual(['running', 'running'])
      clock.advance(1000)
      expect(await failureOf(poll())).toEqual(['refused', false, 'The server did not shut down in time.'])
      operation = operationOf(await shutdown(true))
      clock.advance(30_000)
      expect([await poll(), await poll(), (await cloud.get(ref))?.status]).toEqual(['running', 'done', 'off'])
      await run(ref, { verb: 'power_on' })
      double.project.shutdownMs = 10_000
      operation = operationOf(await shutdown(true))
      expect(await poll()).toBe('running')
      clock.advance(10_000)
      expect([await poll(), (await cloud.get(ref))?.status]).toEqual(['done', 'off'])
      expect(changes().filter(one => one.endsWith('/poweroff'))).toHaveLength(1)
    })

    test('a running server is not resized, and a disk never shrinks', async () => {
      const ref = await made()
      const resize = (slug: string, upgradeDisk: boolean) => run(ref, { verb: 'resize', size: { slug }, upgradeDisk })
      expect(await failureOf(resize('cx32', false))).toEqual([
        ...['refused', false],
        'Hetzner rejected the request (409): server is not stopped (server_not_stopped)',
      ])
      await run(ref, { verb: 'power_off' })
      await resize('cx32', false)
      expect(await cloud.get(ref)).toMatchObject({ size: 'cx32', resources: { cores: 4, diskBytes: 40 * 1024 ** 3 } })
      expect(await cloud.start(ref, { verb: 'resize', size: { slug: 'cx32' }, upgradeDisk: false })).toMatchObject({
        unchanged: true,
      })
      await resize('cx32', true)
      expect((await cloud.get(ref))?.resources.diskBytes).toBe(80 * 1024 ** 3)
      expect((await failureOf(resize('cx22', false)))[0]).toBe('invalid')
      expect((await failureOf(resize('cx11', false)))[0]).toBe('invalid')
    })

    test('protection is from deletion and rebuild, or from neither', async () => {
      const ref = await made()
      const protect = (isDelete: boolean, rebuild: boolean) =>
        cloud.start(ref, { verb: 'set_protection', protection: { delete: isDelete, rebuild } })
      expect((await failureOf(protect(true, false)))[0]).toBe('invalid')
      await finish(await protect(true, true))
      for (const command of [{ verb: 'delete' }, { verb: 'rebuild', image: 'debian-13', userData: null }] as const)
        expect((await failureOf(run(ref, command))).slice(0, 2)).toEqual(['protected', false])
    })

    test('the rescue system accepts the keys of the project, and its password is not kept', async () => {
      const ref = await made()
      const begun = await cloud.start(ref, { verb: 'enable_rescue' })
      expect(double.requests.at(-1)?.body).toEqual({ type: 'linux64', ssh_keys: [...double.project.sshKeys.keys()] })
      expect(JSON.stringify(begun)).not.toContain('bnAdmw')
    })

    test('what was started before is not found as the operation of a command', async () => {
      const ref = await made()
      await run(ref, { verb: 'power_cycle' })
      clock.advance(5000)
      expect(await cloud.findOperation!(ref, 'power_cycle', clock.now())).toBeNull()
      clock.advance(777)
      const since = clock.now()
      double.fault = ({ path }) => (path.endsWith('/reset') ? 'lost' : null)
      expect(mayHaveApplied(await errorOf(cloud.start(ref, { verb: 'power_cycle' })))).toBe(true)
      const operation = await cloud.findOperation!(ref, 'power_cycle', since)
      await finish({ state: 'running', operation: operation! })
      expect(double.serverNamed('web-1')!.boots).toBe(3)
      expect(await cloud.findOperation!(ref, 'rename', since)).toBeNull()
      expect(await cloud.findOperation!('1', 'power_cycle', since)).toBeNull()
    })

    test('those that Hetzner does not have are refused', async () => {
      const ref = await made()
      expect((await failureOf(cloud.start(ref, { verb: 'suspend' }))).slice(0, 2)).toEqual(['refused', false])
    })
  })

  test('a check tells what is there, and whether the token can change anything', async () => {
    expect(await cloud.check()).toEqual({ detail: 'Hetzner Cloud, 0 servers', warnings: [] })
    for (let at = 1; at <= 4; at++) double.addServer({ name: `web-${at}` })
    expect((await cloud.check()).detail).toBe('Hetzner Cloud, 4 servers (web-1, web-2, web-3, …)')
    const readOnly = opened(double, { api_token: double.readOnlyToken })
    expect((await readOnly.check()).warnings).toEqual([
      'The API token of the Hetzner project is read-only. Use one with read and write permissions.',
    ])
    const ref = String(double.serverNamed('web-1')!.id)
    expect((await failureOf(readOnly.start(ref, { verb: 'power_cycle' }))).slice(0, 2)).toEqual(['unauthorized', false])
  })

  test('the base URL is validated', () => {
    expect(() => hetzner.validate!({ api_token: double.token, base_url: 'ftp://example.com' })).toThrow()
    expect(() => hetzner.validate!({ api_token: double.token, base_url: `${double.url}/` })).not.toThrow()
  })
})

test('no request and no response violates the API description', () => {
  expect(doubles.flatMap(one => one.offences)).toEqual([])
  expect(doubles.flatMap(one => one.requests).length).toBeGreaterThan(500)
})
