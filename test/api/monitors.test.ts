import { afterAll, describe, expect, test } from 'bun:test'
import { connect, createServer } from 'node:net'
import { eq } from 'drizzle-orm'
import { record } from '../../src/core/change'
import { openIncident } from '../../src/features/incidents/outages/outages'
import { incidents } from '../../src/features/incidents/tables'
import { specOf } from '../../src/features/monitors/definition/spec'
import { monitors } from '../../src/features/monitors/tables'
import { channelAt, allowPrivateNetwork } from '../support/channels'
import { addMonitor } from '../support/monitor-series'
import { closeTargets, listening, shown } from '../support/http-targets'
import { callerWith, world, type World } from '../support/world'

afterAll(closeTargets)

async function created(w: World, input: object = {}) {
  const answer = await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'Everything', ...input })
  expect([answer.status, answer.body.errors]).toEqual([201, undefined])
  await w.audited()
  return answer.body
}
const refusalsOf = (answer: { status: number; body: any }) => [
  answer.status,
  ...(answer.body.errors ?? []).map((one: any) => `${one.pointer} ${one.code}`),
]

describe('monitors', () => {
  test('a new monitor has the status new and default values', async () => {
    const w = await world()
    const answer = await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'Everything', tags: ['prod'] })
    expect(answer.status).toBe(201)
    expect(answer.headers.get('location')).toBe(`/v1/monitors/${answer.body.id}`)
    expect(answer.body).toMatchObject({
      type: 'group',
      name: 'Everything',
      key: null,
      status: 'new',
      options: { members: [], rule: 'any' },
      interval_seconds: 60,
      timeout_seconds: 10,
      retry_interval_seconds: 15,
      confirm: 2,
      recover: 2,
      recovery_seconds: 0,
      quorum: 'majority',
      locations: ['local'],
      severity: 'critical',
      tags: ['prod'],
      last_check_at: null,
      next_check_at: null,
      last_result: null,
      version: 1,
    })
    expect((await w.acme.call('GET', `/v1/monitors/${answer.body.id}`)).body).toEqual(answer.body)
    expect(await w.audited()).toEqual(['monitor.create'])
  })

  test('conflicting fields are rejected, and nothing changes', async () => {
    const w = await world()
    const refused = async (input: object) =>
      refusalsOf(await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'x', ...input }))
    expect(await refused({ interval_seconds: 4 })).toEqual([422, '#/interval_seconds out_of_range'])
    expect(await refused({ interval_seconds: 5, timeout_seconds: 6, retry_interval_seconds: 7 })).toEqual([
      422,
      '#/timeout_seconds out_of_range',
      '#/retry_interval_seconds out_of_range',
    ])
    expect(await refused({ timeout_seconds: 3, degraded_ms: 3000 })).toEqual([422, '#/degraded_ms out_of_range'])
    expect(await refused({ quorum: 2 })).toEqual([422, '#/quorum out_of_range'])
    expect(await refused({ locations: ['mars'] })).toEqual([422, '#/locations/0 enum'])
    expect(await refused({ options: { rule: 'percent' } })).toEqual([422, '#/options/percent invalid'])
    expect(await refused({ options: { rule: 'most' } })).toEqual([422, '#/options/rule enum'])
    expect(await refused({ options: { nonsense: 1 } })).toEqual([422, '#/options/nonsense unknown_field'])
    expect(await refused({ down_if: ['[STATUS] == 200'], keyword: 'ok' })).toEqual([422, '#/keyword condition'])
    expect(await refused({ degraded_if: ['nonsense', '[STATUS] =='] })).toEqual([
      422,
      '#/degraded_if/0 condition',
      '#/degraded_if/1 condition',
    ])
    expect(await refused({ target: 'somewhere' })).toEqual([422, '#/target invalid'])
    expect(await refused({ depends_on: ['mon_none'] })).toEqual([422, '#/depends_on/0 unknown'])
    expect(await refused({ options: { members: ['mon_none'] } })).toEqual([422, '#/options/members/0 unknown'])
    expect(refusalsOf(await w.acme.call('POST', '/v1/monitors', {}))).toEqual([422, '#/type required'])
    expect(refusalsOf(await w.acme.call('POST', '/v1/monitors', { type: 'group' }))).toEqual([422, '#/name required'])
    expect((await w.acme.call('GET', '/v1/monitors')).body.data).toEqual([])
    expect(await w.audited()).toEqual([])
  })

  test('an update merges, null resets to the default, and an update without changes does nothing', async () => {
    const w = await world()
    const one = await created(w, { options: { rule: 'all' }, tags: ['a'], confirm: 5 })
    const edited = await w.acme.call('PATCH', `/v1/monitors/${one.id}`, {
      options: { rule: null },
      tags: null,
      interval_seconds: 30,
    })
    expect(edited.body).toMatchObject({
      options: { members: [], rule: 'any' },
      tags: [],
      interval_seconds: 30,
      confirm: 5,
      version: 2,
    })
    expect(await w.audited()).toEqual(['monitor.update'])
    expect((await w.acme.call('PATCH', `/v1/monitors/${one.id}`, { interval_seconds: 30 })).body.version).toBe(2)
    expect(await w.audited()).toEqual([])
    const stale = await w.acme.call('PATCH', `/v1/monitors/${one.id}`, { name: 'y' }, { 'if-match': '"1"' })
    expect(stale.status).toBe(412)
    // The existing timeout is longer than the requested interval.
    expect(refusalsOf(await w.acme.call('PATCH', `/v1/monitors/${one.id}`, { interval_seconds: 5 }))).toEqual([
      422,
      '#/timeout_seconds out_of_range',
      '#/retry_interval_seconds out_of_range',
    ])
  })

  test('groups and dependencies must not be circular, and deleted monitors are removed from them', async () => {
    const w = await world()
    const a = await created(w, { name: 'a' })
    const b = await created(w, { name: 'b', options: { members: [a.id] } })
    const c = await created(w, { name: 'c', depends_on: [b.id] })
    const patched = async (id: string, patch: object) => refusalsOf(await w.acme.call('PATCH', `/v1/monitors/${id}`, patch))
    expect(await patched(a.id, { depends_on: [a.id] })).toEqual([422, '#/depends_on/0 circular'])
    expect(await patched(a.id, { depends_on: [c.id] })).toEqual([422, '#/depends_on circular'])
    expect(await patched(a.id, { options: { members: [c.id] } })).toEqual([422, '#/options/members circular'])
    const foreign = (await w.rival.call('POST', '/v1/monitors', { type: 'group', name: 'theirs' })).body
    expect(await patched(a.id, { depends_on: [foreign.id] })).toEqual([422, '#/depends_on/0 unknown'])
    expect((await w.acme.call('GET', `/v1/monitors?group=${b.id}`)).body.data.map((one: any) => one.id)).toEqual([a.id])
    expect((await w.acme.call('GET', `/v1/monitors?group=${foreign.id}`)).body.data).toEqual([])

    expect((await w.acme.call('DELETE', `/v1/monitors/${a.id}`)).status).toBe(204)
    expect((await w.acme.call('GET', `/v1/monitors/${b.id}`)).body).toMatchObject({ options: { members: [] }, version: 2 })
    expect((await w.acme.call('DELETE', `/v1/monitors/${b.id}`)).status).toBe(204)
    expect((await w.acme.call('GET', `/v1/monitors/${c.id}`)).body.depends_on).toEqual([])
    expect(await w.audited()).toEqual(['monitor.delete', 'monitor.delete'])
    expect((await w.acme.call('GET', `/v1/monitors/${a.id}`)).status).toBe(404)
  })

  test('rejects a chain of more than ten monitors', async () => {
    const w = await world()
    let last = await created(w, { name: 'first' })
    for (let n = 0; n < 9; n++) last = await created(w, { name: `after ${n}`, depends_on: [last.id] })
    expect(refusalsOf(await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'x', depends_on: [last.id] }))).toEqual([
      422,
      '#/depends_on too_deep',
    ])
  })

  test('pausing, resuming, and resetting are recorded, and repeating them changes nothing', async () => {
    const w = await world()
    const one = await created(w)
    const at = async (verb: string) => (await w.acme.call('POST', `/v1/monitors/${one.id}/${verb}`)).body
    w.clock.advance(1000)
    expect(await at('pause')).toMatchObject({
      status: 'paused',
      version: 2,
      status_since_at: new Date(w.clock.now()).toISOString(),
    })
    expect(await at('pause')).toMatchObject({ version: 2 })
    expect(await at('reset')).toMatchObject({ status: 'paused', version: 3 })
    expect(await at('resume')).toMatchObject({ status: 'new', version: 4 })
    expect(await at('resume')).toMatchObject({ version: 4 })
    expect(await w.audited()).toEqual(['monitor.pause', 'monitor.reset', 'monitor.resume'])
  })

  test('the incident of a failing monitor is resolved when it is paused, reset, or deleted', async () => {
    const w = await world()
    const one = await created(w)
    const fail = () =>
      record(w.hub, async tx => {
        const {
          incident,
          opened: _,
          reopened: __,
          ...drafts
        } = await openIncident(tx, w.hub, {
          workspaceId: w.acme.workspaceId,
          subject: { type: 'monitor', id: one.id, name: one.name, tags: [] },
          kind: 'monitor.down',
          severity: 'critical',
          startedAt: w.clock.now(),
          confirmedAt: w.clock.now(),
          cause: 'HTTP 503',
          locations: ['local'],
          evidence: null,
          channelIds: null,
          link: null,
        })
        return { result: incident.id, ...drafts }
      })
    const ended = async () => (await w.hub.read.select().from(incidents).orderBy(incidents.id)).map(row => row.resolution)
    for (const [verb, resolution] of [
      ['reset', 'reset'],
      ['pause', 'paused'],
    ]) {
      await fail()
      await w.audited()
      await w.acme.call('POST', `/v1/monitors/${one.id}/${verb}`)
      expect((await ended()).at(-1)).toBe(resolution as never)
      expect((await w.audited()).sort()).toEqual(['incident.resolve', `monitor.${verb}`])
      w.clock.advance(3_600_000)
    }
    await fail()
    await w.audited()
    expect((await w.acme.call('DELETE', `/v1/monitors/${one.id}`)).status).toBe(204)
    expect((await ended()).at(-1)).toBe('deleted')
    expect((await w.audited()).sort()).toEqual(['incident.resolve', 'monitor.delete'])
  })

  test('a clone has everything except the key', async () => {
    const w = await world()
    const one = await created(w, { key: 'all', description: 'notes', options: { rule: 'percent', percent: 40 }, confirm: 3 })
    const copy = await w.acme.call('POST', `/v1/monitors/${one.id}/clone`, {})
    expect(copy.status).toBe(201)
    expect(copy.headers.get('location')).toBe(`/v1/monitors/${copy.body.id}`)
    expect(copy.body).toMatchObject({
      name: 'Everything (copy)',
      key: null,
      description: 'notes',
      options: { rule: 'percent', percent: 40 },
      confirm: 3,
      version: 1,
    })
    expect((await w.acme.call('POST', `/v1/monitors/${one.id}/clone`, { name: 'Other' })).body.name).toBe('Other')
    expect(await w.audited()).toEqual(['monitor.clone', 'monitor.clone'])
  })

  test('channels must exist, and deleted ones are removed', async () => {
    const w = await allowPrivateNetwork(await world())
    const channel = await channelAt(w, 'http://127.0.0.1:9/')
    const one = await created(w, { channel_ids: [channel.id] })
    expect(one.channel_ids).toEqual([channel.id])
    const unknown = await w.acme.call('PATCH', `/v1/monitors/${one.id}`, { channel_ids: [channel.id, 'chan_none'] })
    expect(refusalsOf(unknown)).toEqual([422, '#/channel_ids/1 unknown'])
    expect(
      refusalsOf(await w.rival.call('POST', '/v1/monitors', { type: 'group', name: 'x', channel_ids: [channel.id] })),
    ).toEqual([422, '#/channel_ids/0 unknown'])
    const document = (await w.acme.call('GET', '/v1/monitoring/export')).text
    expect(document).toContain(channel.name)
    expect(document).not.toContain(channel.id)
    const again = await w.acme.call('POST', '/v1/monitoring/import', document, { 'content-type': 'application/yaml' })
    expect(again.body.unchanged).toBe(1)
    expect((await w.acme.call('DELETE', `/v1/notification-channels/${channel.id}`)).status).toBe(204)
    expect((await w.acme.call('POST', `/v1/monitors/${one.id}/clone`, {})).body.channel_ids).toBeNull()
    expect((await w.acme.call('PATCH', `/v1/monitors/${one.id}`, { channel_ids: [] })).body.channel_ids).toEqual([])
  })

  test('keys are unique within a workspace', async () => {
    const w = await world()
    const one = await created(w, { key: 'shop' })
    const taken = await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'x', key: 'shop' })
    expect([taken.status, taken.body.code]).toEqual([409, 'already_exists'])
    const other = await created(w, { name: 'other' })
    expect((await w.acme.call('PATCH', `/v1/monitors/${other.id}`, { key: 'shop' })).status).toBe(409)
    expect((await w.acme.call('PATCH', `/v1/monitors/${one.id}`, { key: 'shop' })).status).toBe(200)
    expect((await w.rival.call('POST', '/v1/monitors', { type: 'group', name: 'x', key: 'shop' })).status).toBe(201)
    expect((await w.acme.call('GET', '/v1/monitors?key=shop')).body.data.map((each: any) => each.id)).toEqual([one.id])
  })

  test('the plan limits the number of monitors and their interval', async () => {
    const w = await world()
    await w.limit(w.rival.workspaceId, { monitors: 1, monitor_interval_seconds: 90 })
    const create = (input: object) => w.rival.call('POST', '/v1/monitors', { type: 'group', name: 'x', ...input })
    const often = await create({ interval_seconds: 60 })
    expect([often.status, often.body.code, often.body.limit]).toEqual([403, 'plan_limit_reached', 'monitor_interval_seconds'])
    const first = await create({})
    expect([first.status, first.body.interval_seconds]).toEqual([201, 90])
    const second = await create({})
    expect([second.status, second.body.code, second.body.limit]).toEqual([403, 'plan_limit_reached', 'monitors'])
    // A monitor created under a larger plan can still be updated, except for its interval.
    await w.limit(w.rival.workspaceId, { monitor_interval_seconds: 120 })
    expect((await w.rival.call('PATCH', `/v1/monitors/${first.body.id}`, { name: 'y' })).status).toBe(200)
    expect((await w.rival.call('PATCH', `/v1/monitors/${first.body.id}`, { interval_seconds: 91 })).status).toBe(403)
  })

  test('can be filtered by status, type, tag, and text, in any order', async () => {
    const w = await world()
    const a = await created(w, { name: 'Alpha', tags: ['prod', 'a_b'] })
    const b = await created(w, { name: 'beta', tags: ['axb'] })
    await w.acme.call('POST', `/v1/monitors/${b.id}/pause`)
    const found = async (query: string) =>
      (await w.acme.call('GET', `/v1/monitors?${query}`)).body.data.map((one: any) => one.name)
    expect(await found('status=paused')).toEqual(['beta'])
    expect(await found('status=paused,new&sort=name')).toEqual(['Alpha', 'beta'])
    expect(await found('type=group&sort=-name')).toEqual(['beta', 'Alpha'])
    expect(await found('type=http')).toEqual([])
    expect(await found('tag=a_b')).toEqual(['Alpha'])
    expect(await found('q=ALP')).toEqual(['Alpha'])
    expect(await found('location=local&sort=status')).toEqual(['Alpha', 'beta'])
    expect(await found(`group=${a.id}`)).toEqual([])
  })

  test('sorted by status, problems come first, page by page', async () => {
    const w = await world()
    const shown = ['down', 'degraded', 'unknown', 'new', 'up', 'maintenance', 'paused'] as const
    for (const name of ['b', 'a'])
      for (const status of [...shown].sort()) await addMonitor(w.hub, w.acme.workspaceId, { name: `${status} ${name}`, status })
    const sorted = async (sort: string) => {
      const names: string[] = []
      for (let query = `sort=${sort}&limit=3`; ;) {
        const { data, pagination } = (await w.acme.call('GET', `/v1/monitors?${query}`)).body
        names.push(...data.map((one: any) => one.name))
        if (!pagination.has_more) return names
        query = `sort=${sort}&limit=3&cursor=${pagination.next_cursor}`
      }
    }
    expect(await sorted('status')).toEqual(await sorted('status,name'))
    expect(await sorted('-status')).toEqual((await sorted('status')).reverse())
    expect(await sorted('status,name')).toEqual(shown.flatMap(one => [`${one} a`, `${one} b`]))
    expect(await sorted('-status,name')).toEqual([...shown].reverse().flatMap(one => [`${one} a`, `${one} b`]))
    const { data } = (await w.acme.call('GET', '/v1/monitors?status=up&sort=name')).body
    await w.acme.call('POST', `/v1/monitors/${data[0].id}/pause`)
    expect((await sorted('status,name')).slice(-3)).toEqual(['paused a', 'paused b', 'up a'])
    await w.acme.call('POST', `/v1/monitors/${data[0].id}/resume`)
    expect((await sorted('status,name')).slice(6, 10)).toEqual(['new a', 'new b', 'up a', 'up b'])
  })

  test('bulk operations create, update, and delete all or nothing', async () => {
    const w = await world()
    const one = await created(w)
    const bulk = (operations: object[]) => w.acme.call('POST', '/v1/monitors/bulk', { operations })
    const failed = await bulk([
      { op: 'create', body: { type: 'group', name: 'new' } },
      { op: 'create', body: { type: 'group', name: 'bad', depends_on: ['mon_none'] } },
    ])
    expect([failed.status, failed.body.errors[0].pointer]).toEqual([422, '#/operations/1/body/depends_on/0'])
    const done = await bulk([
      { op: 'create', body: { type: 'group', name: 'new', key: 'k' } },
      { op: 'update', id: one.id, body: { name: 'renamed' } },
      { op: 'pause', id: one.id },
    ])
    expect(done.body.results.map((each: any) => each.status)).toEqual([201, 200, 200])
    expect((await w.acme.call('GET', '/v1/monitors?sort=name')).body.data.map((each: any) => [each.name, each.status])).toEqual([
      ['new', 'new'],
      ['renamed', 'paused'],
    ])
    expect(await w.audited()).toEqual(['monitor.create', 'monitor.update', 'monitor.pause'])
  })
})

