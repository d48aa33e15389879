import { beforeEach, describe, expect, test } from 'bun:test'
import { markSilent } from '../../src/features/servers/agents/silence'
import { AgentDouble } from '../support/agent-double'
import { cloudScene } from '../support/clouds/cloud-scene'
import { HostDouble } from '../support/host-double'
import type { HostPacket } from '../support/nft-model'
import { world } from '../support/world'

const ssh = { id: 'ssh', direction: 'in', protocol: 'tcp', ports: ['22'], sources: ['198.51.100.0/24'] }
const https = { id: 'https', direction: 'in', protocol: 'tcp', ports: ['443'], sources: ['0.0.0.0/0', '::/0'] }

async function scene() {
  const here = await world()
  const call = here.acme.call
  const add = async (name: string): Promise<string> =>
    (await call('POST', '/v1/servers', { name }, { 'Idempotency-Key': name })).body.id
  const server = await add('host-1')
  const host = await HostDouble.enroll(here, server)
  const firewall = (await call('POST', '/v1/firewalls', { name: 'web', rules: [ssh, https] })).body
  const path = `/v1/firewalls/${firewall.id}`
  /** Lets time pass. Hosts work meanwhile. */
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed++) {
      await here.advance(1000)
      await host.work()
    }
    await here.settle()
  }
  const action = async (started: Promise<{ status: number; body: any; text: string }>): Promise<string> => {
    const { status, body, text } = await started
    if (status !== 202) throw new Error(text)
    return body.id
  }
  return {
    ...{ here, call, add, server, host, firewall, path, pass, action },
    get: async () => (await call('GET', path)).body,
    attach: (ids = [server], more: object = {}) => call('POST', `${path}/attach`, { server_ids: ids, ...more }),
    put: (rules: object[], more: object = {}) => call('PUT', `${path}/rules`, { rules, ...more }),
    /** Starts a change, and lets time pass until its action has finished. */
    async done(change: Promise<{ status: number; body: any; text: string }>, seconds = 300) {
      const id = await action(change)
      for (let passed = 0; passed < seconds; passed++) {
        const found = (await call('GET', `/v1/actions/${id}`)).body
        if (found.finished_at !== null) {
          await pass(2)
          return found
        }
        await pass(1)
      }
      throw new Error(`the action ${id} does not finish`)
    },
  }
}
let s: Awaited<ReturnType<typeof scene>>
beforeEach(async () => {
  s = await scene()
})

