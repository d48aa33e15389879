import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mayHaveApplied } from '../../../src/adapters/failure'
import {
  CloudError,
  serverVerbs,
  type Cloud,
  type CloudFailure,
  type CloudKind,
  type CloudServer,
  type CloudStatus,
  type Polled,
  type ServerCommand,
  type ServerOrder,
  type ServerVerb,
  type SizeOrder,
  type Started,
  type VolumeCommand,
  type VolumeOrder,
} from '../../../src/features/servers/clouds/cloud'
import { ruleChanges, type PlainRule } from '../../../src/features/servers/firewalls/rules'
import type { Probe } from '../random-rules'

// Promises of every kind of cloud, tested with a real installation or a double.

/** A cloud with an account in which servers can be created. */
export interface CloudUnderTest {
  kind: CloudKind
  cloud: Cloud
  /** The same account opened again, as after a restart of the hub. */
  reopen(): Cloud
  /** The same account with a wrong credential. */
  unauthorized: Cloud
  /** The same account at an address where nothing listens. */
  unreachable: Cloud
  /** What was sent as a secret. */
  secrets: readonly string[]
  /** What the smallest server is ordered with, and what it can be changed to. Sizes and images are listed in the catalog. */
  offer: Pick<ServerOrder, 'location' | 'size' | 'image' | 'sshKeys'> & { otherSize: SizeOrder; otherImage: string }
  /** Verbs that this installation lacks. */
  lacks: readonly ServerVerb[]
  /** Names that the cloud refuses, and unusual ones that it accepts. */
  names: { refused: readonly string[]; accepted: readonly string[] }
  /** Waits between two polls. */
  pause(): Promise<unknown>
  /** Waits until the guest of a running server can shut down; absent if there is no guest. */
  booted?(ref: string): Promise<unknown>
  /** Changes servers without the adapter. */
  outside: {
    /** Creates a server that Bailiwick doesn’t know. @returns its ref */
    create(name: string): Promise<string>
    /** @returns its ref afterwards */
    rename(ref: string, name: string): Promise<string>
    remove(ref: string): Promise<unknown>
  }
  /** Firewalls, if the kind has them. */
  firewalls?: {
    /** Whether a packet from an address outside reaches a port of a server. Absent if packets can't be simulated. */
    isAllowed?(ref: string, packet: { direction: 'in' | 'out' } & Probe): boolean
    /** Changes the firewall without the adapter, so that it has no rules anymore. */
    empty(id: string): Promise<unknown>
  }
  /** Simulated failures, until `calm`; absent for real installations. */
  trouble?: CloudTrouble
  stop(): Promise<unknown> | void
}

/** Failures that can be simulated, until `calm`. Those that the cloud doesn’t have are absent. */
export interface CloudTrouble {
  /** Sends this response to every request, without processing it. */
  respond(response: { status: number; body: string; headers?: Record<string, string> }): unknown
  /** Body of a response with status 200 that reports an error. */
  errorWithStatus200?: string
  /** Reports for every request that the rate limit is exceeded. */
  throttle?(retryAfterSeconds: number): unknown
  /** Refuses changes because of a missing permission. */
  forbid(): unknown
  /** Refuses changes because another operation is working on the server. */
  lock?(): unknown
  /** Processes changes, and closes the connection without a response. */
  lose(): unknown
  /** Closes the connection instead of processing changes. */
  drop(): unknown
  /** Leaves out a server of lists in a way that is noticeable. */
  shorten(): unknown
  /** Reports a wrong number of servers, if lists have a total. */
  miscount?(): unknown
  /** Serves lists that never end, if they have pages: with more pages than could be read, or with the same page again and again. */
  endless?: Readonly<Record<string, () => unknown>>
  /** Reports a server with 5 MB of labels or names. */
  bloat(ref: string): unknown
  /** Reports more cores, memory, and disk than can be counted. */
  exaggerate(ref: string): unknown
  /** Forgets all operations. */
  forget(): unknown
  /** Lets operations that start from now on fail. */
  fail(): unknown
  /** Reports a server in a status that this version doesn’t know. @returns the status */
  oddStatus(ref: string): Promise<string> | string
  calm(): unknown
}

/** How long an operation may take. */
const maxPolls = 600

/** Runs the contract. Tests use servers of their own. */
/** A server that a firewall is removed from, which has no others. */
export const detached = (ref: string) => ({ ref, hasOthers: false })