describe('HTTP monitors', () => {
  const secret = 'changeme-9f2c41'
  const create = (w: World, input: object) => w.acme.call('POST', '/v1/monitors', input)

  test('can be created from a URL or host alone', async () => {
    const w = await world()
    const pasted = async (target: string) => {
      const { status, body } = await create(w, { target })
      return [status, body.type, body.target, body.name]
    }
    expect(await pasted('https://shop.example.com/cart?x=1')).toEqual([
      201,
      'http',
      'https://shop.example.com/cart?x=1',
      'shop.example.com',
    ])
    expect(await pasted(' http://192.0.2.7:8080 ')).toEqual([201, 'http', 'http://192.0.2.7:8080/', '192.0.2.7:8080'])
    expect(await pasted('shop.example.com')).toEqual([201, 'http', 'https://shop.example.com/', 'shop.example.com'])
    const unknown = await create(w, { target: 'not a host' })
    expect(refusalsOf(unknown)).toEqual([422, '#/target invalid'])
    expect(unknown.body.errors[0].detail).toStartWith(
      'must be a URL, `host:port`, a hostname, or an IP address, not "not a host".',
    )
    expect(refusalsOf(await create(w, { target: 'gopher://example.com' }))).toEqual([422, '#/target invalid'])
    expect(refusalsOf(await create(w, { target: 'https://user:pass@example.com/' }))).toEqual([422, '#/target invalid'])
  })

  test('secrets are never returned, survive updates, and must be entered again for another destination', async () => {
    const w = await world()
    const auth = { type: 'basic', username: 'probe', password: secret }
    const one = (await create(w, { target: 'https://shop.example.com/a', options: { auth } })).body
    expect(one.options.auth).toEqual({ type: 'basic', username: 'probe' })
    expect(one.secrets_set).toEqual(['auth/password'])
    const patched = (patch: object) => w.acme.call('PATCH', `/v1/monitors/${one.id}`, patch)
    expect((await patched({ target: 'https://shop.example.com/b', options: { method: 'HEAD' } })).body.secrets_set).toEqual([
      'auth/password',
    ])
    expect(refusalsOf(await patched({ target: 'https://evil.example.net/' }))).toEqual([422, '#/options/auth/password required'])
    expect(refusalsOf(await patched({ options: { verify_tls: false } }))).toEqual([422, '#/options/auth/password required'])
    expect(refusalsOf(await patched({ options: { proxy: { url: 'http://192.0.2.9:3128' } } }))).toEqual([
      422,
      '#/options/auth/password required',
    ])
    // One server hosts many sites: the header decides which one receives the password.
    expect(refusalsOf(await patched({ options: { headers: { host: 'evil.example.net' } } }))).toEqual([
      422,
      '#/options/auth/password required',
    ])
    expect((await patched({ options: { headers: { 'X-Host': 'a' } } })).status).toBe(200)
    expect((await patched({ target: 'https://other.example.net/', options: { auth: { password: 'another' } } })).status).toBe(200)
    // Changing the kind removes the fields of the previous kind.
    expect((await patched({ options: { auth: { type: 'bearer', token: secret } } })).body).toMatchObject({
      options: { auth: { type: 'bearer' } },
      secrets_set: ['auth/token'],
    })
    const copy = (await w.acme.call('POST', `/v1/monitors/${one.id}/clone`, {})).body
    expect(copy.secrets_set).toEqual(['auth/token'])
    expect((await patched({ options: null })).body.secrets_set).toEqual([])
    for (const path of ['/v1/monitors', '/v1/audit-events', '/v1/monitoring/export', `/v1/monitors/${one.id}`])
      expect((await w.acme.call('GET', path)).text).not.toContain(secret)
    const [row] = await w.hub.read.select().from(monitors).where(eq(monitors.id, copy.id))
    expect(JSON.stringify(row)).not.toContain(secret)
    const policy = { allowPrivate: true, allowRanges: [], requireHttps: false }
    expect((await specOf(w.hub, row!, policy, null, 'new')).options).toMatchObject({ auth: { type: 'bearer', token: secret } })
  })

  test('targets that the network policy never allows are rejected on save', async () => {
    const w = await world()
    const rival = async (input: object) => refusalsOf(await w.rival.call('POST', '/v1/monitors', input))
    expect(await rival({ target: 'http://127.0.0.1/' })).toEqual([422, '#/target blocked_address'])
    expect(await rival({ target: 'https://[::1]/' })).toEqual([422, '#/target blocked_address'])
    expect(await rival({ target: 'http://169.254.169.254/' })).toEqual([422, '#/target blocked_address'])
    expect(await rival({ target: 'http://printer.local/' })).toEqual([422, '#/target blocked_address'])
    expect(await rival({ target: 'https://shop.example.com/', options: { proxy: { url: 'http://10.0.0.1:3128' } } })).toEqual([
      422,
      '#/options/proxy/url blocked_address',
    ])
    const ssh_tunnel = { host: '10.0.0.1', username: 'probe', password: secret, host_key: `SHA256:${'a'.repeat(43)}` }
    expect(await rival({ target: 'http://10.0.0.2/', options: { ssh_tunnel } })).toEqual([
      422,
      '#/options/ssh_tunnel/host blocked_address',
    ])
    expect(
      await rival({ target: 'http://10.0.0.2/', options: { ssh_tunnel: { ...ssh_tunnel, host: 'bastion.example.net' } } }),
    ).toEqual([201])
    const auth = { type: 'bearer', token: secret }
    expect(await rival({ target: 'http://shop.example.com/', options: { auth } })).toEqual([422, '#/target invalid_url'])
    expect(await rival({ target: 'http://shop.example.com/' })).toEqual([201])
    // Operators can monitor their own network, but no cloud metadata services and not the hub itself.
    expect((await create(w, { target: 'http://10.0.0.1/' })).status).toBe(201)
    expect(refusalsOf(await create(w, { target: 'http://169.254.169.254/' }))).toEqual([422, '#/target blocked_address'])
    w.hub.listeners.push({ address: '::', port: 8484 }, { address: '::', port: 5300, isNameServer: true })
    const own = await create(w, { target: 'http://localhost:8484/' })
    expect(own.body.errors).toEqual([
      {
        pointer: '#/target',
        code: 'blocked_address',
        detail: 'is not allowed. The host is, or resolves to, this hub itself.',
      },
    ])
    expect((await create(w, { target: 'http://localhost:8801/' })).status).toBe(201)
    // Its name server only answers DNS queries.
    const dns = async (resolver: string, transport = 'udp') =>
      refusalsOf(await create(w, { type: 'dns', target: 'example.com', options: { resolver, transport } }))
    for (const resolver of ['127.0.0.1:5300', 'localhost:5300', '192.0.2.53']) expect(await dns(resolver)).toEqual([201])
    for (const resolver of ['127.0.0.1:8484', 'localhost:8484', '169.254.169.254'])
      expect(await dns(resolver)).toEqual([422, '#/options/resolver blocked_address'])
    expect(await dns('127.0.0.1:5300', 'dot')).toEqual([422, '#/options/resolver blocked_address'])
    const resolvedBy = async (resolver: string) =>
      refusalsOf(await create(w, { target: 'http://shop.example.com/', options: { resolver } }))
    expect(await resolvedBy('tcp://127.0.0.1:5300')).toEqual([201])
    expect(await resolvedBy('127.0.0.1:8484')).toEqual([422, '#/options/resolver blocked_address'])
    expect(await rival({ type: 'dns', target: 'example.com', options: { resolver: '127.0.0.1:5300' } })).toEqual([
      422,
      '#/options/resolver blocked_address',
    ])
  })

  test('SSH tunnel credentials are never returned, and only sent to the server they were entered for', async () => {
    const w = await world()
    const host_key = `SHA256:${'a'.repeat(43)}`
    const ssh_tunnel = { host: 'bastion.example.net', username: 'probe', password: secret, host_key }
    const created = await create(w, { target: 'https://shop.internal/', options: { ssh_tunnel } })
    expect(created.body.options.ssh_tunnel).toEqual({ host: 'bastion.example.net', username: 'probe', host_key })
    expect(created.body.secrets_set).toEqual(['ssh_tunnel/password'])
    expect(created.text).not.toContain(secret)
    const patched = (options: object) =>
      w.acme.call('PATCH', `/v1/monitors/${created.body.id}`, { options: { ssh_tunnel: options } })
    for (const elsewhere of [{ host: 'evil.example.net' }, { port: 2222 }, { host_key: `SHA256:${'b'.repeat(43)}` }])
      expect(refusalsOf(await patched(elsewhere))).toEqual([422, '#/options/ssh_tunnel/password required'])
    expect((await patched({ port: 2222, password: secret })).body.options.ssh_tunnel.port).toBe(2222)
    expect((await create(w, { target: 'https://shop.example.com/' })).body.options).not.toHaveProperty('ssh_tunnel')
  })

  test('a document can set secrets by name, and keeps those that are unchanged', async () => {
    const w = await world()
    const text = (target: string, value: string, more = '') =>
      `monitors:\n  - key: shop\n    target: ${target}\n    options:\n      auth: {type: bearer, token: "${value}"}\n${more}`
    const sent = (body: string) => w.acme.call('POST', '/v1/monitoring/import', body, { 'content-type': 'application/yaml' })
    const missing = await sent(text('https://shop.example.com/', '${secret:shop token}'))
    expect(refusalsOf(missing)).toEqual([422, '#/monitors/0/options/auth/token required'])
    const given = await sent(text('https://shop.example.com/', '${secret:shop token}', `secrets: {shop token: ${secret}}\n`))
    expect([given.status, given.body.created]).toEqual([200, 1])
    expect(given.text).not.toContain(secret)
    expect((await sent(text('https://shop.example.com/', '${secret:shop token}'))).body.unchanged).toBe(1)
    expect(refusalsOf(await sent(text('https://evil.example.net/', '${secret:shop token}')))).toEqual([
      422,
      '#/monitors/0/options/auth/token required',
    ])
    const exported = (await w.acme.call('GET', '/v1/monitoring/export')).text
    expect(exported).toContain('${secret:shop/auth/token}')
    expect((await sent(exported)).body.changes).toEqual([])
  })

  test('a manual check returns the result, or none if there was none in time', async () => {
    const w = await world()
    const one = (await create(w, { target: 'https://shop.example.com/' })).body
    await w.settle()
    await w.audited()
    w.engine.answer = () => ({ status: 'down' })
    const found = await w.acme.call('POST', `/v1/monitors/${one.id}/check`)
    expect(found.status).toBe(200)
    expect(found.body).toMatchObject({
      monitor_id: one.id,
      result: { status: 'down', code: 503, error: { kind: 'status' }, conditions: [], evidence: { body: 'Service Unavailable' } },
    })
    expect(await w.audited()).toEqual(['monitor.check'])
    expect((await w.acme.call('GET', `/v1/monitors/${one.id}`)).body.last_result).toMatchObject({ status: 'down', code: 503 })
    w.engine.answer = null
    const late = await w.acme.call('POST', `/v1/monitors/${one.id}/check`, undefined, { prefer: 'wait=0' })
    expect([late.status, late.body.result]).toEqual([202, null])
    await w.acme.call('POST', `/v1/monitors/${one.id}/pause`)
    expect((await w.acme.call('POST', `/v1/monitors/${one.id}/check`)).status).toBe(409)
    const group = await created(w)
    expect((await w.acme.call('POST', `/v1/monitors/${group.id}/check`)).status).toBe(409)
    expect((await w.rival.call('POST', `/v1/monitors/${one.id}/check`)).status).toBe(404)
  })

  test('conditions are stored as text, including keyword and json_query', async () => {
    const w = await world()
    const one = await create(w, {
      target: 'https://shop.example.com/',
      keyword: 'Welcome',
      json_query: { path: '$.status', op: '==', expected: 'ok' },
      down_if: ['[STATUS] == 418', { source: 'BODY', path: '$.items', function: 'len', op: '<', value: 1 }],
      degraded_if: ['[CERTIFICATE_EXPIRATION] < 14d'],
    })
    expect([one.status, one.body.errors]).toEqual([201, undefined])
    expect(one.body.down_if).toHaveLength(4)
    expect(one.body.down_if).toContain('[STATUS] == 418')
    expect(one.body.degraded_if).toEqual(['[CERTIFICATE_EXPIRATION] < 14d'])
    expect(
      refusalsOf(await w.acme.call('PATCH', `/v1/monitors/${one.body.id}`, { down_if: ['[DNS_RCODE] == NXDOMAIN'] })),
    ).toEqual([422, '#/down_if/0 condition'])
    expect((await w.acme.call('PATCH', `/v1/monitors/${one.body.id}`, { down_if: null })).body.down_if).toEqual([])
  })
})