describe('the agent of a server', () => {
  test('enforces firewalls if no cloud can', async () => {
    expect((await s.done(s.attach())).status).toBe('success')
    expect(await s.get()).toMatchObject({
      state: 'applied',
      attached: [{ server_id: s.server, enforcer: 'agent', state: 'applied', rules_version: 1, error: null }],
    })
    const passing = [s.host.passes(443, '192.0.2.9'), s.host.passes(22, '198.51.100.7'), s.host.passes(22, '192.0.2.9')]
    expect(passing).toEqual([true, true, false])
    // What was confirmed survives a restart.
    expect(s.host.obeyed).toEqual(['firewall_apply', 'firewall_confirm'])
    s.host.restart()
    expect(s.host.passes(22, '192.0.2.9')).toBe(false)

    const other = (await s.call('POST', '/v1/firewalls', { name: 'metrics', rules: [{ ...https, ports: ['9100'] }] })).body
    await s.done(s.call('POST', `/v1/firewalls/${other.id}/attach`, { server_ids: [s.server] }))
    expect([443, 9100, 9101].map(port => s.host.passes(port, '192.0.2.9'))).toEqual([true, true, false])
    const allow = { allow: ['cuts_ssh', 'cuts_caller', 'opens_everything'], note: 'It moves behind another firewall.' }
    await s.done(s.call('POST', `${s.path}/detach`, { server_ids: [s.server], ...allow }))
    expect([443, 9100].map(port => s.host.passes(port, '192.0.2.9'))).toEqual([false, true])
    expect((await s.get()).attached).toEqual([])
    await s.done(s.call('POST', `/v1/firewalls/${other.id}/detach`, { server_ids: [s.server], ...allow }))
    expect(s.host.passes(1, '192.0.2.9')).toBe(true)
    expect((await s.call('DELETE', `/v1/firewalls/${other.id}`)).status).toBe(204)
  })

  test('must be allowed to, and a cloud that can comes first', async () => {
    const bare = await s.add('host-2')
    const refused = async () => (await s.attach([bare])).body.errors[0]
    expect(await refused()).toMatchObject({ pointer: '#/server_ids/0', code: 'unsupported' })
    const agent = await AgentDouble.enroll(s.here, bare)
    expect((await refused()).code).toBe('unsupported')
    await agent.reports({ allow: ['firewall'] })
    expect((await s.attach([bare])).status).toBe(202)

    const cloud = await cloudScene(s.here)
    cloud.double.addServer({ name: 'rented' })
    await s.pass(60)
    const rented = await cloud.named('rented')
    await HostDouble.enroll(s.here, rented.id)
    const guarded = (await s.call('POST', '/v1/firewalls', { name: 'rented', rules: [ssh, https] })).body
    await s.call('POST', `/v1/firewalls/${guarded.id}/attach`, { server_ids: [rented.id] })
    const rules = `/v1/firewalls/${guarded.id}`
    expect((await s.call('GET', rules)).body.attached[0].enforcer).toBe('hetzner')
    await s.pass(5)
    // There, rules for outgoing traffic may keep the agent from reaching the hub.
    const out = { id: 'dns', direction: 'out', protocol: 'udp', ports: ['53'], destinations: ['0.0.0.0/0'] }
    const blocked = await s.call('PUT', `${rules}/rules`, { rules: [ssh, https, out] })
    expect([blocked.status, blocked.body.reasons.map((one: any) => one.code)]).toEqual([409, ['cuts_agent']])
  })

  test('reports why rules could not be applied', async () => {
    s.host.failure = 'nft: out of memory'
    expect((await s.done(s.attach())).error.detail).toContain('nft: out of memory')
    expect((await s.get()).attached[0]).toMatchObject({ state: 'failed', error: 'nft: out of memory' })
    // It is tried again once in a while.
    s.host.failure = null
    await s.pass(300)
    await s.host.reports()
    await s.pass(3)
    expect((await s.get()).attached[0]).toMatchObject({ state: 'applied', error: null })
  })
})