export function cloudContract(title: string, start: () => Promise<CloudUnderTest>): void {
  describe(title, () => {
    let here: CloudUnderTest
    let created = 0
    beforeAll(async () => {
      here = await start()
    }, 120_000)
    afterAll(async () => {
      await here?.stop()
    }, 120_000)

    const freeName = () => `bw-${++created}-${Date.now().toString(36)}`
    const can = (verb: ServerVerb) => here.kind.capabilities.verbs.includes(verb) && !here.lacks.includes(verb)
    const orderOf = async (more: Partial<ServerOrder> = {}): Promise<ServerOrder> => {
      const { location, size, image, sshKeys } = here.offer
      const ordered = { location, size, image, sshKeys }
      const name = more.name ?? freeName()
      const base = { userData: null, labels: {}, networks: [], enableIpv4: true, enableIpv6: false, backups: false, start: false }
      return { ...base, ...ordered, mark: `srv_${name}`, name, ref: (await here.cloud.reserveRef?.()) ?? null, ...more }
    }
    /** Waits for the end. Each poll runs as in another process, which only has what was stored as JSON. */
    const finish = async (started: Started): Promise<{ ref: string | null; unchanged: boolean }> => {
      let ref = started.ref ?? null
      if (started.state === 'done') return { ref, unchanged: started.unchanged ?? false }
      let operation = started.operation
      for (let polls = 0; polls < maxPolls; polls++) {
        const stored = JSON.stringify(operation)
        expect(stored.length).toBeLessThan(4096)
        for (const secret of here.secrets) expect(stored).not.toContain(secret)
        const polled: Polled = await here.reopen().poll(JSON.parse(stored))
        if (polled.state === 'gone') return { ref, unchanged: false }
        ref = polled.ref ?? ref
        if (polled.state === 'done') return { ref, unchanged: false }
        operation = polled.operation
        await here.pause()
      }
      throw new Error('The operation never ended.')
    }
    const run = async (ref: string | null, command: ServerCommand) => await finish(await here.cloud.start(ref, command))
    const provision = async (
      more: Partial<ServerOrder> = {},
    ): Promise<{ ref: string; order: ServerOrder; server: CloudServer }> => {
      const order = await orderOf(more)
      const { ref } = await run(null, { verb: 'provision', order })
      expect(ref).not.toBeNull()
      const server = await here.cloud.get(ref!)
      expect(server).not.toBeNull()
      return { ref: ref!, order, server: server! }
    }
    /** Runs a command, and again, which changes nothing. @returns the server, which may have another ref */
    const runTwice = async (ref: string, command: ServerCommand): Promise<CloudServer> => {
      const first = await run(ref, command)
      expect([command.verb, first.unchanged]).toEqual([command.verb, false])
      const refNow = first.ref ?? ref
      const server = await here.cloud.get(refNow)
      expect([command.verb, await here.cloud.start(refNow, command)]).toEqual([
        command.verb,
        expect.objectContaining({ state: 'done', unchanged: true }),
      ])
      // Addresses can be assigned meanwhile.
      expect({ ...(await here.cloud.get(refNow)), addresses: [] }).toEqual({ ...server!, addresses: [] })
      return server!
    }
    const statusOf = async (ref: string) => {
      const server = await here.cloud.get(ref)
      return [server?.status, server?.power]
    }
    const listed = async () => (await here.cloud.list()).servers
    const remove = (ref: string) => run(ref, { verb: 'delete' })
    const expectNoSecret = (text: string) => {
      for (const secret of here.secrets) expect(text).not.toContain(secret)
    }
    /** The error of a call; its message is a single line without secrets. */
    const errorOf = async (call: Promise<unknown>): Promise<CloudError> => {
      const outcome = await call.then(
        result => ({ result }),
        (error: unknown) => error,
      )
      if (!(outcome instanceof CloudError)) throw new Error(`not a CloudError: ${Bun.inspect(outcome)}`)
      expectNoSecret(outcome.message)
      expect(outcome.message).toMatch(/^\S.*\S$/)
      return outcome
    }
    const failureOf = async (call: Promise<unknown>): Promise<CloudFailure> => (await errorOf(call)).failure
    const reads = (cloud: Cloud): [name: string, call: () => Promise<unknown>][] => [
      ['check', () => cloud.check()],
      ['list', () => cloud.list()],
      ['get', () => cloud.get(absentRef())],
      ['find', () => cloud.find({ mark: 'srv_absent', name: 'absent', ref: null })],
      ['catalog', () => cloud.catalog()],
    ]
    let knownRef = ''
    /** A ref that no server has, in the form that the kind has. */
    const absentRef = () => (/^\d+$/.test(knownRef) ? '987654321' : 'absent')

    test('can be checked, and reports what it is', async () => {
      const { detail, warnings } = await here.cloud.check()
      expect(detail).not.toBe('')
      expect(warnings).toEqual([])
    })

    test('the catalog contains what can be ordered', async () => {
      const { locations, sizes, images, networks } = await here.cloud.catalog()
      const { capabilities } = here.kind
      const { location, size, image, otherSize, otherImage } = here.offer
      for (const slugs of [locations, sizes, images].map(rows => rows.map(one => one.slug)))
        expect(new Set(slugs).size).toBe(slugs.length)
      expect(new Set(networks.map(one => one.ref)).size).toBe(networks.length)
      const slugsOfImages = images.map(one => one.slug)
      expect(slugsOfImages).toContain(image)
      expect(slugsOfImages).toContain(otherImage)
      if (location !== null) expect(locations.map(one => one.slug)).toContain(location)
      if (capabilities.sizes === 'free') expect(sizes).toEqual([])
      else for (const one of [size, otherSize]) expect(sizes.map(each => each.slug)).toContain('slug' in one ? one.slug : '')
      for (const { offers } of sizes)
        for (const offer of offers) {
          expect(locations.map(one => one.slug)).toContain(offer.location)
          if (!capabilities.hasPrices) expect(offer.price).toBeNull()
        }
    })

    test('reports what the installation lacks', async () => {
      expect((await here.cloud.list()).lacks.toSorted()).toEqual([...here.lacks].sort())
      expect(serverVerbs.filter(verb => here.lacks.includes(verb) && !here.kind.capabilities.verbs.includes(verb))).toEqual([])
    })

    test('tells what running servers use, in its readings or when it is asked', async () => {
      const { ref } = await provision({ start: true })
      const stopped = await provision()
      const { usage, servers } = await here.cloud.list()
      expect(usage === undefined).toBe(here.cloud.metricsOf !== undefined)
      if (usage) {
        const used = usage.get(ref)!
        expect(used.memoryBytes).toBeGreaterThan(0)
        const running = new Set(servers.filter(one => one.power === 'on').map(one => one.ref))
        expect([...usage.keys()].filter(one => !running.has(one))).toEqual([])
        expect(usage.has(stopped.ref)).toBe(false)
        const later = (await here.reopen().list()).usage!.get(ref)!
        for (const counter of ['received', 'sent', 'read', 'written'] as const)
          expect([counter, (later[counter] ?? 0) >= (used[counter] ?? 0)]).toEqual([counter, true])
        for (const { cpu } of [used, later])
          if (cpu && 'percent' in cpu) expect(cpu.percent).toBeWithin(0, 101)
          else if (cpu) expect(cpu.cores).toBeGreaterThan(0)
      } else {
        const now = Date.now()
        const cores = servers.find(one => one.ref === ref)!.resources.cores!
        const series = await here.cloud.metricsOf!(ref, cores, now - 600_000, now, 60)
        expect(series.map(one => one.metric)).toContain('cpu.used_percent')
        for (const { metric, points } of series)
          for (const [at, value] of points) {
            expect(at).toBeWithin(now - 660_000, now + 60_000)
            expect(value).toBeGreaterThanOrEqual(0)
            if (metric === 'cpu.used_percent') expect(value).toBeLessThanOrEqual(100)
          }
        expect(await failureOf(here.cloud.metricsOf!(absentRef(), 1, now - 600_000, now, 60))).toBe('not_found')
      }
      await remove(ref)
      await remove(stopped.ref)
    })

    test('provisions a server with everything that was ordered, and finds it by its mark', async () => {
      const { capabilities } = here.kind
      const labels: Record<string, string> = capabilities.labels ? { role: 'web', 'a.b-c_D': 'x.Y-z_1' } : {}
      const { ref, order, server } = await provision({ labels, start: true })
      knownRef = ref
      expect(server).toMatchObject({
        ref,
        name: order.name,
        status: 'running',
        power: 'on',
        mark: order.mark,
        labels,
        protection: { delete: false, rebuild: false },
        backups: capabilities.backups ? false : null,
      })
      if (order.location !== null) expect(server.location).toBe(order.location)
      if ('slug' in order.size) expect(server.size).toBe(order.size.slug)
      else expect(server.resources).toMatchObject({ cores: order.size.cores, memoryBytes: order.size.memoryBytes })
      if (server.image !== null) expect(server.image).toBe(order.image)
      expect(server.statusText).not.toBe('')
      expect(await listed()).toContainEqual(stable(server))
      expect(await here.cloud.find(order)).toEqual(stable(server))
      expect(await here.cloud.find({ ...order, name: 'absent', ref: null })).toEqual(stable(server))
      await remove(ref)
    })

    test('provisions a server that is off', async () => {
      const { ref } = await provision()
      expect(await statusOf(ref)).toEqual(['off', 'off'])
      await remove(ref)
    })

    test('does not provision twice, and tells by the mark whose server it is', async () => {
      const { ref, order, server } = await provision()
      expect(await failureOf(run(null, { verb: 'provision', order }))).toBe('already_exists')
      const other = await orderOf({ name: order.name, mark: 'srv_other' })
      expect(await failureOf(run(null, { verb: 'provision', order: other }))).toBe('already_exists')
      const found = await here.cloud.find(other)
      expect([found?.ref, found?.mark]).toEqual([ref, order.mark])
      expect((await listed()).filter(one => one.name === order.name)).toEqual([stable(server)])
      await remove(ref)
      const again = await provision({ name: order.name, mark: 'srv_other' })
      expect(again.server.mark).toBe('srv_other')
      await remove(again.ref)
    })

    test('lists servers that others created, without a mark', async () => {
      const name = freeName()
      const ref = await here.outside.create(name)
      const server = await here.cloud.get(ref)
      expect(server).toMatchObject({ ref, name, mark: null })
      expect(await listed()).toContainEqual(stable(server!))
      const found = await here.cloud.find({ mark: 'srv_none', name, ref: null })
      expect([found?.ref, found?.mark]).toEqual([ref, null])
      await here.outside.remove(ref)
      expect(await here.cloud.get(ref)).toBeNull()
      expect((await listed()).map(one => one.ref)).not.toContain(ref)
    })

    test('finds a server by its mark after others renamed it', async () => {
      const { ref, order } = await provision()
      const name = freeName()
      const refNow = await here.outside.rename(ref, name)
      expect(await here.cloud.find(order)).toMatchObject({ ref: refNow, name, mark: order.mark })
      await remove(refNow)
    })

    test('a missing server is null, and commands for it are not_found', async () => {
      expect(await here.cloud.get(absentRef())).toBeNull()
      expect(await here.cloud.find({ mark: 'srv_absent', name: 'absent', ref: null })).toBeNull()
      for (const verb of ['power_on', 'power_off', 'reboot'] as const)
        if (can(verb)) expect([verb, await failureOf(run(absentRef(), { verb }))]).toEqual([verb, 'not_found'])
      if (can('rename')) expect(await failureOf(run(absentRef(), { verb: 'rename', name: freeName() }))).toBe('not_found')
    })

    test('switches servers on and off, and repeating it changes nothing', async () => {
      const { ref } = await provision()
      const expectStatus = async (command: ServerCommand, status: CloudStatus, power: CloudServer['power']) => {
        if (!can(command.verb)) return
        await runTwice(ref, command)
        expect([command.verb, ...(await statusOf(ref))]).toEqual([command.verb, status, power])
      }
      await expectStatus({ verb: 'power_on' }, 'running', 'on')
      await expectStatus({ verb: 'suspend' }, 'suspended', 'on')
      await expectStatus({ verb: 'resume' }, 'running', 'on')
      await expectStatus({ verb: 'power_off' }, 'off', 'off')
      await expectStatus({ verb: 'power_on' }, 'running', 'on')
      await here.booted?.(ref)
      await expectStatus({ verb: 'shutdown', timeoutSeconds: 20, thenForce: true }, 'off', 'off')
      await remove(ref)
    }, 120_000)

    test('restarts servers', async () => {
      const { ref } = await provision({ start: true })
      for (const verb of ['reboot', 'power_cycle'] as const) {
        if (!can(verb)) continue
        await here.booted?.(ref)
        expect([verb, (await run(ref, { verb })).unchanged]).toEqual([verb, false])
        expect([verb, ...(await statusOf(ref))]).toEqual([verb, 'running', 'on'])
      }
      await remove(ref)
    }, 120_000)

    test('sets firewalls, reads them, and removes them', async () => {
      const { cloud } = here
      if (!cloud.setFirewall) return expect(here.kind.capabilities.firewallProtocols).toEqual([])
      const [one, other] = [await provision({ start: true }), await provision({ start: true })]
      const refs = [one.ref, other.ref]
      const id = `fw_${Date.now().toString(36).padStart(26, '0')}`
      const rule = (id: string, ports: string[], ...networks: string[]) => ({
        ...{ id, direction: 'in' as const, protocol: 'tcp' as const, ports, networks },
      })
      const set = async (rules: PlainRule[], wanted: string[], detach: string[] = []) => {
        for (let polls = 0; polls < maxPolls; polls++) {
          const { state, refused } = await cloud.setFirewall!({
            id,
            name: 'web',
            rules,
            refs: wanted,
            detach: detach.map(detached),
          })
          expect(refused).toEqual([])
          if (state === 'applied') break
          await here.pause()
        }
        const readings = (await cloud.readFirewalls!([{ id, refs: wanted }])).firewalls
        for (const reading of readings)
          expect([reading.changedDefaults, ruleChanges(cloud.firewallRules!(rules), reading.rules)]).toEqual([
            [],
            { added: [], removed: [] },
          ])
        expect(readings.flatMap(one => one.refs).toSorted()).toEqual(wanted.toSorted())
      }
      const reaches = (ref: string, port: number, address: string) =>
        here.firewalls?.isAllowed?.(ref, { direction: 'in', protocol: 'tcp', port, address })
      const ifSimulated = <T>(value: T): T | undefined => (here.firewalls?.isAllowed ? value : undefined)
      const web = [rule('r1', ['80', '8000-8010'], '10.0.0.0/8', '2001:db8::/32'), rule('r2', ['22'])]
      const ping = { id: 'r3', direction: 'in' as const, protocol: 'icmp' as const, ports: [], networks: ['0.0.0.0/0', '::/0'] }
      const out = { id: 'r4', direction: 'out' as const, protocol: 'any' as const, ports: [], networks: ['192.0.2.0/24'] }
      expect((await cloud.readFirewalls!([{ id, refs }])).firewalls).toEqual([])
      await set([...web, ping, out], refs)
      expect(reaches(one.ref, 8005, '10.1.2.3')).toBe(ifSimulated(true))
      expect(reaches(one.ref, 8005, '192.0.2.1')).toBe(ifSimulated(false))
      // A rule without networks allows nothing.
      expect(reaches(one.ref, 22, '10.1.2.3')).toBe(ifSimulated(false))
      await set(web, refs)
      await set([rule('r1', [], '192.0.2.1/32')], refs)
      expect(reaches(one.ref, 80, '10.1.2.3')).toBe(ifSimulated(false))
      expect(reaches(one.ref, 9999, '192.0.2.1')).toBe(ifSimulated(true))
      const block = (...networks: string[]): PlainRule => ({
        ...{ action: 'block', id: 'blocks', direction: 'in', protocol: 'any', ports: [], networks },
      })
      if (here.kind.capabilities.firewallBlocks) {
        await set([...web, block('10.1.0.0/16', '2001:db8:1::/48')], refs)
        expect([reaches(one.ref, 80, '10.1.2.3'), reaches(one.ref, 80, '10.2.2.3')]).toEqual(
          [false, true].map(one => ifSimulated(one)),
        )
        // What is added later is not above the blocks.
        const https = rule('r9', ['443'], '10.0.0.0/8')
        await set([...web, https, block('10.1.0.0/16')], refs)
        expect([reaches(one.ref, 443, '10.1.2.3'), reaches(one.ref, 443, '10.2.2.3')]).toEqual(
          [false, true].map(one => ifSimulated(one)),
        )
        await set(web, refs)
        expect(reaches(one.ref, 80, '10.1.2.3')).toBe(ifSimulated(true))
      } else {
        const blocking = { id, name: 'web', rules: [...web, block('10.1.0.0/16')], refs, detach: [] }
        expect((await errorOf(cloud.setFirewall!(blocking))).failure).toBe('invalid')
      }
      await set([], refs)
      await set(web, refs)
      await here.firewalls?.empty(id)
      expect((await cloud.readFirewalls!([{ id, refs }])).firewalls[0]!.rules).toEqual([])
      await set(web, refs)
      await remove(other.ref)
      await set(web, [one.ref], [other.ref])
      const isRemoved = async () => (await cloud.removeFirewall!(id, refs.map(detached))).state === 'applied'
      for (let polls = 0; polls < maxPolls && !(await isRemoved()); polls++) await here.pause()
      expect((await cloud.readFirewalls!([{ id, refs }])).firewalls).toEqual([])
      expect(await isRemoved()).toBe(true)
      expect(reaches(one.ref, 22, '10.1.2.3')).toBe(ifSimulated(true))
      await remove(one.ref)
    }, 180_000)

    test('renames servers', async () => {
      if (!can('rename')) return
      const { ref, order } = await provision()
      const taken = await provision()
      const name = freeName()
      const renamed = await runTwice(ref, { verb: 'rename', name })
      expect(renamed).toMatchObject({ name, mark: order.mark })
      expect(await here.cloud.find(order)).toEqual(stable(renamed))
      expect(await here.cloud.find({ mark: 'srv_none', name: order.name, ref: null })).toBeNull()
      expect(await failureOf(run(renamed.ref, { verb: 'rename', name: taken.order.name }))).toBe('already_exists')
      await remove(renamed.ref)
      await remove(taken.ref)
    })

    test('resizes servers', async () => {
      if (!can('resize')) return
      const { ref, order } = await provision()
      const size = here.offer.otherSize
      const resized = await runTwice(ref, { verb: 'resize', size, upgradeDisk: true })
      if ('slug' in size) expect(resized.size).toBe(size.slug)
      else expect(resized.resources).toMatchObject({ cores: size.cores, memoryBytes: size.memoryBytes })
      expect(resized).toMatchObject({ name: order.name, mark: order.mark, status: 'off' })
      await remove(ref)
    }, 120_000)

    test('resizes servers in each status in which it is possible', async () => {
      if (!can('resize') || !here.kind.capabilities.resizableIn.includes('running')) return
      const { ref } = await provision({ start: true })
      await run(ref, { verb: 'resize', size: here.offer.otherSize, upgradeDisk: false })
      expect(await statusOf(ref)).toEqual(['running', 'on'])
      await remove(ref)
    }, 120_000)

    test('rebuilds servers from another image, and keeps what identifies them', async () => {
      if (!can('rebuild')) return
      const { ref, order } = await provision()
      const isRunning = !here.kind.capabilities.rebuildableIn.includes('off')
      if (isRunning) await run(ref, { verb: 'power_on' })
      await run(ref, { verb: 'rebuild', image: here.offer.otherImage, userData: null })
      const server = await here.cloud.get(ref)
      expect(server).toMatchObject({ ref, name: order.name, mark: order.mark })
      if (server!.image !== null) expect(server!.image).toBe(here.offer.otherImage)
      await remove(ref)
    }, 120_000)

    test('changes labels, and keeps the others and the mark', async () => {
      expect(can('set_labels')).toBe(here.kind.capabilities.labels)
      if (!can('set_labels')) return
      const { ref, order } = await provision({ labels: { role: 'web', stage: 'test' } })
      const labels = { set: { role: 'database', 'a.b-c_D': 'x.Y-z_1' }, remove: ['stage', 'absent'] }
      const changed = await runTwice(ref, { verb: 'set_labels', labels, mark: order.mark })
      expect(changed).toMatchObject({ labels: { role: 'database', 'a.b-c_D': 'x.Y-z_1' }, mark: order.mark, name: order.name })
      expect(await here.cloud.find(order)).toEqual(stable(changed))
      const more = await runTwice(ref, { verb: 'set_labels', labels: { set: { stage: 'live' }, remove: [] }, mark: order.mark })
      expect(more.labels).toEqual({ ...changed.labels, stage: 'live' })
      // Some clouds store the mark as a label with this key.
      await run(ref, { verb: 'set_labels', labels: { set: { bailiwick: 'srv_other' }, remove: [] }, mark: order.mark })
      expect((await here.cloud.get(ref))!.mark).toBe(order.mark)
      const keys = [...Object.keys(more.labels), 'bailiwick']
      const none = await runTwice(ref, { verb: 'set_labels', labels: { set: {}, remove: keys }, mark: order.mark })
      expect(none).toMatchObject({ labels: {}, mark: order.mark })
      expect(await failureOf(run(absentRef(), { verb: 'set_labels', labels, mark: order.mark }))).toBe('not_found')
      await remove(ref)
    })

    test('protects servers from being deleted', async () => {
      if (!can('set_protection')) return
      const { ref } = await provision()
      const protection = (isOn: boolean) => {
        const { protection: kinds } = here.kind.capabilities
        return { delete: isOn, rebuild: isOn && kinds.includes('rebuild') }
      }
      const guarded = await runTwice(ref, { verb: 'set_protection', protection: protection(true) })
      expect(guarded.protection).toEqual(protection(true))
      expect(await failureOf(remove(ref))).toBe('protected')
      expect(await here.cloud.get(ref)).toEqual(stable(guarded))
      const open = await runTwice(ref, { verb: 'set_protection', protection: protection(false) })
      expect(open.protection).toEqual(protection(false))
      await remove(ref)
    })

    test('switches backups and the rescue system on and off', async () => {
      const { ref } = await provision()
      for (const verb of ['enable_backups', 'disable_backups'] as const) {
        if (!can(verb)) continue
        expect((await runTwice(ref, { verb })).backups).toBe(verb === 'enable_backups')
      }
      for (const verb of ['enable_rescue', 'disable_rescue'] as const) if (can(verb)) await runTwice(ref, { verb })
      await remove(ref)
    })

    test('deletes servers, also while they run, and again without an error', async () => {
      const { ref, order } = await provision({ start: true })
      expect((await remove(ref)).unchanged).toBe(false)
      expect(await here.cloud.get(ref)).toBeNull()
      expect(await here.cloud.find(order)).toBeNull()
      expect((await listed()).map(one => one.ref)).not.toContain(ref)
      expect(await here.cloud.start(ref, { verb: 'delete' })).toMatchObject({ state: 'done', unchanged: true })
    })

    test('takes snapshots once, restores them, and deletes them', async () => {
      const { snapshots } = here.cloud
      expect(snapshots === undefined).toBe(here.kind.capabilities.snapshots === null)
      if (!snapshots) return
      const { ref } = await provision({ start: true })
      const mark = `snap_${freeName().replaceAll('-', '_')}`
      const order = { mark, name: 'before the update', includesMemory: false, labels: { stage: 'test' } }
      expect(await snapshots.find(order, ref)).toBeNull()
      await run(ref, { verb: 'snapshot', order })
      const taken = await snapshots.find(order, ref)
      expect(taken).toMatchObject({ serverRef: ref, status: 'available', includesMemory: false, mark })
      expect(await here.cloud.start(ref, { verb: 'snapshot', order })).toEqual({ state: 'done', unchanged: true })
      expect(await snapshots.get(taken!.ref)).toEqual(taken)
      expect((await snapshots.list()).filter(one => one.mark === mark)).toEqual([taken!])
      expect(taken!.labels).toEqual(here.kind.capabilities.snapshots!.labels ? order.labels : {})
      if (here.kind.capabilities.snapshots!.labels) {
        const change = { verb: 'set_labels', labels: { set: { role: 'backup' }, remove: ['stage'] }, mark } as const
        expect((await finish(await snapshots.start(taken!.ref, change))).unchanged).toBe(false)
        expect(await snapshots.get(taken!.ref)).toEqual({ ...taken!, labels: { role: 'backup' } })
        expect(await snapshots.start(taken!.ref, change)).toEqual({ state: 'done', unchanged: true })
        await finish(await snapshots.start(taken!.ref, { ...change, labels: { set: {}, remove: ['role'] } }))
      }
      const since = Date.now() - 1000
      await run(ref, { verb: 'restore_snapshot', snapshotRef: taken!.ref })
      expect(await statusOf(ref)).toEqual(['running', 'on'])
      if (here.cloud.findOperation) {
        const operation = await here.cloud.findOperation(ref, 'restore_snapshot', since)
        await finish({ state: 'running', operation: operation! })
      }
      const gone = await finish(await snapshots.start(taken!.ref, { verb: 'delete' }))
      expect(gone.unchanged).toBe(false)
      expect(await snapshots.get(taken!.ref)).toBeNull()
      expect(await snapshots.start(taken!.ref, { verb: 'delete' })).toEqual({ state: 'done', unchanged: true })
      expect((await snapshots.list()).some(one => one.mark === mark)).toBe(false)
      await remove(ref)
    }, 180_000)

    test('snapshots are deleted with their server, unless they survive it', async () => {
      const { snapshots } = here.cloud
      if (!snapshots) return
      const { ref } = await provision()
      const order = { mark: `snap_${freeName().replaceAll('-', '_')}`, name: 'last', includesMemory: false, labels: {} }
      await run(ref, { verb: 'snapshot', order })
      await remove(ref)
      const left = (await snapshots.list()).filter(one => one.mark === order.mark)
      expect(left.length).toBe(here.kind.capabilities.snapshots!.surviveServer ? 1 : 0)
      for (const one of left) await finish(await snapshots.start(one.ref, { verb: 'delete' }))
    }, 180_000)

    /** An attached volume has snapshots, and is restored when it is not attached. */
    const snapshotsOfVolume = async (volumeRef: string) => {
      const { snapshots, volumes } = here.cloud
      const mark = `snap_${freeName().replaceAll('-', '_')}`
      const order = { mark, name: 'before', volumeRef }
      expect(await snapshots!.find(order, null)).toBeNull()
      const taken = await finish(await snapshots!.start(null, { verb: 'create', order }))
      const snapshot = await snapshots!.find(order, null)
      expect(snapshot).toMatchObject({ ref: taken.ref!, volumeRef, serverRef: null, status: 'available', mark })
      expect(await snapshots!.get(taken.ref!)).toEqual(snapshot)
      expect((await snapshots!.list()).filter(one => one.mark === mark).map(one => one.ref)).toEqual([snapshot!.ref])
      expect((await volumes!.list()).map(one => one.ref).filter(one => one.includes(mark))).toEqual([])
      const restore = { verb: 'restore_snapshot', snapshotRef: snapshot!.ref } as const
      const { serverRef, mountPath } = (await volumes!.get(volumeRef))!
      expect(await failureOf(Promise.resolve(volumes!.start(volumeRef, restore)).then(finish))).toBe('invalid')
      await finish(await volumes!.start(volumeRef, { verb: 'detach' }))
      await finish(await volumes!.start(volumeRef, restore))
      await finish(await volumes!.start(volumeRef, { verb: 'attach', serverRef: serverRef!, mountPath }))
      await finish(await snapshots!.start(snapshot!.ref, { verb: 'delete' }))
      expect(await snapshots!.get(snapshot!.ref)).toBeNull()
      expect(await snapshots!.start(snapshot!.ref, { verb: 'delete' })).toEqual({ state: 'done', unchanged: true })
    }

    test('creates volumes once, attaches, grows, and deletes them', async () => {
      const { volumes } = here.cloud
      const can = here.kind.capabilities.volumes
      expect(volumes === undefined).toBe(can === null)
      if (!volumes || !can) return
      const change = async (volumeRef: string, command: VolumeCommand) => await finish(await volumes.start(volumeRef, command))
      /** Runs a command, and again, which changes nothing. */
      const changeTwice = async (volumeRef: string, command: VolumeCommand) => {
        expect([command.verb, (await change(volumeRef, command)).unchanged]).toEqual([command.verb, false])
        const again = await volumes.start(volumeRef, command)
        expect([command.verb, again]).toEqual([command.verb, { state: 'done', unchanged: true }])
        return await volumes.get(volumeRef)
      }
      const name = freeName()
      const { location } = here.offer
      const sizeBytes = Math.max(can.minBytes, 64 * 2 ** 20)
      const order: VolumeOrder = { mark: `vol_${name}`, name, sizeBytes, location, format: null, labels: { role: 'data' } }
      expect(await volumes.find(order, null)).toBeNull()
      const started = await volumes.start(null, { verb: 'create', order })
      expect(started.ref).toBeString()
      await finish(started)
      let ref = started.ref!
      const created = await volumes.get(ref)
      const facts = { ref, name, status: 'available', serverRef: null, sizeBytes, mark: order.mark, labels: order.labels }
      expect(created).toMatchObject({ ...facts, isProtected: false, location })
      expect(await volumes.find({ ...order, name: 'absent' }, null)).toEqual(created)
      expect(await failureOf(volumes.start(null, { verb: 'create', order }))).toBe('already_exists')
      if (volumes.usage)
        for (const [used, { usedBytes, sizeBytes: size }] of await volumes.usage([created!])) {
          expect([used, size]).toEqual([ref, sizeBytes])
          expect(usedBytes).toBeWithin(0, sizeBytes)
        }
      const owner = await provision({ volumes: [ref] })
      expect(await volumes.get(ref)).toMatchObject({ serverRef: owner.ref, mountPath: can.isMounted ? `/mnt/${name}` : null })
      await remove(owner.ref)
      expect((await volumes.get(ref))?.serverRef).toBeNull()
      const [server, other] = [await provision({ start: true }), await provision()]
      const attached = await changeTwice(ref, { verb: 'attach', serverRef: server.ref, mountPath: '/mnt/data' })
      expect(attached).toMatchObject({ serverRef: server.ref, mountPath: can.isMounted ? '/mnt/data' : null })
      expect(await volumes.list()).toContainEqual(attached!)
      expect(await failureOf(change(ref, { verb: 'attach', serverRef: other.ref, mountPath: null }))).toBe('invalid')
      expect(await failureOf(change(ref, { verb: 'delete' }))).toBe('invalid')
      if (can.snapshots) await snapshotsOfVolume(ref)
      const larger = sizeBytes + 4 * can.stepBytes
      expect((await changeTwice(ref, { verb: 'resize', sizeBytes: larger }))?.sizeBytes).toBe(larger)
      expect(await failureOf(change(ref, { verb: 'resize', sizeBytes }))).toBe('invalid')
      expect((await changeTwice(ref, { verb: 'detach' }))?.serverRef).toBeNull()
      expect(await statusOf(server.ref)).toEqual(['running', 'on'])
      const renamed = {
        verb: 'update',
        mark: order.mark,
        isMade: true,
        name: freeName(),
        labels: { set: { a: 'b' }, remove: ['role'] },
      } as const
      const renaming = await change(ref, renamed)
      const oldRef = ref
      ref = renaming.ref ?? ref
      expect(await volumes.get(ref)).toMatchObject({
        ref,
        name: renamed.name,
        labels: { a: 'b' },
        mark: order.mark,
        sizeBytes: larger,
      })
      // As after a lost response: by its old ref, too.
      for (const one of new Set([ref, oldRef])) {
        const { state, unchanged } = (await volumes.start(one, renamed)) as { state: string; unchanged?: boolean }
        expect([state, unchanged]).toEqual(['done', true])
      }
      if (can.protection) {
        expect((await changeTwice(ref, { verb: 'set_protection', isProtected: true }))?.isProtected).toBe(true)
        expect(await failureOf(change(ref, { verb: 'delete' }))).toBe('protected')
        await change(ref, { verb: 'set_protection', isProtected: false })
      }
      expect(await changeTwice(ref, { verb: 'delete' })).toBeNull()
      expect((await volumes.list()).map(one => one.ref)).not.toContain(ref)
      expect(await failureOf(change(ref, { verb: 'detach' }))).toBe('not_found')
      for (const one of [server, other]) await remove(one.ref)
    }, 180_000)

    test('names are validated before and at the cloud', async () => {
      const { pattern, rule } = here.kind.capabilities.names
      expect(rule).toMatch(/^must /)
      const isValid = (name: string) => new RegExp(pattern).test(name)
      for (const name of here.names.refused) {
        expect([name, isValid(name)]).toEqual([name, false])
        const order = await orderOf({ name, mark: 'srv_refused' })
        expect([name, await failureOf(run(null, { verb: 'provision', order }))]).toEqual([name, 'invalid'])
        expect(await here.cloud.find(order)).toBeNull()
      }
      for (const name of here.names.accepted) {
        expect([name, isValid(name)]).toEqual([name, true])
        const { ref, server } = await provision({ name })
        expect(server.name).toBe(name)
        await remove(ref)
      }
    })

    test('images and sizes that do not exist are refused, and nothing is created', async () => {
      const absentImage = /^\d+$/.test(here.offer.image) ? '987654321' : 'absent'
      const order = await orderOf({ image: absentImage })
      expect(await failureOf(run(null, { verb: 'provision', order }))).toBeOneOf(['not_found', 'invalid'])
      expect(await here.cloud.find(order)).toBeNull()
      if (here.kind.capabilities.sizes === 'free') return
      const sized = await orderOf({ size: { slug: 'absent' } })
      expect(await failureOf(run(null, { verb: 'provision', order: sized }))).toBeOneOf(['not_found', 'invalid'])
    })

    test('distinguishes a wrong credential from an unreachable cloud', async () => {
      for (const [name, call] of reads(here.unauthorized)) expect([name, await failureOf(call())]).toEqual([name, 'unauthorized'])
      for (const [name, call] of reads(here.unreachable))
        expect([name, (await failureOf(call())).replace('timeout', 'unreachable')]).toEqual([name, 'unreachable'])
      const order = await orderOf()
      const refused = await errorOf(here.unauthorized.start(null, { verb: 'provision', order }))
      expect([refused.failure, mayHaveApplied(refused)]).toEqual(['unauthorized', false])
      const unsent = await errorOf(here.unreachable.start(null, { verb: 'provision', order }))
      expect(mayHaveApplied(unsent)).toBe(false)
      expect(await here.cloud.find(order)).toBeNull()
    })

    describe('when the cloud fails,', () => {
      const troubled = async (cause: (trouble: CloudTrouble) => unknown, then: () => Promise<void>) => {
        const { trouble } = here
        if (!trouble) return
        await cause(trouble)
        try {
          await then()
        } finally {
          await trouble.calm()
        }
      }

      test('an incomplete list is an error', async () => {
        if (!here.trouble) return
        const refs = [(await provision()).ref, (await provision()).ref, (await provision()).ref]
        await troubled(
          trouble => trouble.shorten(),
          async () => expect(await failureOf(here.cloud.list())).toBe('incomplete'),
        )
        await troubled(
          trouble => trouble.miscount?.(),
          async () => {
            if (here.trouble?.miscount) expect(await failureOf(here.cloud.list())).toBe('incomplete')
          },
        )
        expect((await listed()).map(one => one.ref)).toEqual(expect.arrayContaining(refs))
        for (const ref of refs) await remove(ref)
      })

      test('a list that never ends, or with more than a cloud can have, is an error', async () => {
        if (!here.trouble) return
        const { ref } = await provision()
        for (const [name, cause] of Object.entries(here.trouble.endless ?? {}))
          await troubled(cause, async () => {
            const { failure } = await errorOf(here.cloud.list())
            expect([name, isListFailure.has(failure) ? 'an error' : failure]).toEqual([name, 'an error'])
          })
        await troubled(
          trouble => trouble.bloat(ref),
          async () => expect(['invalid_response', 'incomplete']).toContain(await failureOf(here.cloud.list())),
        )
        const filling = `${JSON.stringify({ name: 'x'.repeat(1000) })},`.repeat(17_000)
        await troubled(
          trouble => trouble.respond({ status: 200, body: `{"data":[${filling}` }),
          async () => expect(await failureOf(here.cloud.list())).toBe('incomplete'),
        )
        expect((await listed()).map(one => one.ref)).toContain(ref)
        await remove(ref)
      }, 120_000)

      test('numbers out of range are ignored', async () => {
        if (!here.trouble) return
        const { ref } = await provision()
        await troubled(
          trouble => trouble.exaggerate(ref),
          async () => {
            const { resources } = (await listed()).find(one => one.ref === ref)!
            // Some clouds tell the same elsewhere, too.
            for (const [name, value] of Object.entries(resources))
              expect([name, value === null || (Number.isSafeInteger(value) && value > 0)]).toEqual([name, true])
          },
        )
        await remove(ref)
      })

      test('rate limiting tells when to retry, and nothing was carried out', async () => {
        if (!here.trouble?.throttle) return
        const order = await orderOf()
        await troubled(
          trouble => trouble.throttle!(7),
          async () => {
            for (const call of [() => here.cloud.list(), () => here.cloud.start(null, { verb: 'provision', order })]) {
              const { failure, retryAfterMs } = await errorOf(call())
              expect(failure).toBe('throttled')
              // Some clouds tell the time of the reset in whole seconds.
              expect(retryAfterMs).toBeWithin(5000, 8001)
            }
          },
        )
        expect(await here.cloud.find(order)).toBeNull()
      })

      test('a missing permission is unauthorized', async () => {
        if (!here.trouble) return
        const { ref, server } = await provision()
        const order = await orderOf()
        await troubled(
          trouble => trouble.forbid(),
          async () => {
            expect(await failureOf(run(ref, { verb: 'power_on' }))).toBe('unauthorized')
            expect(await failureOf(run(null, { verb: 'provision', order }))).toBe('unauthorized')
          },
        )
        expect(await here.cloud.get(ref)).toEqual(stable(server))
        expect(await here.cloud.find(order)).toBeNull()
        await remove(ref)
      })

      test('a lock is reported, and the command works later', async () => {
        if (!here.trouble?.lock) return
        const { ref } = await provision()
        await troubled(
          trouble => trouble.lock!(),
          async () => {
            const error = await errorOf(run(ref, { verb: 'power_on' }))
            expect([error.failure, mayHaveApplied(error)]).toEqual(['locked', false])
          },
        )
        await run(ref, { verb: 'power_on' })
        expect(await statusOf(ref)).toEqual(['running', 'on'])
        await remove(ref)
      })

      test('a provision whose response was lost is found by its mark', async () => {
        if (!here.trouble) return
        const order = await orderOf({ start: true })
        await troubled(
          trouble => trouble.lose(),
          async () => expect(mayHaveApplied(await errorOf(here.cloud.start(null, { verb: 'provision', order })))).toBe(true),
        )
        const found = await until(
          () => here.cloud.find(order),
          one => one !== null,
        )
        expect(found).toMatchObject({ name: order.name, mark: order.mark })
        for (let times = 0; here.cloud.continueProvision && times < 2; times++)
          await finish(await here.cloud.continueProvision(found!.ref, order))
        const server = await until(
          () => here.cloud.find(order),
          one => one?.status === 'running',
        )
        expect(server).toMatchObject({ ref: found!.ref, name: order.name })
        const dropped = await orderOf()
        await troubled(
          trouble => trouble.drop(),
          async () => {
            await errorOf(here.cloud.start(null, { verb: 'provision', order: dropped }))
          },
        )
        expect(await here.cloud.find(dropped)).toBeNull()
        await remove(server!.ref)
      })

      test('a command whose response was lost can be repeated, or its operation found', async () => {
        if (!here.trouble) return
        const { ref } = await provision()
        const command = { verb: 'power_on' } as const
        const ambiguous = async (verb: ServerCommand & { verb: 'power_on' | 'power_cycle' }) =>
          expect(mayHaveApplied(await errorOf(here.cloud.start(ref, verb)))).toBe(true)
        await troubled(
          trouble => trouble.lose(),
          () => ambiguous(command),
        )
        await until(
          () => here.cloud.get(ref),
          one => one?.status === 'running',
        )
        expect(await here.cloud.start(ref, command)).toMatchObject({ state: 'done', unchanged: true })
        if (can('power_cycle') && here.cloud.findOperation) {
          const since = Date.now() - 1000
          await troubled(
            trouble => trouble.drop(),
            async () => {
              await errorOf(here.cloud.start(ref, { verb: 'power_cycle' }))
            },
          )
          expect(await here.cloud.findOperation(ref, 'power_cycle', since)).toBeNull()
          await troubled(
            trouble => trouble.lose(),
            () => ambiguous({ verb: 'power_cycle' }),
          )
          const operation = await here.cloud.findOperation(ref, 'power_cycle', since)
          expect(operation).not.toBeNull()
          await finish({ state: 'running', operation: operation! })
          expect(await here.cloud.findOperation(ref, 'power_off', since)).toBeNull()
        }
        await remove(ref)
      })

      test('an operation that the cloud has forgotten is gone', async () => {
        if (!here.trouble) return
        const { ref } = await provision()
        const started = await here.cloud.start(ref, { verb: 'power_on' })
        if (started.state === 'running')
          await troubled(
            trouble => trouble.forget(),
            async () => expect(await here.cloud.poll(started.operation)).toEqual({ state: 'gone' }),
          )
        await until(
          () => here.cloud.get(ref),
          one => one?.status === 'running',
        )
        await remove(ref)
      })

      test('an operation that failed is an error', async () => {
        if (!here.trouble) return
        const { ref } = await provision()
        await troubled(
          trouble => trouble.fail(),
          async () => {
            await errorOf(run(ref, { verb: 'power_on' }))
          },
        )
        expect((await here.cloud.get(ref))?.status).toBe('off')
        await remove(ref)
      })

      test('an unknown status is unknown, and kept as text', async () => {
        if (!here.trouble) return
        const { ref } = await provision()
        const text = await here.trouble.oddStatus(ref)
        const server = await here.cloud.get(ref)
        expect(server).toMatchObject({ status: 'unknown', statusText: text, power: 'unknown' })
        expect(await listed()).toContainEqual(server!)
        await here.trouble.calm()
        await remove(ref)
      })

      test('a response that is not of the cloud is an error, and a command may have been carried out', async () => {
        if (!here.trouble) return
        const { errorWithStatus200 } = here.trouble
        const [secret = ''] = here.secrets
        const bodies: [title: string, status: number, body: string][] = [
          ['a page of a proxy', 502, `<html><body><h1>Bad Gateway</h1>${secret}</body></html>`],
          ['a page instead of JSON', 200, `<!doctype html><title>Sign in</title>${secret}`],
          ['nothing', 200, ''],
          ['a number', 200, '7'],
          ['an empty object', 200, '{}'],
          ['truncated JSON', 200, '{"data":[{"metadata":{"id":1,'],
          ['5 MB', 200, JSON.stringify({ filling: 'x'.repeat(5_000_000), secret })],
          ['an internal error', 500, JSON.stringify({ error: `panic: ${secret}`, message: secret })],
          ...(errorWithStatus200 === undefined
            ? []
            : [['an error with status 200', 200, errorWithStatus200] as [string, number, string]]),
        ]
        const order = await orderOf()
        for (const [name, status, body] of bodies)
          await troubled(
            trouble => trouble.respond({ status, body }),
            async () => {
              for (const [call, read] of reads(here.cloud)) {
                const { failure } = await errorOf(read())
                // What a proxy can't reach for a moment is asked again.
                const isExpected =
                  name.includes('error') || (status === 502 ? failure === 'unreachable' : isResponseFailure.has(failure))
                expect([name, call, isExpected ? 'an error' : failure]).toEqual([name, call, 'an error'])
              }
              const error = await errorOf(here.cloud.start(null, { verb: 'provision', order }))
              if (!name.includes('error')) expect([name, mayHaveApplied(error)]).toEqual([name, true])
            },
          )
        expect(await here.cloud.find(order)).toBeNull()
      }, 120_000)

      /** Reads until it is so. */
      const until = async <T>(read: () => Promise<T>, isSo: (value: T) => boolean): Promise<T> => {
        for (let polls = 0; polls < maxPolls; polls++) {
          const value = await read()
          if (isSo(value)) return value
          await here.pause()
        }
        throw new Error('It never became so.')
      }
    })
  })
}

/** Failures of a response that is not of the cloud. */
const isResponseFailure: ReadonlySet<string> = new Set(['unreachable', 'refused', 'incomplete', 'invalid_response'])

/** Failures of a list that can't be read to its end. */
const isListFailure: ReadonlySet<string> = new Set(['refused', 'incomplete', 'timeout', 'throttled'])

/** A server as every later reading has it: addresses can appear while it boots. */
const stable = (server: CloudServer) => ({ ...server, addresses: expect.any(Array) })
