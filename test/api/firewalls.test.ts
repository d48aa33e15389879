import { beforeEach, describe, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { attachProblems } from '../../src/features/servers/firewalls/attach-problems'
import { firewalls } from '../../src/features/servers/firewalls/tables'
import { servers } from '../../src/features/servers/tables'
import { cloudScene, proxmoxScene } from '../support/clouds/cloud-scene'
import { incusScene } from '../support/clouds/incus-scene'
import { isAllowed } from '../support/clouds/hetzner-firewalls'
import type { HetznerServer } from '../support/clouds/hetzner-project'
import { callerWith, world } from '../support/world'

const ssh = { id: 'ssh', direction: 'in', protocol: 'tcp', ports: ['22'], sources: ['198.51.100.0/24'] }
const https = { id: 'https', direction: 'in', protocol: 'tcp', ports: ['443'], sources: ['0.0.0.0/0', '::/0'] }

async function scene() {
  const here = await world()
  const cloud = await cloudScene(here)
  const machines = ['web-1', 'web-2'].map(name => cloud.double.addServer({ name }))
  await here.advance(60_000)
  const [web, other] = [await cloud.named('web-1'), await cloud.named('web-2')]
  const call = here.acme.call
  const firewall = (await call('POST', '/v1/firewalls', { name: 'web', rules: [ssh, https] })).body
  const path = `/v1/firewalls/${firewall.id}`
  const get = async () => (await call('GET', path)).body
  const { project } = cloud.double
  return {
    ...{ here, cloud, call, firewall, path, get, project, web, other, machines: machines as HetznerServer[] },
    put: (rules: object[], more: object = {}, query = '') => call('PUT', `${path}/rules${query}`, { rules, ...more }),
    /** Lets time pass, as jobs that look at a cloud again and again need. */
    async pass(seconds: number, step = 1) {
      for (let passed = 0; passed < seconds; passed += step) await here.advance(step * 1000)
    },
    /** Starts a change, and lets time pass until its action has finished. */
    async done(change: Promise<{ status: number; body: any; text: string }>) {
      const started = await change
      if (started.status !== 202) throw new Error(started.text)
      return await cloud.finish(started.body.id)
    },
    /** Whether a packet from an address reaches a port of the first server. */
    reaches: (port: number, address: string, at = 0) =>
      isAllowed(project, machines[at]!, { direction: 'in', protocol: 'tcp', port, address }),
    attach: (ids: string[] = [web.id], more: object = {}) => call('POST', `${path}/attach`, { server_ids: ids, ...more }),
    confirm: () => call('POST', `${path}/confirm`),
    theirs: () => [...project.firewalls.values()].find(one => one.labels.bailiwick === firewall.id)!,
  }
}
let s: Awaited<ReturnType<typeof scene>>
beforeEach(async () => {
  s = await scene()
})

describe('rules', () => {
  test('are validated with the pointer and the rule', async () => {
    const pointers = async (...rules: object[]) => (await s.put(rules)).body.errors.map((one: any) => [one.pointer, one.code])
    expect(await pointers({ ...https, ports: ['443-80', '0', '99999'] })).toEqual([
      ['#/rules/0/ports/0', 'order'],
      ['#/rules/0/ports/1', 'out_of_range'],
      ['#/rules/0/ports/2', 'out_of_range'],
    ])
    expect(await pointers(ssh, { ...https, sources: ['10.0.0.1/8', '::ffff:1.2.3.0/120'] })).toEqual([
      ['#/rules/1/sources/0', 'host_bits'],
      ['#/rules/1/sources/1', 'mixed_families'],
    ])
    const many = Array.from({ length: 51 }, (_, at) => ({ ...https, id: `r${at}` }))
    expect((await s.put(many)).body.errors).toMatchObject([{ pointer: '#/rules', detail: 'must have at most 50 items.' }])
    expect((await s.put([{ ...https, protocol: 'sctp' }])).body.errors[0].pointer).toBe('#/rules/0/protocol')
    const unknown = 'dip_01k3zd4f6g8h0j2k4m6n8p0q2r'
    expect(await pointers({ ...https, sources: [unknown] })).toEqual([['#/rules/0/sources/0', 'not_found']])
    const blind = await s.here.scoped('cloud.write')
    const refused = await blind.call('PUT', `${s.path}/rules`, { rules: [{ ...https, sources: [unknown] }] })
    expect([refused.status, refused.body.required_permission]).toEqual([403, 'dynamic_ip.read'])
    expect((await s.call('POST', '/v1/firewalls', { name: 'web' })).body.code).toBe('already_exists')
  })

  test('are limited in number with all networks and ports, also for all firewalls of a server', async () => {
    const sources = Array.from({ length: 100 }, (_, at) => `10.0.0.${at}/32`)
    const large = Array.from({ length: 20 }, (_, at) => ({ ...https, id: `r${at}`, ports: [String(at + 1)], sources }))
    const { errors } = (await s.put([...large, ssh])).body
    expect(errors.map((one: any) => [one.pointer, one.code])).toEqual([['#/rules/20/sources', 'too_many']])
    expect(errors[0].detail).toContain('the firewall has 2001 entries')
    await s.done(s.put(large))
    await s.here.limit(s.here.acme.workspaceId, { firewalls: 9 })
    const created = async (name: string, rules: object[]) => (await s.call('POST', '/v1/firewalls', { name, rules })).body.id
    const attach = (id: string, server_id: string) =>
      s.call('POST', `/v1/firewalls/${id}/attach`, { server_ids: [server_id], allow: ['cuts_ssh', 'cuts_caller'], note: 'Test.' })
    for (const id of [s.firewall.id, await created('second', large)]) await s.done(attach(id, s.web.id))
    const third = await created('third', large)
    expect((await attach(third, s.web.id)).body.errors[0]).toMatchObject({
      pointer: '#/server_ids/0',
      code: 'too_many',
      detail: expect.stringContaining('web-1 would have 6000 entries'),
    })
    const small = await created('small', [https])
    await s.done(attach(small, s.web.id))
    const refused = await s.call('PUT', `/v1/firewalls/${small}/rules`, { rules: large })
    expect([refused.status, refused.body.errors[0].pointer, refused.body.errors[0].code]).toEqual([422, '#/rules', 'too_many'])
  }, 180_000)

  test('get ids, are canonical, and have versions', async () => {
    const { id: _, ...unnamed } = { ...https, ports: ['80-80'], sources: ['192.0.2.1', '2001:DB8::/32'] }
    await s.done(s.put([unnamed], {}))
    expect((await s.get()).rules).toMatchObject([{ id: 'r1', ports: ['80'], sources: ['192.0.2.1/32', '2001:db8::/32'] }])
    await s.done(s.call('POST', `${s.path}/revert`, {}))
    expect(await s.get()).toMatchObject({ rules_version: 3, rules: [{ id: 'ssh' }, { id: 'https' }] })
    const { data } = (await s.call('GET', `${s.path}/history`)).body
    expect(data.map((one: any) => [one.rules_version, one.reason, one.rules.length])).toEqual([
      [3, 'reverted', 2],
      [2, 'changed', 1],
      [1, 'created', 2],
    ])
  })

  test('need the current version', async () => {
    const stale = await s.call('PUT', `${s.path}/rules`, { rules: [] }, { 'If-Match': '"9"' })
    expect(stale.status).toBe(412)
  })
})

describe('servers', () => {
  test('drop what no rule allows, from the moment they have a firewall', async () => {
    expect(s.reaches(8080, '192.0.2.1')).toBe(true)
    await s.here.audited()
    const action = await s.done(s.attach([s.web.id, s.other.id]))
    expect([action.type, action.status]).toEqual(['firewall.apply', 'success'])
    expect(await s.get()).toMatchObject({
      state: 'applied',
      action_id: null,
      attached: [
        { server_id: s.web.id, enforcer: 'hetzner', state: 'applied', rules_version: 1, error: null },
        { server_id: s.other.id, state: 'applied' },
      ],
    })
    expect([
      s.reaches(443, '192.0.2.1'),
      s.reaches(22, '198.51.100.7'),
      s.reaches(22, '192.0.2.1'),
      s.reaches(8080, '192.0.2.1'),
    ]).toEqual([true, true, false, false])
    expect(await s.here.audited()).toEqual(['cloud.firewall.attach'])
    const of = async (id: string) => (await s.call('GET', `/v1/firewalls?server_id=${id}`)).body.data.map((one: any) => one.name)
    expect([await of(s.web.id), await of('srv_01k3z9a1b2c3d4e5f6g7h8j9km')]).toEqual([['web'], []])
    await s.done(s.put([ssh, { ...https, ports: ['443', '9000-9100'] }]))
    expect(s.reaches(9050, '192.0.2.1', 1)).toBe(true)
    expect(s.project.firewalls.size).toBe(1)
    // The others keep it.
    expect((await s.call('POST', `${s.path}/detach`, { server_ids: [s.other.id] })).body.reasons[0].code).toBe('opens_everything')
    const allow = { allow: ['opens_everything'], note: 'It moves behind another firewall.' }
    await s.done(s.call('POST', `${s.path}/detach`, { server_ids: [s.other.id], ...allow }))
    expect([s.reaches(9, '192.0.2.1', 0), s.reaches(9, '192.0.2.1', 1)]).toEqual([false, true])
    expect((await s.call('DELETE', s.path)).body.code).toBe('conflict')
    // A server that was only removed here keeps its firewall, and one that was deleted leaves it.
    await s.done(s.attach([s.other.id]))
    await s.call('DELETE', `/v1/servers/${s.other.id}?at_provider=keep`)
    await s.done(s.put([ssh, { ...https, ports: ['443', '9000-9100', '9300'] }]))
    expect([s.reaches(443, '192.0.2.1', 1), s.reaches(9400, '192.0.2.1', 1)]).toEqual([true, false])
    s.cloud.double.console.delete(s.machines[1]!)
    await s.done(s.call('DELETE', `/v1/servers/${s.web.id}?at_provider=destroy`))
    await s.pass(90, 5)
    expect(s.project.firewalls.size).toBe(0)
    expect((await s.call('DELETE', s.path)).status).toBe(204)
  })

  test('must exist, have a cloud with firewalls, and at most five of them', async () => {
    const problem = async (call: Promise<any>) => {
      const { status, body } = await call
      return [status, body.errors?.[0].pointer, body.errors?.[0].code]
    }
    const added = (await s.call('POST', '/v1/servers', { name: 'own' }, { 'Idempotency-Key': 'own' })).body
    expect(await problem(s.attach([added.id]))).toEqual([422, '#/server_ids/0', 'unsupported'])
    expect(await problem(s.attach([s.web.id, 'srv_01k3z9a1b2c3d4e5f6g7h8j9km']))).toEqual([422, '#/server_ids/1', 'not_found'])
    const draft = (await s.cloud.create('draft', { provision: false })).body
    expect(await problem(s.attach([draft.id]))).toEqual([422, '#/server_ids/0', 'conflict'])
    await s.here.limit(s.here.acme.workspaceId, { firewalls: 7 })
    for (let n = 1; n <= 6; n++) {
      const { id } = (await s.call('POST', '/v1/firewalls', { name: `more ${n}`, rules: [ssh, https] })).body
      const attached = s.call('POST', `/v1/firewalls/${id}/attach`, { server_ids: [s.web.id] })
      if (n < 6) await s.done(attached)
      else expect(await problem(attached)).toEqual([422, '#/server_ids/0', 'too_many'])
    }
    expect((await s.call('POST', '/v1/firewalls', { name: 'eighth' })).body.code).toBe('plan_limit_reached')
    // Any of its firewalls may allow a packet.
    expect(s.reaches(22, '198.51.100.7')).toBe(true)
  })

  test('are not protected by firewalls that were never applied', async () => {
    const { instance, id } = await incusScene(s.here)
    await s.done(s.attach([id]))
    const other = (await s.call('POST', '/v1/firewalls', { name: 'other', rules: [ssh, https] })).body.id
    instance.status = 'Stopped'
    await s.done(s.call('POST', `/v1/firewalls/${other}/attach`, { server_ids: [id] }))
    expect((await s.call('GET', `/v1/firewalls/${other}`)).body.attached).toMatchObject([{ state: 'failed' }])
    const detach = (firewall: string) => s.call('POST', `/v1/firewalls/${firewall}/detach`, { server_ids: [id] })
    const held = await detach(s.firewall.id)
    expect([held.body.code, held.body.reasons?.map((one: any) => one.code)]).toEqual(['plan_blocked', ['opens_everything']])
    expect((await detach(other)).status).toBe(202)
  })

  test('show why a rule could not be applied, and get it once that is possible', async () => {
    s.cloud.double.fault = ({ method, path }) =>
      method === 'POST' && path.endsWith('apply_to_resources') ? { status: 422, code: 'private_net_only_server' } : null
    const action = await s.done(s.attach())
    expect([action.status, action.error.code]).toEqual(['error', 'provider_failed'])
    expect(await s.get()).toMatchObject({
      state: 'failed',
      attached: [{ state: 'failed', error: expect.stringContaining('private_net_only') }],
    })
    s.cloud.double.fault = () => null
    await s.pass(120, 5)
    expect((await s.get()).state).toBe('applied')
  })
})

describe('safe changes', () => {
  beforeEach(async () => {
    await s.done(s.attach())
    await s.here.emitted()
    await s.here.audited()
  })
  const allow = { allow: ['cuts_ssh'], note: 'SSH is only reachable by VPN.' }

  test('are held back until each reason is allowed with a note', async () => {
    const preview = (await s.put([https], {}, '?dry_run=true')).body
    expect(preview).toEqual({
      added: [],
      removed: [{ action: 'allow', direction: 'in', protocol: 'tcp', port: '22', network: '198.51.100.0/24' }],
      server_ids: [s.web.id],
      blocked: [{ code: 'cuts_ssh', detail: 'No address could connect to port 22 (SSH) of web-1.' }],
    })
    const held = await s.put([https])
    expect([held.status, held.body.code, held.body.reasons.map((one: any) => one.code)]).toEqual([
      409,
      'plan_blocked',
      ['cuts_ssh'],
    ])
    expect((await s.put([https], { allow: ['cuts_ssh'] })).body.errors[0].pointer).toBe('#/note')
    expect((await s.put([https], { ...allow, confirm_within_seconds: 5 })).body.errors[0].pointer).toBe(
      '#/confirm_within_seconds',
    )
    const opening = await s.put([ssh, https, { ...https, id: 'db', ports: ['5432'] }])
    expect(opening.body.reasons.map((one: any) => one.code)).toEqual(['opens_sensitive'])
    expect((await s.get()).rules_version).toBe(1)
  })

  test('are reverted unless they are confirmed, and this is reported', async () => {
    const { body } = await s.put([https], allow)
    await s.pass(10)
    expect(s.reaches(22, '198.51.100.7')).toBe(false)
    expect(await s.get()).toMatchObject({
      state: 'awaiting_confirmation',
      action_id: body.id,
      pending: { rules_version: 2, restore_version: 1, confirm: 'manual' },
    })
    expect((await s.put([https], allow)).body.code).toBe('resource_locked')
    const until = Date.parse((await s.get()).pending.expires_at)
    for (let seconds = 0; seconds < 120 && !s.reaches(22, '198.51.100.7'); seconds++) await s.here.advance(1000)
    expect(s.here.clock.now() - until).toBeLessThanOrEqual(5000)
    const { result } = await s.cloud.finish(body.id)
    expect(result).toEqual({ reverted: true, reason: 'expired', restored_version: 1 })
    expect(await s.get()).toMatchObject({
      state: 'applied',
      rules_version: 3,
      pending: null,
      rules: [{ id: 'ssh' }, { id: 'https' }],
    })
    expect(await s.here.emitted()).toEqual(['firewall.reverted'])
    const [event] = (await s.call('GET', '/v1/events')).body.data
    expect(event.data).toMatchObject({
      firewall: { id: s.firewall.id, name: 'web' },
      servers: [{ id: s.web.id, name: 'web-1' }],
      reason: 'expired',
      rules_version: 2,
      restored_version: 1,
      changed_by: { type: 'token' },
    })
    const notices = (await s.call('GET', '/v1/notices')).body.data
    expect(notices.map((one: any) => one.kind)).toContain('firewall.reverted')
    expect(await s.here.audited()).toEqual(['cloud.firewall.apply', 'cloud.firewall.revert'])
  })

  test('are confirmed by themselves if no health monitor falls that was up, whatever its interval', async () => {
    await s.here.advance(60_000)
    const create = async (name: string) =>
      (await s.call('POST', '/v1/monitors', { name, target: `https://${name}.example.com/`, interval_seconds: 3600 })).body.id
    s.here.engine.answer = ({ target }) => ({ status: target.includes('broken') ? 'down' : 'up' })
    const monitors = [await create('shop'), await create('broken'), await create('old')]
    await s.call('POST', `/v1/monitors/${monitors[2]}/pause`)
    await s.here.settle()
    for (const id of monitors.slice(0, 2)) for (let at = 0; at < 3; at++) await s.call('POST', `/v1/monitors/${id}/check`)
    const statuses = async () =>
      await Promise.all(monitors.map(async id => (await s.call('GET', `/v1/monitors/${id}`)).body.status as string))
    expect(await statuses()).toEqual(['up', 'down', 'paused'])
    expect((await s.call('PATCH', `/v1/servers/${s.web.id}`, { health_monitor_ids: monitors })).status).toBe(200)
    const more = { confirm: 'auto', confirm_within_seconds: 60 }
    const metrics = { ...https, id: 'metrics', ports: ['9100'] }
    expect(await s.done(s.put([ssh, https, metrics], more))).toMatchObject({ status: 'success', result: { rules_version: 2 } })
    s.here.engine.answer = () => ({ status: 'down' })
    const others = { ...metrics, id: 'others', ports: ['9300'] }
    expect((await s.done(s.put([ssh, https, metrics, others], more))).result).toMatchObject({
      reverted: true,
      restored_version: 2,
    })
  })

  test('are held back if they close the address family that a health monitor uses', async () => {
    s.here.engine.answer = () => ({ status: 'up' })
    const create = async (body: object) =>
      (await s.call('POST', '/v1/monitors', { interval_seconds: 3600, ...body })).body.id as string
    const target = 'https://shop.example.com/'
    const ids = [
      await create({ name: 'ipv4', target, options: { ip_family: 4 } }),
      await create({ name: 'ipv6', target, options: { ip_family: 6 } }),
      await create({ name: 'either', target }),
      await create({ name: 'address', target: 'https://93.184.215.14/', options: {} }),
      await create({ name: 'port', target: '[2606:4700::1111]:443' }),
    ]
    await s.here.settle()
    for (const id of ids) await s.call('POST', `/v1/monitors/${id}/check`)
    expect((await s.call('PATCH', `/v1/servers/${s.web.id}`, { health_monitor_ids: ids })).status).toBe(200)
    const reasons = (await s.put([ssh, { ...https, sources: ['0.0.0.0/0'] }])).body.reasons
    const names = ['ipv6', 'either', 'port'].map(one => `“${one}” (port 443 of web-1 over IPv6)`)
    expect(reasons).toEqual([{ code: 'cuts_monitors', detail: `Monitors that are up would go down: ${names.join(', ')}.` }])
  })

  test('stay once they are confirmed', async () => {
    expect((await s.confirm()).body.code).toBe('conflict')
    const { body } = await s.put([https], allow)
    await s.pass(5)
    expect((await s.confirm()).status).toBe(200)
    expect((await s.cloud.finish(body.id)).result).toEqual({ rules_version: 2 })
    await s.pass(120, 5)
    expect(s.reaches(22, '198.51.100.7')).toBe(false)
    expect(await s.here.emitted()).toEqual([])
  })

  const failing = (status: number, code: string) => {
    s.cloud.double.fault = ({ method, path }) => (method === 'POST' && path.endsWith('set_rules') ? { status, code } : null)
  }

  test('that were confirmed fail if they can’t be applied, and nothing is restored', async () => {
    failing(503, 'unavailable')
    const { body } = await s.put([https], allow)
    await s.pass(2)
    expect((await s.confirm()).status).toBe(200)
    expect((await s.call('POST', `${s.path}/revert`, {})).body.code).toBe('conflict')
    failing(422, 'invalid_input')
    expect((await s.cloud.finish(body.id)).status).toBe('error')
    expect(await s.get()).toMatchObject({ state: 'failed', pending: null, rules_version: 2 })
    expect(await s.here.emitted()).toEqual([])
  })

  test('can’t be confirmed once the previous rules are being restored', async () => {
    const { body } = await s.put([https], allow)
    await s.pass(5)
    failing(503, 'unavailable')
    await s.call('POST', `${s.path}/revert`, {})
    await s.pass(3)
    expect((await s.confirm()).body.code).toBe('conflict')
    s.cloud.double.fault = () => null
    await s.pass(20)
    expect((await s.cloud.finish(body.id)).result).toMatchObject({ reverted: true, reason: 'requested' })
    expect(s.reaches(22, '198.51.100.7')).toBe(true)
  })

  test('can be reverted at once', async () => {
    const { body } = await s.put([ssh], { allow: ['cuts_caller'], note: 'test', confirm_within_seconds: 600 })
    await s.pass(5)
    const revert = await s.call('POST', `${s.path}/revert`, {})
    expect([revert.status, revert.body.id]).toEqual([202, body.id])
    await s.pass(5)
    expect((await s.cloud.finish(body.id)).result).toEqual({ reverted: true, reason: 'requested', restored_version: 1 })
    expect(s.reaches(443, '192.0.2.1')).toBe(true)
  })
})

describe('drift', () => {
  beforeEach(async () => {
    await s.done(s.attach())
    await s.here.audited()
  })
  const notices = async () =>
    (await s.call('GET', '/v1/notices')).body.data
      .filter((one: any) => one.kind === 'firewall.drifted')
      .map((one: any) => one.count)
  const edit = () => {
    const rule = {
      direction: 'in' as const,
      protocol: 'tcp',
      port: '8080',
      source_ips: ['0.0.0.0/0'],
      destination_ips: [],
      description: null,
    }
    s.theirs().rules = [...s.theirs().rules, rule as never]
  }

  test('is seen by the next reading, and reported once', async () => {
    edit()
    await s.pass(180, 5)
    expect(await s.get()).toMatchObject({
      state: 'drifted',
      attached: [
        { state: 'drifted', drift: { is_attached: true, added: [{ port: '8080', network: '0.0.0.0/0' }], removed: [] } },
      ],
    })
    expect(await notices()).toEqual([1])
    expect(await s.here.audited()).toEqual(['cloud.firewall.drift'])
    expect(s.theirs().rules).toHaveLength(3)
    await s.done(s.call('POST', `${s.path}/adopt`, { server_id: s.web.id }))
    expect(await s.get()).toMatchObject({
      state: 'applied',
      rules: [{ id: 'ssh' }, { id: 'https' }, { id: 'adopted-3', ports: ['8080'], sources: ['0.0.0.0/0'] }],
    })
    expect((await s.call('POST', `${s.path}/adopt`, { server_id: s.web.id })).body.code).toBe('conflict')
  })

  test('does not include a mark that was removed, which is put back', async () => {
    const { instance, id, double } = await incusScene(s.here)
    await s.done(s.attach([id]))
    await s.here.audited()
    s.theirs().labels = { team: 'core' }
    const acl = double.acls.get(instance.devices.eth0!['security.acls']!)!
    acl.config = {}
    const known = [...s.project.firewalls.values()]
    await s.pass(180, 5)
    expect(known[0]!.labels).toEqual({ team: 'core', bailiwick: s.firewall.id })
    expect([...double.acls.values()].map(one => one.config)).toEqual([{ 'user.bailiwick.firewall': s.firewall.id }])
    expect([...s.project.firewalls.values()]).toEqual(known)
    expect([(await s.get()).state, await notices()]).toEqual(['applied', []])
    expect(await s.here.audited()).toEqual(['cloud.firewall.drift', 'cloud.firewall.drift'])
    // Also before something is changed.
    s.theirs().labels = {}
    await s.done(s.put([ssh, { ...https, ports: ['1-65535'], sources: ['127.0.0.0/8'] }]))
    expect(known.map(one => [one.labels, one.rules.length])).toEqual([[{ bailiwick: s.firewall.id }, 2]])
    s.theirs().labels = {}
    await s.done(
      s.call('POST', `${s.path}/detach`, {
        server_ids: [s.web.id, id],
        allow: ['opens_everything'],
        note: 'Gone.',
      }),
    )
    expect([s.project.firewalls.size, double.acls.size]).toEqual([0, 0])
  }, 180_000)

  test('is only adopted with what it cuts or opens allowed', async () => {
    s.theirs().rules = s.theirs().rules.filter(one => one.port !== '22')
    await s.pass(180, 5)
    const adopt = (more: object) => s.call('POST', `${s.path}/adopt`, { server_id: s.web.id, ...more })
    const held = await adopt({})
    expect([held.body.code, held.body.reasons.map((one: any) => one.code)]).toEqual(['plan_blocked', ['cuts_ssh']])
    const { body } = await adopt({ allow: ['cuts_ssh'], note: 'SSH is only reachable by VPN.' })
    await s.pass(5)
    expect((await s.get()).pending).toMatchObject({ rules_version: 2 })
    await s.confirm()
    expect((await s.cloud.finish(body.id)).status).toBe('success')
  })

  test('is put back three times in ten minutes if the firewall says so', async () => {
    await s.call('PATCH', s.path, { drift_policy: 'enforce' })
    for (let n = 1; n <= 4; n++) {
      edit()
      await s.pass(90, 5)
      expect([n, s.theirs().rules.length]).toEqual([n, n <= 3 ? 2 : 3])
    }
    expect((await s.get()).state).toBe('drifted')
    await s.pass(600, 5)
    expect([s.theirs().rules.length, (await s.get()).state]).toEqual([2, 'applied'])
  })

  test('includes a default that was changed at Incus, which is reported once and put back', async () => {
    const { instance, id } = await incusScene(s.here)
    await s.done(s.attach([id]))
    const key = 'security.acls.default.egress.action'
    const drift = async () => (await s.get()).attached.find((one: any) => one.server_id === id).drift
    expect([instance.devices.eth0![key], await drift()]).toEqual(['allow', null])
    instance.devices.eth0![key] = 'drop'
    await s.pass(90, 5)
    expect(await drift()).toMatchObject({ is_attached: true, changed_defaults: ['out'], added: [], removed: [] })
    expect(await notices()).toEqual([1])
    expect((await s.call('POST', `${s.path}/adopt`, { server_id: id })).body.code).toBe('conflict')
    await s.call('PATCH', s.path, { drift_policy: 'enforce' })
    await s.pass(60, 5)
    expect([instance.devices.eth0![key], await drift(), await notices()]).toEqual(['allow', null, [1]])
  })

  test('includes servers that lost the firewall', async () => {
    s.theirs().servers = []
    await s.pass(90, 5)
    expect((await s.get()).attached[0].drift.is_attached).toBe(false)
    expect((await s.call('POST', `${s.path}/adopt`, { server_id: s.web.id })).body.code).toBe('conflict')
  })
})

describe('new servers', () => {
  test('have the firewalls of their order from the start', async () => {
    const before = new Set(s.project.servers.keys())
    const seen: boolean[] = []
    s.cloud.double.answered = body => {
      for (const [id, machine] of s.project.servers)
        if (!before.has(id))
          seen.push(isAllowed(s.project, machine, { direction: 'in', protocol: 'tcp', port: 8080, address: '192.0.2.1' }))
      return body
    }
    const selecting = (await s.call('POST', '/v1/firewalls', { name: 'ops', rules: [ssh], label_selector: 'role=web' })).body
    const order = { firewall_ids: [s.firewall.id], labels: { role: 'web' } }
    const dry = (await s.cloud.create('web-3', order, '?dry_run=true')).body
    expect([dry.problems, dry.steps]).toEqual([[], ['check_price', 'create', 'wait', 'firewalls']])
    const { body } = await s.cloud.create('web-3', order)
    expect((await s.cloud.finish(body.action_id)).status).toBe('success')
    expect([seen.length > 0, seen.includes(true)]).toEqual([true, false])
    expect((await s.cloud.get(body.id)).firewall_ids).toEqual([s.firewall.id, selecting.id].toSorted())
    expect((await s.get()).attached).toMatchObject([{ server_id: body.id, by: 'direct', state: 'applied', rules_version: 1 }])
    expect(s.project.firewalls.size).toBe(2)
    const shown = (await s.call('GET', `/v1/servers/${body.id}?expand=firewalls`)).body
    expect(shown.expanded.firewalls.map((one: any) => one.name).toSorted()).toEqual(['ops', 'web'])
  })

  test('are started at Proxmox once their firewalls were set', async () => {
    const { double, accountId } = await proxmoxScene(s.here)
    const size = { cores: 1, memory_bytes: 2 ** 30, disk_bytes: 2 ** 33 }
    const order = { account_id: accountId, location: null, size, image: '9000', firewall_ids: [s.firewall.id] }
    const created = async (name: string) => {
      const { ssh_keys: _, ...input } = s.cloud.order(name, order)
      const { body, text } = await s.call('POST', '/v1/servers', input, { 'Idempotency-Key': name })
      if (!body.action_id) throw new Error(text)
      return body
    }
    const body = await created('guest')
    expect(await s.cloud.finish(body.action_id)).toMatchObject({ status: 'success' })
    expect(await s.cloud.get(body.id)).toMatchObject({ status: 'running', firewall_ids: [s.firewall.id] })
    const at = (end: string) => double.requests.findLastIndex(one => one.method !== 'GET' && one.path.endsWith(end))
    expect(at('/firewall/options')).toBeGreaterThan(at('/firewall/rules'))
    expect(at('/status/start')).toBeGreaterThan(at('/firewall/options'))
    double.isFiltering = false
    double.privileges = { ...double.privileges, '/': ['Sys.Audit'] }
    const open = await created('open')
    const action = await s.cloud.finish(open.action_id)
    expect([action.status, action.error.detail]).toEqual([
      'error',
      expect.stringContaining('The firewall web has no effect: The firewall of the datacenter is off'),
    ])
    expect(await s.cloud.get(open.id)).toMatchObject({ status: 'off', firewall_ids: [s.firewall.id] })
  })

  test('are not ordered with firewalls at Incus if they are not to be started, and get those that select them later', async () => {
    const { double, order, call } = await incusScene(s.here)
    const refused = await call('POST', '/servers', order('box', { start: false, firewall_ids: [s.firewall.id] }))
    expect([refused.status, refused.body.errors.map((one: any) => [one.pointer, one.code])]).toEqual([
      422,
      [['#/firewall_ids/0', 'unsupported']],
    ])
    await s.call('PATCH', s.path, { label_selector: 'role=web' })
    const { body } = await call('POST', '/servers', order('box', { start: false, labels: { role: 'web' } }))
    expect((await s.cloud.finish(body.action_id)).status).toBe('success')
    await s.cloud.finish((await s.cloud.act(body.id, 'power_on')).body.id)
    await s.pass(60, 5)
    expect((await s.get()).attached).toMatchObject([{ server_id: body.id, state: 'applied' }])
    expect(double.acls.size).toBe(1)
  })

  test('are not ordered with more entries than servers may have', async () => {
    const sources = Array.from({ length: 100 }, (_, at) => `10.0.0.${at}/32`)
    const rules = Array.from({ length: 20 }, (_, at) => ({ ...https, id: `r${at}`, ports: [String(at + 1)], sources }))
    await s.here.limit(s.here.acme.workspaceId, { firewalls: 9 })
    const large = await Promise.all(
      ['a', 'b', 'c'].map(async name => (await s.call('POST', '/v1/firewalls', { name, rules })).body.id),
    )
    const { body } = await s.cloud.create('web-3', { firewall_ids: large }, '?dry_run=true')
    expect(body.problems).toMatchObject([
      {
        code: 'too_many',
        detail: 'The server would have 6000 entries (networks × ports) in its firewalls, more than the maximum of 5000.',
      },
    ])
  }, 180_000)

  test('are not ordered with firewalls that are unknown, or that the cloud can’t enforce', async () => {
    const blocking = (await s.call('POST', '/v1/firewalls', { name: 'blocking', blocks: ['192.0.2.1'] })).body
    const unknown = 'fw_01k3zd5s7t9v1w3x5y7z9a1b3c'
    const order = { firewall_ids: [s.firewall.id, unknown, blocking.id] }
    const problems = [
      ['#/firewall_ids/1', 'not_found'],
      ['#/firewall_ids/2', 'unsupported'],
    ]
    const found = (some: any[]) => some.map(one => [one.pointer, one.code])
    const refused = await s.cloud.create('web-3', order)
    expect([refused.status, found(refused.body.errors)]).toEqual([422, problems])
    expect(found((await s.cloud.create('web-3', order, '?dry_run=true')).body.problems)).toEqual(problems)
    const draft = await s.cloud.create('web-3', { ...order, provision: false })
    expect([draft.status, found(draft.body.errors)]).toEqual([422, problems])
  })

  test('that can’t get a firewall are created, and say why', async () => {
    s.cloud.double.fault = ({ method, path }) =>
      method === 'POST' && path.endsWith('set_rules') ? { status: 422, code: 'invalid_input' } : null
    // Its rules at the cloud are others.
    await s.done(s.attach())
    s.theirs().rules = []
    const { body } = await s.cloud.create('web-3', { firewall_ids: [s.firewall.id] })
    const action = await s.cloud.finish(body.action_id)
    expect([action.status, action.error.detail]).toEqual([
      'error',
      expect.stringContaining('The server was created. The firewall web could not be applied'),
    ])
    expect(await s.cloud.get(body.id)).toMatchObject({ status: 'running', firewall_ids: [s.firewall.id], order: null })
  })
})

describe('a new server whose creation failed, but that exists', () => {
  const accepted = { max_monthly_price: '20', currency: 'EUR' }
  const provision = async (id: string) => await s.cloud.finish((await s.cloud.act(id, 'provision', accepted)).body.id)

  /** A server that was created, but the hub could not find out. */
  async function uncertain() {
    let isLost = false
    s.cloud.double.fault = request => {
      const isOrder = request.method === 'POST' && request.path === '/servers'
      if (isOrder) isLost = true
      return isOrder ? 'lost' : isLost ? { status: 401, code: 'unauthorized' } : null
    }
    const draft = (await s.cloud.create('web-3', { provision: false, firewall_ids: [s.firewall.id] })).body
    const held = await s.call('DELETE', s.path)
    expect([held.body.code, held.body.detail]).toEqual(['conflict', expect.stringContaining('web-3 is to be created')])
    expect((await provision(draft.id)).status).toBe('error')
    expect((await s.cloud.get(draft.id)).status).toBe('error')
    expect((await s.get()).attached).toEqual([])
    s.cloud.double.fault = () => null
    return draft
  }
  const attached = async () => (await s.get()).attached.map((one: any) => [one.server_id, one.by, one.state])

  test('has the firewalls of its order once a reading finds it', async () => {
    const { id } = await uncertain()
    await s.pass(120, 5)
    expect(await s.cloud.get(id)).toMatchObject({ status: 'running', order: null })
    expect(await attached()).toEqual([[id, 'direct', 'applied']])
  })

  test('has the firewalls of its order once another order finds it', async () => {
    const { id, order } = await uncertain()
    await record(s.here.hub, async tx => {
      const columns = { status: 'draft' as const, order: { ...order, size: 'cx32' } }
      await tx.update(servers).set(columns).where(eq(servers.id, id))
      return { result: undefined }
    })
    expect(await provision(id)).toMatchObject({ status: 'error', error: { code: 'conflict' } })
    await s.pass(10)
    expect(await attached()).toEqual([[id, 'direct', 'applied']])
  })

  test('is reported if a firewall of its order no longer exists', async () => {
    const { body } = await s.cloud.create('web-3', { firewall_ids: [s.firewall.id] })
    await record(s.here.hub, async tx => {
      await tx.delete(firewalls).where(eq(firewalls.id, s.firewall.id))
      return { result: undefined }
    })
    const action = await s.cloud.finish(body.action_id)
    expect([action.status, action.error.detail]).toEqual([
      'error',
      `The server was created. The firewall ${s.firewall.id} no longer exists.`,
    ])
    expect(await s.cloud.get(body.id)).toMatchObject({ status: 'running', order: null })
  })
})

test('a snapshot that is restored at Incus takes no firewall away', async () => {
  const { instance, id } = await incusScene(s.here)
  const created = (await s.call('POST', '/v1/snapshots', { server_id: id, name: 'before' })).body
  await s.cloud.finish(created.action_id)
  await s.done(s.attach([id]))
  const acls = () => instance.devices.eth0?.['security.acls']
  expect(acls()).toBeString()
  const restore = () => s.done(s.cloud.act(id, 'restore_snapshot', { snapshot_id: created.id, safety_snapshot: false }))
  expect([(await restore()).status, acls()]).toEqual(['success', expect.any(String)])
  const state = async () => (await s.get()).attached.map((one: any) => [one.state, one.error])
  expect(await state()).toEqual([['applied', null]])
  // It gets the firewall once it runs.
  instance.status = 'Stopped'
  await s.pass(40, 5)
  expect([(await restore()).status, acls()]).toEqual(['success', undefined])
  expect(await state()).toEqual([['failed', expect.stringContaining('is off')]])
  instance.status = 'Running'
  for (let at = 0; at < 60 && acls() === undefined; at++) await s.pass(5, 5)
  await s.pass(10, 5)
  expect([await state(), acls()]).toEqual([[['applied', null]], expect.any(String)])
})

test('a snapshot that is restored at Proxmox takes no firewall away, or the reason is reported', async () => {
  const { double, accountId } = await proxmoxScene(s.here)
  const bare = { net0: 'virtio=BC:24:11:AA:00:01,bridge=vmbr0' }
  const guest = double.guest(300, 'box', { status: 'running', config: bare })
  await s.call('POST', `/v1/cloud-accounts/${accountId}/claim`, { refs: ['300'] })
  const { id } = await s.cloud.named('box')
  const created = (await s.call('POST', '/v1/snapshots', { server_id: id, name: 'before', includes_memory: true })).body
  await s.cloud.finish(created.action_id)
  guest.config.net0 = `${bare.net0},firewall=1`
  await s.done(s.attach([id]))
  const restore = () => s.done(s.cloud.act(id, 'restore_snapshot', { snapshot_id: created.id, safety_snapshot: false }))
  const isFiltered = () => guest.config.net0!.endsWith('firewall=1')
  expect([(await restore()).status, isFiltered()]).toEqual(['success', true])
  const state = async () => (await s.get()).attached.map((one: any) => [one.state, one.error ?? one.warning])
  expect(await state()).toEqual([['applied', null]])
  // A token that can’t change network interfaces.
  double.fault = ({ method, path }) =>
    method === 'PUT' && path.endsWith('/config') ? { status: 403, code: 'Permission check failed' } : null
  const { status, error } = await restore()
  expect([status, error.detail, isFiltered()]).toEqual([
    'error',
    expect.stringMatching(/^The snapshot was restored\. The firewall web could not be applied: The API token lacks a privilege/),
    false,
  ])
  expect(await state()).toEqual([['failed', expect.stringContaining('lacks a privilege')]])
  double.fault = () => null
  await s.pass(60, 5)
  expect([await state(), isFiltered()]).toEqual([[['applied', null]], true])
})

test('a node of Proxmox that is offline holds up nobody, and its guests get the rules, or are without them, once it is back', async () => {
  const { double, accountId } = await proxmoxScene(s.here)
  const node = { online: true }
  double.nodes.set('pve2', node)
  const guests = [double.guest(300, 'near'), Object.assign(double.guest(301, 'far'), { node: 'pve2' })]
  await s.call('POST', `/v1/cloud-accounts/${accountId}/claim`, { refs: ['300', '301'] })
  const [near, far] = [await s.cloud.named('near'), await s.cloud.named('far')]
  await s.done(s.attach([near.id, far.id]))
  const counts = () => guests.map(one => double.firewallOf(one).rules.length)
  const states = async () => (await s.get()).attached.map((one: any) => [one.server_id, one.state, one.error])
  const isApplied = [near, far].map(one => [one.id, 'applied', null])
  expect([counts(), await states()]).toEqual([[3, 3], isApplied])
  node.online = false
  const metrics = { ...https, id: 'metrics', ports: ['9100'], sources: ['192.0.2.0/24'] }
  expect((await s.done(s.put([ssh, https, metrics]))).status).toBe('success')
  expect(await states()).toEqual([isApplied[0], [far.id, 'applying', 'The node pve2 is offline.']])
  node.online = true
  await s.pass(40, 5)
  expect([counts(), await states()]).toEqual([[4, 4], isApplied])
  node.online = false
  const allow = { allow: ['opens_everything', 'opens_sensitive'], note: 'They are gone.' }
  const { id } = (await s.call('POST', `${s.path}/detach`, { server_ids: [near.id, far.id], ...allow })).body
  await s.pass(40, 5)
  expect([counts(), await states()]).toEqual([[0, 4], [[far.id, 'detaching', 'The node pve2 is offline.']]])
  const { status, error } = (await s.call('GET', `/v1/actions/${id}`)).body
  expect([status, error.detail]).toEqual([
    'error',
    'The firewall has not been detached from all servers yet: The node pve2 is offline.',
  ])
  node.online = true
  await s.pass(40, 5)
  expect([counts(), await states()]).toEqual([[0, 0], []])
})

describe('label selectors', () => {
  const by = async () => (await s.get()).attached.map((one: any) => [one.server_id, one.by, one.state])
  const label = (id: string, labels: object, more: object = {}) => s.call('PATCH', `/v1/servers/${id}`, { labels, ...more })
  const select = (label_selector: string | null, more: object = {}) => s.call('PATCH', s.path, { label_selector, ...more })
  const opening = { allow: ['opens_everything'], note: 'It moves behind another firewall.' }

  test('attach servers that match, and detach those that no longer do, with guards', async () => {
    expect((await select('role=')).body.errors[0]).toMatchObject({ pointer: '#/label_selector', code: 'format' })
    await label(s.web.id, { role: 'web' })
    expect((await select('role=web')).status).toBe(200)
    expect(await by()).toEqual([[s.web.id, 'selector', 'applying']])
    await s.pass(5)
    expect([await by(), s.reaches(8080, '192.0.2.1'), s.reaches(8080, '192.0.2.1', 1)]).toEqual([
      [[s.web.id, 'selector', 'applied']],
      false,
      true,
    ])
    expect((await label(s.other.id, { role: 'web' })).status).toBe(200)
    await s.pass(5)
    expect(s.reaches(8080, '192.0.2.1', 1)).toBe(false)
    // A selected server is detached by its labels only, unless it was attached.
    const detach = () => s.call('POST', `${s.path}/detach`, { server_ids: [s.other.id], ...opening })
    expect((await detach()).body.errors[0]).toMatchObject({ pointer: '#/server_ids/0', code: 'selected' })
    const held = await label(s.other.id, {})
    expect([held.body.code, held.body.reasons.map((one: any) => one.code)]).toEqual(['plan_blocked', ['opens_everything']])
    expect((await s.cloud.get(s.other.id)).labels).toEqual({ role: 'web' })
    await s.done(s.attach([s.other.id]))
    expect((await by())[1]).toEqual([s.other.id, 'direct', 'applied'])
    expect((await label(s.other.id, {})).status).toBe(200)
    expect(s.reaches(8080, '192.0.2.1', 1)).toBe(false)
    await s.done(detach())
    expect(s.reaches(8080, '192.0.2.1', 1)).toBe(true)
    expect((await select(null)).body.code).toBe('plan_blocked')
    expect((await select(null, opening)).status).toBe(200)
    await s.pass(10)
    expect([await by(), s.reaches(8080, '192.0.2.1')]).toEqual([[], true])
  })

  test('are named in the audit log when servers are attached and detached by them', async () => {
    await label(s.web.id, { role: 'web' })
    await select('role=web')
    await label(s.other.id, { role: 'web' })
    await s.pass(5)
    await label(s.web.id, { role: 'db' }, opening)
    await s.pass(5)
    await select(null, opening)
    const started = s.cloud.create('new', { labels: { role: 'new' } })
    await select('role=new')
    await s.cloud.finish((await started).body.action_id)
    const made = await s.cloud.named('new')
    const { data } = (await s.call('GET', '/v1/audit-events?sort=occurred_at&limit=100')).body
    const found = data.filter((one: any) => /firewall\.(attach|detach)$/.test(one.action))
    const selector = 'role=web'
    const entry = (action: string, after: object, reason: string) => ({
      ...{ action: `cloud.firewall.${action}`, outcome: 'success', reason },
      ...{ actor: { type: 'system', id: 'firewall.label_selector' }, targets: [{ type: 'firewall', id: s.firewall.id }] },
      changes: { after },
    })
    const selects = `The label selector ${selector} selects the servers.`
    expect(found).toMatchObject([
      entry('attach', { attached: [s.web.id], label_selector: selector }, selects),
      entry('attach', { attached: [s.other.id], label_selector: selector }, selects),
      entry(
        'detach',
        { detached: [s.web.id], label_selector: selector },
        `The label selector ${selector} no longer selects the servers.`,
      ),
      entry('detach', { detached: [s.other.id] }, 'The firewall no longer has a label selector.'),
      entry('attach', { attached: [made.id], label_selector: 'role=new' }, 'The label selector role=new selects the servers.'),
    ])
  }, 180_000)

  test('can’t be used by restricted tokens to reach other servers and firewalls', async () => {
    const narrow = async (...resource_ids: string[]) => {
      const input = { name: resource_ids.join(), permissions: ['cloud.write'], resource_ids }
      const { token } = (await s.call('POST', '/v1/tokens', input)).body
      return callerWith(s.here.app, s.here.acme.workspaceId, token).call
    }
    const ofFirewall = await narrow(s.firewall.id)
    const guarded = { allow: ['cuts_ssh', 'cuts_caller'], note: 'Test.' }
    const wide = await ofFirewall('PATCH', s.path, { label_selector: '!none', ...guarded })
    expect([wide.status, wide.body.code]).toEqual([403, 'restricted_token'])
    expect((await ofFirewall('PATCH', s.path, { label_selector: null, description: 'mine' })).status).toBe(200)
    await select('role=web')
    await label(s.web.id, { role: 'web' })
    await s.pass(5)
    const ofServer = await narrow(s.web.id)
    const relabel = (call: typeof ofServer, labels: object) => call('PATCH', `/v1/servers/${s.web.id}`, { labels, ...opening })
    expect((await relabel(ofServer, {})).body.code).toBe('restricted_token')
    expect((await relabel(ofServer, { role: 'web', rack: '7' })).status).toBe(200)
    expect(await by()).toEqual([[s.web.id, 'selector', 'applied']])
    expect((await relabel(await narrow(s.web.id, s.firewall.id), {})).status).toBe(200)
  })

  test('are no reason to hold back labels that move a server to another firewall', async () => {
    const other = { name: 'db', rules: [ssh, https], label_selector: 'role=db' }
    const { id } = (await s.call('POST', '/v1/firewalls', other)).body
    await select('role=web')
    await label(s.web.id, { role: 'web' })
    await s.pass(5)
    expect((await label(s.web.id, { role: 'db' })).status).toBe(200)
    await s.pass(10)
    expect(await by()).toEqual([])
    expect((await s.call('GET', `/v1/firewalls/${id}`)).body.attached).toMatchObject([{ server_id: s.web.id, state: 'applied' }])
  })

  test('keep a firewall until the one that replaces it is applied', async () => {
    const { id } = (await s.call('POST', '/v1/firewalls', { name: 'db', rules: [ssh, https], label_selector: 'role=db' })).body
    await select('role=web')
    await label(s.web.id, { role: 'web' })
    await s.pass(5)
    const open: boolean[] = []
    s.cloud.double.answered = body => {
      open.push(s.reaches(8080, '192.0.2.1'))
      return body
    }
    // The clouds of both firewalls are changed one after another.
    const isOther = ({ method, body }: any) => method === 'POST' && JSON.stringify(body ?? '').includes(id)
    s.cloud.double.fault = request => (isOther(request) ? { status: 503, code: 'unavailable' } : null)
    expect((await label(s.web.id, { role: 'db' })).status).toBe(200)
    await s.pass(20)
    expect((await s.get()).attached).toMatchObject([{ state: 'detaching', warning: expect.stringContaining('It stays until') }])
    s.cloud.double.fault = () => null
    await s.pass(90, 5)
    expect(await by()).toEqual([])
    expect((await s.call('GET', `/v1/firewalls/${id}`)).body.attached).toMatchObject([{ server_id: s.web.id, state: 'applied' }])
    expect([open.length > 0, open.includes(true)]).toEqual([true, false])
    expect(s.project.firewalls.size).toBe(1)
  })

  test('follow labels at the cloud, and new servers', async () => {
    await select('role=web')
    s.machines[0]!.labels = { role: 'web' }
    s.cloud.double.addServer({ name: 'web-3', labels: { role: 'web' } })
    const made = await s.cloud.create('web-4', { labels: { role: 'web' } })
    await s.cloud.finish(made.body.action_id)
    await s.pass(90, 5)
    const found = await s.cloud.named('web-3')
    expect((await by()).toSorted()).toEqual([s.web.id, found.id, made.body.id].toSorted().map(id => [id, 'selector', 'applied']))
    s.machines[0]!.labels = {}
    await s.pass(90, 5)
    expect((await by()).map(([id]: string[]) => id)).not.toContain(s.web.id)
    expect(s.reaches(8080, '192.0.2.1')).toBe(true)
  })

  test('select servers whose labels are changed at the same time', async () => {
    await s.here.limit(s.here.acme.workspaceId, { firewalls: null })
    const missed: number[] = []
    for (let n = 0; n < 4; n++) {
      const { id } = (await s.call('POST', '/v1/firewalls', { name: `at once ${n}`, rules: [ssh, https] })).body
      const path = `/v1/firewalls/${id}`
      const changes = await Promise.all([
        label(s.web.id, { round: `${n}` }, opening),
        s.call('PATCH', path, { label_selector: `round=${n}`, ...opening }),
      ])
      expect(changes.map(one => one.status)).toEqual([200, 200])
      const { attached } = (await s.call('GET', path)).body
      if (attached.length !== 1) missed.push(n)
      // The server leaves the firewall of the round before.
      await s.pass(4, 2)
    }
    expect(missed).toEqual([])
  }, 180_000)

  test('name servers that can’t have the firewall, which get it once they can', async () => {
    await s.done(s.put([ssh, https], { blocks: ['192.0.2.1'] }))
    await label(s.web.id, { role: 'web' })
    expect((await select('role')).body).toMatchObject({
      attached: [],
      refused: [{ server_id: s.web.id, reason: expect.stringContaining('web-1 can’t have the blocks') }],
    })
    await s.done(s.put([ssh, https], { blocks: [] }))
    await s.pass(90, 5)
    expect(await s.get()).toMatchObject({ refused: [], attached: [{ server_id: s.web.id, by: 'selector', state: 'applied' }] })
  })
})

test('servers are attached up to the maximum, and those that have the firewall don’t count twice', async () => {
  const refused = async (count: number) =>
    await record(s.here.hub, async tx => {
      const [row] = await tx.select().from(firewalls).where(eq(firewalls.id, s.firewall.id))
      const chosen = await tx.select().from(servers).orderBy(servers.id)
      const problems = await attachProblems(tx, row!, chosen, count)
      return { result: problems.map(one => [one.pointer, one.code]) }
    })
  expect(await refused(498)).toEqual([])
  expect(await refused(499)).toEqual([['#/server_ids/1', 'too_many']])
  const [first] = [s.web.id, s.other.id].toSorted()
  await s.done(s.attach([first!]))
  expect([await refused(499), await refused(500)]).toEqual([[], [['#/server_ids/1', 'too_many']]])
})

test('firewalls have labels, by which they are listed', async () => {
  await s.call('PATCH', s.path, { labels: { team: 'web' } })
  await s.call('POST', '/v1/firewalls', { name: 'db', labels: { team: 'db' } })
  const names = async (selector: string) =>
    (await s.call('GET', `/v1/firewalls?label_selector=${encodeURIComponent(selector)}`)).body.data.map((one: any) => one.name)
  expect([await names('team=web'), await names('team'), await names('!team')]).toEqual([['web'], ['db', 'web'], []])
  expect((await s.call('GET', '/v1/firewalls?label_selector=a,,b')).status).toBe(400)
})

describe('blocks', () => {
  test('are validated, and refused where the cloud can’t enforce them', async () => {
    const problems = async (blocks: string[]) =>
      (await s.put([https], { blocks })).body.errors.map((one: any) => [one.pointer, one.code])
    expect(await problems(['10.0.0.1/8', 'example.com', '192.0.2.1', '192.0.2.1/32'])).toEqual([
      ['#/blocks/0', 'host_bits'],
      ['#/blocks/1', 'pattern'],
      ['#/blocks/3', 'duplicate'],
    ])
    expect(await problems(Array.from({ length: 101 }, (_, at) => `10.0.${at}.0/24`))).toEqual([['#/blocks', 'too_many']])
    await s.done(s.put([https], { blocks: ['192.0.2.1'] }))
    expect((await s.get()).blocks).toEqual(['192.0.2.1/32'])
    const refused = (await s.attach([s.web.id], { allow: ['cuts_ssh'], note: 'Test.' })).body.errors[0]
    expect([refused.pointer, refused.code]).toEqual(['#/server_ids/0', 'unsupported'])
    expect(refused.detail).toContain('Clouds that support blocks: Proxmox VE, ')
    await s.done(s.put([ssh, https], { blocks: [] }))
    await s.done(s.attach())
    const put = (await s.put([ssh, https], { blocks: ['192.0.2.1'] })).body.errors[0]
    expect([put.pointer, put.code]).toEqual(['#/blocks', 'unsupported'])
    const kinds = (await s.call('GET', '/v1/cloud-kinds')).body.data
    expect(kinds.map((one: any) => [one.kind, one.capabilities.firewall_blocks])).toEqual([
      ['hetzner', false],
      ['proxmox', true],
      ['incus', true],
    ])
  })

  test('come before the rules, with a preview, guards, history, and drift', async () => {
    const { double, id } = await incusScene(s.here)
    await s.done(s.attach([id]))
    const blocks = ['198.51.100.0/24']
    const preview = (await s.put([ssh, https], { blocks }, '?dry_run=true')).body
    const entry = { action: 'block', direction: 'in', protocol: 'any', port: null, network: '198.51.100.0/24' }
    expect(preview).toMatchObject({ added: [entry], removed: [], blocked: [{ code: 'cuts_ssh' }] })
    expect((await s.put([ssh, https], { blocks })).body.code).toBe('plan_blocked')
    const allow = { allow: ['cuts_ssh'], note: 'SSH is only reachable by VPN.', confirm_within_seconds: 0 }
    await s.done(s.put([ssh, https], { blocks, ...allow }))
    const acl = () => [...double.acls.values()][0]!
    const dropped = () =>
      acl()
        .ingress.filter((one: any) => one.action === 'drop')
        .map((one: any) => one.source)
    expect([dropped(), (await s.get()).blocks]).toEqual([blocks, blocks])
    // They stay unless others are given.
    await s.done(s.put([ssh, https, { ...https, id: 'alt', ports: ['8443'] }]))
    expect((await s.get()).blocks).toEqual(blocks)
    acl().ingress = acl().ingress.filter((one: any) => one.action !== 'drop')
    await s.pass(60, 5)
    expect((await s.get()).attached[0].drift).toMatchObject({ added: [], removed: [entry] })
    await s.call('PATCH', s.path, { drift_policy: 'enforce' })
    await s.pass(60, 5)
    expect(dropped()).toEqual(blocks)
    await s.call('PATCH', s.path, { drift_policy: 'report' })
    acl().ingress.push({ action: 'drop', state: 'enabled', source: '192.0.2.0/24' })
    await s.pass(60, 5)
    await s.done(s.call('POST', `${s.path}/adopt`, { server_id: id }))
    expect((await s.get()).blocks).toEqual([...blocks, '192.0.2.0/24'])
    await s.done(s.call('POST', `${s.path}/revert`, {}))
    const { data } = (await s.call('GET', `${s.path}/history`)).body
    expect(data.map((one: any) => one.blocks.length)).toEqual([1, 2, 1, 1, 0])
  }, 180_000)
})

describe('dynamic IP sources', () => {
  test('are in the rule that names them, the new address before the old one is out', async () => {
    const source = (await s.call('POST', '/v1/dynamic-ips', { name: 'Office router' })).body
    const report = (ipv4: string) => s.call('POST', `/v1/dynamic-ips/${source.id}/report`, { ipv4 })
    await report('203.0.113.7')
    const many = Array.from({ length: 21 }, (_, n) => ({ ...ssh, id: `r${n}`, sources: [source.id] }))
    expect((await s.put(many)).body.errors[0]).toMatchObject({ pointer: '#/rules', code: 'too_many' })
    const created = await s.done(s.put([{ ...ssh, sources: [source.id] }, https]))
    expect(created.status).toBe('success')
    await s.done(s.attach())
    const links = async () => (await s.call('GET', `/v1/dynamic-ips/${source.id}/firewall-links`)).body.data
    expect(await links()).toMatchObject([
      { firewall_id: s.firewall.id, rule_id: 'ssh', status: 'active', applied: ['203.0.113.7/32'], ipv6: 'address' },
    ])
    expect([s.reaches(22, '203.0.113.7'), s.reaches(22, '203.0.113.8')]).toEqual([true, false])
    const others = s.theirs().rules.filter(one => one.port === '443')
    await report('203.0.113.8')
    expect((await links())[0].status).toBe('pending')
    await s.pass(5)
    expect([s.reaches(22, '203.0.113.7'), s.reaches(22, '203.0.113.8'), (await links())[0].status]).toEqual([
      true,
      true,
      'active',
    ])
    await s.pass(130, 5)
    expect([s.reaches(22, '203.0.113.7'), s.reaches(22, '203.0.113.8')]).toEqual([false, true])
    expect(s.theirs().rules.filter(one => one.port === '443')).toEqual(others)
    expect((await s.get()).rules_version).toBe(2)

    // A link adds the source to a rule, and its end removes it.
    const prefixed = { firewall_id: s.firewall.id, rule_id: 'https', ipv6: 'prefix' }
    const link = (await s.call('POST', `/v1/dynamic-ips/${source.id}/firewall-links`, prefixed)).body
    expect((await s.get()).rules[1].sources).toEqual(['0.0.0.0/0', '::/0', source.id, `${source.id}/prefix6`])
    await s.call('DELETE', `/v1/dynamic-ips/${source.id}/firewall-links/${link.id}`)
    expect((await s.get()).rules[1].sources).toEqual(['0.0.0.0/0', '::/0'])
    await s.call('DELETE', `/v1/dynamic-ips/${source.id}`)
    await s.pass(10)
    expect((await s.get()).rules[0].sources).toEqual([])
    expect(s.reaches(22, '203.0.113.8')).toBe(false)
  })
})