describe('a change', () => {
  const gone = { allow: ['opens_everything', 'opens_sensitive'], note: 'It is gone.' }

  beforeEach(async () => {
    await s.done(s.attach())
    await s.here.emitted()
  })

  test('is confirmed by itself once the agent has reached the hub', async () => {
    expect((await s.put([ssh, https], { confirm_within_seconds: 0 })).body.errors[0]).toMatchObject({
      pointer: '#/confirm_within_seconds',
      code: 'out_of_range',
    })
    const action = await s.done(s.put([ssh, { ...https, ports: ['443', '8443'] }]), 10)
    expect(action.status).toBe('success')
    expect(await s.get()).toMatchObject({ state: 'applied', pending: null, rules_version: 2 })
    s.host.restart()
    expect(s.host.passes(8443, '192.0.2.9')).toBe(true)
    expect(await s.here.emitted()).toEqual([])
  })

  test('is not held up by a host that can’t be reached, or is being detached, which gets it later', async () => {
    const id = await s.add('host-2')
    const other = await HostDouble.enroll(s.here, id)
    const change = s.action(s.attach([id]))
    for (let at = 0; at < 5; at++) {
      await s.pass(1)
      await other.work()
    }
    expect((await s.call('GET', `/v1/actions/${await change}`)).body.status).toBe('success')
    other.isCutOff = true
    await s.here.advance(200_000)
    await s.host.agent.reports({})
    await markSilent(s.here.hub)
    const states = async () => {
      const { attached } = await s.get()
      return [s.server, id].map(each => attached.find((one: any) => one.server_id === each)?.state ?? null)
    }
    expect((await s.done(s.put([ssh, { ...https, ports: ['443', '8443'] }]), 10)).status).toBe('success')
    expect([await states(), s.host.passes(8443, '192.0.2.9')]).toEqual([['applied', 'applying'], true])
    s.host.restart()
    expect(s.host.passes(8443, '192.0.2.9')).toBe(true)
    const detached = await s.done(s.call('POST', `${s.path}/detach`, { server_ids: [id], ...gone }), 10)
    expect([detached.status, detached.error]).toEqual(['error', expect.objectContaining({ code: 'provider_failed' })])
    expect(detached.error.detail).toContain(
      'has not been detached from all servers yet: The agent of the server is not reporting',
    )
    expect((await s.get()).attached.find((one: any) => one.server_id === id).error).toContain('is not reporting')
    expect((await s.done(s.put([ssh, { ...https, ports: ['443', '8443', '9443'] }]), 10)).status).toBe('success')
    expect(await states()).toEqual(['applied', 'detaching'])
    other.isCutOff = false
    for (let at = 0; at < 5; at++) {
      await other.reports()
      await other.work()
      await s.pass(1)
    }
    expect([await states(), other.passes(1, '192.0.2.9')]).toEqual([['applied', null], true])
  })

  test('that detaches a server whose agent was deleted does not wait for another agent, which removes the firewall', async () => {
    s.host.isCutOff = true
    await s.here.advance(200_000)
    await markSilent(s.here.hub)
    await s.done(s.call('POST', `${s.path}/detach`, { server_ids: [s.server], ...gone }), 10)
    expect((await s.get()).attached).toMatchObject([{ state: 'detaching' }])
    await s.host.agent.isDeleted()
    await s.here.settle()
    expect((await s.get()).attached).toEqual([])
    expect((await s.call('DELETE', s.path)).status).toBe(204)
    expect(s.host.passes(1, '192.0.2.9')).toBe(false)
    const next = await s.host.reenroll()
    await next.reports()
    await s.here.settle()
    await next.work()
    expect(next.passes(1, '192.0.2.9')).toBe(true)
  })

  test('that cuts off the host is reverted by the host itself, without the hub', async () => {
    const id = await s.action(s.put([ssh], { allow: ['cuts_caller'], note: 'HTTPS moves.', confirm: 'auto' }))
    await s.here.settle()
    await s.host.work()
    s.host.isCutOff = true
    expect(s.host.passes(443, '192.0.2.9')).toBe(false)
    // The hub is down.
    s.here.clock.advance(65_000)
    expect(s.host.passes(443, '192.0.2.9')).toBe(true)
    s.host.isCutOff = false
    await s.host.reports()
    await s.pass(10)
    expect((await s.call('GET', `/v1/actions/${id}`)).body.result).toMatchObject({ reverted: true, restored_version: 1 })
    expect(await s.get()).toMatchObject({ state: 'applied', rules_version: 3, rules: [{ id: 'ssh' }, { id: 'https' }] })
    expect(await s.here.emitted()).toContain('firewall.reverted')
    expect(s.host.passes(443, '192.0.2.9')).toBe(true)
  })

  test('with a guard that was allowed is restored unless someone confirms it', async () => {
    const allow = { allow: ['cuts_ssh'], note: 'SSH moves to the VPN.' }
    const first = await s.action(s.put([https], allow))
    await s.pass(30)
    expect(await s.get()).toMatchObject({ state: 'awaiting_confirmation', pending: { confirm: 'manual' } })
    expect(s.host.passes(22, '198.51.100.7')).toBe(false)
    await s.pass(36)
    expect((await s.call('GET', `/v1/actions/${first}`)).body.result).toMatchObject({ reverted: true })
    expect(s.host.passes(22, '198.51.100.7')).toBe(true)
    expect(await s.here.emitted()).toEqual(['firewall.reverted'])

    await s.action(s.put([https], allow))
    await s.pass(30)
    await s.call('POST', `${s.path}/confirm`)
    await s.pass(60)
    expect(await s.get()).toMatchObject({ state: 'applied', pending: null, rules: [{ id: 'https' }] })
    s.host.restart()
    expect(s.host.passes(22, '198.51.100.7')).toBe(false)
  })

  test('that is reverted is not kept by a host that reports it meanwhile', async () => {
    const id = await s.action(s.put([https], { allow: ['cuts_ssh'], note: 'SSH moves to the VPN.' }))
    await s.pass(30)
    await s.call('POST', `${s.path}/revert`)
    // The action has not restored the previous rules yet.
    await s.host.reports()
    await s.here.settle()
    expect((await s.get()).rules_version).toBe(2)
    await s.host.work()
    s.host.restart()
    expect(s.host.passes(22, '198.51.100.7')).toBe(true)
    await s.pass(10)
    expect((await s.call('GET', `/v1/actions/${id}`)).body.result).toMatchObject({ reverted: true, reason: 'requested' })
  })

  test('can be confirmed until the time that is shown, also if a server has it later than others', async () => {
    const other = await s.add('host-2')
    const late = await HostDouble.enroll(s.here, other)
    await s.action(s.attach([other]))
    await s.pass(1)
    await late.work()
    await s.pass(5)
    await late.work()
    await s.action(s.put([https], { allow: ['cuts_ssh'], note: 'SSH moves to the VPN.' }))
    await s.pass(30)
    expect(await s.get()).toMatchObject({ state: 'applying', pending: { expires_at: null } })
    await late.work()
    await s.pass(3)
    const { state, pending } = await s.get()
    expect(state).toBe('awaiting_confirmation')
    await s.pass(Math.floor((Date.parse(pending.expires_at) - s.here.clock.now()) / 1000) - 2)
    expect([s.host, late].map(host => host.passes(22, '198.51.100.7'))).toEqual([false, false])
    expect((await s.call('POST', `${s.path}/confirm`)).status).toBe(200)
    await s.pass(2)
    await late.work()
    await s.pass(60)
    for (const host of [s.host, late]) {
      host.restart()
      expect(host.passes(22, '198.51.100.7')).toBe(false)
    }
    expect(await s.get()).toMatchObject({ state: 'applied', rules_version: 2 })
  })

  test('that a host lost before it was confirmed is reverted', async () => {
    const id = await s.action(s.put([https], { allow: ['cuts_ssh'], note: 'SSH moves to the VPN.' }))
    await s.pass(10)
    s.host.restart()
    await s.host.reports()
    await s.pass(10)
    expect((await s.call('GET', `/v1/actions/${id}`)).body.result).toMatchObject({ reverted: true, reason: 'failed' })
  })

  test('reaches the host once its agent may change the firewall again', async () => {
    await s.host.agent.reports({ allow: ['collect'] })
    await s.done(s.put([ssh, { ...https, ports: ['443', '8443'] }]))
    const failed = { state: 'failed', error: expect.stringContaining('no agent that may change its firewall') }
    expect((await s.get()).attached[0]).toMatchObject(failed)
    await s.host.agent.reports({ allow: ['collect', 'firewall'] })
    await s.host.reports()
    await s.pass(5)
    expect(await s.get()).toMatchObject({ state: 'applied', attached: [{ rules_version: 3, error: null }] })

    await s.host.agent.reports({ allow: ['collect'] })
    await s.action(s.call('POST', `${s.path}/detach`, { server_ids: [s.server], allow: ['opens_everything'], note: 'Retired.' }))
    await s.pass(5)
    expect((await s.get()).attached[0]).toMatchObject({ ...failed, state: 'detaching' })
    expect(s.host.passes(1, '192.0.2.9')).toBe(false)
    await s.host.agent.reports({ allow: ['collect', 'firewall'] })
    await s.host.reports()
    await s.pass(5)
    expect((await s.get()).attached).toEqual([])
    expect(s.host.passes(1, '192.0.2.9')).toBe(true)
  })

  test('of a dynamic IP source reaches the host', async () => {
    const source = (await s.call('POST', '/v1/dynamic-ips', { name: 'Office router' })).body
    const report = (ipv4: string) => s.call('POST', `/v1/dynamic-ips/${source.id}/report`, { ipv4 })
    await report('203.0.113.7')
    await s.done(s.put([{ ...ssh, sources: [source.id] }, https], {}))
    expect([s.host.passes(22, '203.0.113.7'), s.host.passes(22, '203.0.113.8')]).toEqual([true, false])
    await report('203.0.113.8')
    await s.pass(3)
    expect([s.host.passes(22, '203.0.113.7'), s.host.passes(22, '203.0.113.8')]).toEqual([true, true])
    expect((await s.call('GET', `/v1/dynamic-ips/${source.id}/firewall-links`)).body.data[0].status).toBe('active')
    await s.pass(125)
    expect([s.host.passes(22, '203.0.113.7'), s.host.passes(22, '203.0.113.8')]).toEqual([false, true])
  })

  test('of its uplinks changes what the host drops of forwarded packets', async () => {
    const published = (via: string) => s.host.passes(8080, '192.0.2.9', { hook: 'forward', interface: via })
    expect(['eth0', 'wg0', 'docker0'].map(published)).toEqual([false, true, true])
    await s.host.agent.reports({ facts: { uplinks: ['wg0', 'eth0', '" accept'] } })
    await s.pass(3)
    expect(['eth0', 'wg0', 'docker0'].map(published)).toEqual([false, false, true])
    await s.host.agent.reports({ facts: {} })
    await s.pass(3)
    expect(['eth0', 'wg0', 'docker0'].map(published)).toEqual([true, true, true])
    // The host keeps it.
    expect(s.host.obeyed.slice(-2)).toEqual(['firewall_apply', 'firewall_confirm'])
  })

  test('that restricts outgoing traffic lets the agent through, however the name of the hub is resolved', async () => {
    s.here.hub.baseUrl = 'https://hub.example.com'
    s.here.hub.resolve = async () => {
      throw new Error('SERVFAIL')
    }
    const ntp = { id: 'ntp', direction: 'out', protocol: 'udp', ports: ['123'], destinations: ['0.0.0.0/0'] }
    await s.host.agent.reports({ facts: {} })
    // It is unknown which user must be allowed.
    expect((await s.done(s.put([ssh, https, ntp]))).result).toMatchObject({ reverted: true, reason: 'failed' })
    await s.host.agent.reports({ facts: { agent_uid: 987 } })
    expect((await s.done(s.put([ssh, https, ntp]))).status).toBe('success')
    expect(await s.get()).toMatchObject({ state: 'applied', attached: [{ state: 'applied', error: null }] })
    const sends = (port: number, more: Partial<HostPacket>) => s.host.passes(port, '192.0.2.1', { hook: 'output', ...more })
    expect([sends(443, { uid: 987 }), sends(443, { uid: 1000 }), sends(53, { protocol: 'udp' })]).toEqual([true, false, true])
  })

  describe('that something else on the host makes', () => {
    const drifts = async () =>
      (await s.call('GET', '/v1/notices')).body.data
        .filter((one: any) => one.kind === 'firewall.drifted')
        .map((one: any) => one.count)
    const flushed = async (reports = 1) => {
      s.host.flush()
      for (let at = 0; at < reports; at++) {
        await s.host.reports()
        await s.pass(3)
      }
      return s.host.passes(1, '192.0.2.9')
    }

    test('is reported once, and undone if someone applies the rules again', async () => {
      await s.here.audited()
      expect(await flushed(3)).toBe(true)
      const drift = { is_attached: false, changed_defaults: [], added: [], removed: [] }
      expect(await s.get()).toMatchObject({ state: 'drifted', attached: [{ state: 'drifted', drift }] })
      expect([await drifts(), await s.here.audited()]).toEqual([[1], ['cloud.firewall.drift']])
      const adopted = await s.call('POST', `${s.path}/adopt`, { server_id: s.server })
      expect([adopted.status, adopted.body.code]).toEqual([409, 'conflict'])
      // Other reports of the agent change nothing about it.
      await s.host.agent.reports({ facts: { uplinks: ['eth0'], agent_uid: 987, hostname: 'other' } })
      await s.pass(3)
      expect((await s.get()).state).toBe('drifted')
      await s.done(s.put([ssh, https]))
      expect(await s.get()).toMatchObject({ state: 'applied', attached: [{ state: 'applied', drift: null }] })
      expect(s.host.passes(1, '192.0.2.9')).toBe(false)
    })

    test('is no longer reported once it is undone there', async () => {
      await flushed()
      s.host.restart()
      await s.host.reports()
      await s.pass(3)
      expect(await s.get()).toMatchObject({ state: 'applied', attached: [{ state: 'applied', drift: null }] })
    })

    test('is undone three times in ten minutes if one of the firewalls says so', async () => {
      const other = (await s.call('POST', '/v1/firewalls', { name: 'metrics', rules: [{ ...https, ports: ['9100'] }] })).body
      await s.done(s.call('POST', `/v1/firewalls/${other.id}/attach`, { server_ids: [s.server] }))
      await s.call('PATCH', `/v1/firewalls/${other.id}`, { drift_policy: 'enforce' })
      await s.here.audited()
      for (let n = 1; n <= 4; n++) {
        expect([n, await flushed()]).toEqual([n, n === 4])
        await s.pass(30)
      }
      expect((await s.get()).state).toBe('drifted')
      expect(await s.here.audited()).toEqual(Array.from({ length: 8 }, () => 'cloud.firewall.drift'))
      await s.pass(600)
      await s.host.reports()
      await s.pass(3)
      expect([(await s.get()).state, s.host.passes(1, '192.0.2.9')]).toEqual(['applied', false])
    }, 180_000)
  })
})