test('a token restricted to a monitor can only read and update that one, and refer to no others', async () => {
  const w = await world()
  const [own, other] = [await created(w, { name: 'own' }), await created(w, { name: 'other' })]
  const token = await w.acme.call('POST', '/v1/tokens', {
    name: 'narrowed',
    permissions: ['monitoring.write'],
    resource_ids: [own.id],
  })
  const narrowed = callerWith(w.app, w.acme.workspaceId, token.body.token)
  expect((await narrowed.call('GET', '/v1/monitors')).body.data.map((one: any) => one.id)).toEqual([own.id])
  expect((await narrowed.call('GET', `/v1/monitors/${other.id}`)).status).toBe(404)
  expect((await narrowed.call('PATCH', `/v1/monitors/${own.id}`, { name: 'mine' })).status).toBe(200)
  expect(refusalsOf(await narrowed.call('PATCH', `/v1/monitors/${own.id}`, { depends_on: [other.id] }))).toEqual([
    422,
    '#/depends_on/0 unknown',
  ])
  for (const path of ['/v1/monitoring/export', '/v1/monitoring/metrics'])
    expect((await narrowed.call('GET', path)).status).toBe(403)
})

describe('detecting monitors for host:port', () => {
  const detect = (w: World, target: string, caller = w.acme) => caller.call('POST', '/v1/monitors/detections', { target })
  const found = async (w: World, target: string) =>
    (await detect(w, target)).body.data.map((one: any) => `${one.type} ${one.target}`)

  test('suggests HTTP where a server answers it, over TLS even with an untrusted certificate, and otherwise TCP', async () => {
    const w = await allowPrivateNetwork(await world())
    const fetch = () => new Response('x'.repeat(100_000), { status: 418 })
    using plain = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch })
    using ssh = Bun.listen({
      port: 0,
      hostname: '127.0.0.1',
      socket: { open: one => void one.end('SSH-2.0-test\r\n'), data() {} },
    })
    const at = (port: number | undefined) => `127.0.0.1:${port}`
    expect(await found(w, at(plain.port))).toEqual([`http http://${at(plain.port)}/`, 'icmp 127.0.0.1', `tcp ${at(plain.port)}`])
    expect((await detect(w, at(plain.port))).body.data[0].name).toBe(at(plain.port))
    expect((await found(w, at(ssh.port)))[0]).toBe(`tcp ${at(ssh.port)}`)
    using secure = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch, tls: shown('two-names') })
    const certificate_error = expect.stringMatching(/^The server’s certificate is not /)
    expect((await detect(w, at(secure.port))).body.data).toMatchObject([
      { type: 'http', target: `https://${at(secure.port)}/`, name: at(secure.port), certificate_error },
      { type: 'tls', target: at(secure.port), certificate_error },
      { type: 'icmp' },
      { type: 'tcp' },
    ])
    // Like nginx, answers plain HTTP on a port with TLS with an error.
    const front = await listening(
      createServer(socket =>
        socket.once('data', first => {
          if (first[0] !== 0x16) return void socket.end('HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n')
          const behind = connect(secure.port!, '127.0.0.1', () => behind.write(first))
          socket.pipe(behind).pipe(socket)
        }),
      ),
    )
    expect((await found(w, at(front)))[0]).toBe(`http https://${at(front)}/`)
    // A well-known port and a URL tell what they are.
    expect((await found(w, 'mail.example.com:993'))[0]).toBe('imap mail.example.com:993')
    expect((await found(w, 'tcp://db.example.com:5432'))[0]).toBe('tcp db.example.com:5432')
    expect(await found(w, 'what is this')).toEqual([])
    expect(await w.audited()).toEqual([])
  })

  test('connects only where the network policy allows it, at most 30 times a minute, and not for read-only tokens', async () => {
    const w = await world()
    let connections = 0
    using server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => (connections++, new Response('ok')) })
    const target = `127.0.0.1:${server.port}`
    expect((await detect(w, target, w.rival)).body.data[0]).toMatchObject({ type: 'tcp', target })
    expect((await detect(w, target, w.readOnly)).status).toBe(403)
    for (let more = 0; more < 29; more++) await detect(w, target, w.rival)
    expect((await detect(w, target, w.rival)).status).toBe(429)
    expect(connections).toBe(0)
  })
})