test('the packets of each rule are counted', async () => {
  await s.done(s.attach())
  const metrics = `${s.path}/metrics?from=${new Date(s.here.clock.now() - 60_000).toISOString()}`
  const none = (await s.call('GET', metrics)).body
  expect([none.sources, none.series]).toEqual([[], []])
  const counts = (https: number, dropped: number, blocked: number) => ({
    [`${s.firewall.id}.https`]: https,
    ...{ default: dropped, blocks: blocked },
  })
  for (const counters of [counts(0, 10, 0), counts(600, 40, 30), counts(1200, 40, 90)]) {
    s.host.counters = counters
    await s.host.reports()
    await s.pass(60)
  }
  const { sources, series } = (await s.call('GET', metrics)).body
  expect(sources).toMatchObject([{ source: 'agent', stale: false }])
  const known = (one: any) => [one.name, one.device, one.avg.filter((value: number | null) => value !== null)]
  expect(series.map(known)).toEqual([
    ['firewall.accepted_packets_per_second', `https ${s.server}`, [10, 10]],
    ['firewall.dropped_packets_per_second', s.server, [1, 1]],
  ])
  const other = await s.call('GET', `${metrics}&server_id=srv_01k3z9a1b2c3d4e5f6g7h8j9km`)
  expect(other.body.series).toEqual([])
})
