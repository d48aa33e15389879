import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { world, type Caller, type World } from '../support/world'

const yaml = { 'content-type': 'application/yaml' }
const sent = (caller: Caller, text: string, query = '') => caller.call('POST', `/v1/monitoring/import${query}`, text, yaml)
const exported = async (caller: Caller, format = 'yaml') =>
  (await caller.call('GET', `/v1/monitoring/export?format=${format}`)).text
const listed = async (w: World) => (await w.acme.call('GET', '/v1/monitors?limit=100&sort=name')).body.data
const counted = ({ body }: { body: any }) => [body.created, body.updated, body.deleted, body.unchanged]

const shop = `
monitors:
  # Last on purpose: names may be used before they are defined.
  - key: edge
    name: Edge
    type: group
    options: {members: [shop], rule: all}
  - key: shop
    name: Shop
    type: group
    tags: [prod]
    depends_on: [router]
  - key: router
    name: Router
    type: group
`

test('importing creates monitors that refer to each other in any order, and nothing the second time', async () => {
  const w = await world()
  const first = await sent(w.acme, shop)
  expect([first.status, first.body.errors]).toEqual([200, undefined])
  expect(counted(first)).toEqual([3, 0, 0, 0])
  const [edge, router, created] = await listed(w)
  expect(edge.options.members).toEqual([created.id])
  expect(created.depends_on).toEqual([router.id])
  expect(await w.audited()).toEqual(['monitor.import', 'monitor.create', 'monitor.create', 'monitor.create'])
  expect(counted(await sent(w.acme, shop))).toEqual([0, 0, 0, 3])
  expect(await w.audited()).toEqual([])
})

test('a dry run returns the changes without applying them', async () => {
  const w = await world()
  await sent(w.acme, shop)
  await w.audited()
  const before = await listed(w)
  const edited = `${shop.replace('tags: [prod]', 'tags: [shop]').replace('key: router', 'key: switch').replace('[router]', '[switch]')}`
  const dry = await sent(w.acme, edited, '?dry_run=true&prune=true')
  expect(counted(dry)).toEqual([1, 1, 1, 1])
  const [gone, fresh, changed] = dry.body.changes
  expect(gone).toMatchObject({ op: 'delete', key: 'router', after: {} })
  expect(fresh).toMatchObject({ op: 'create', key: 'switch', id: null, before: {} })
  expect(changed).toMatchObject({ op: 'update', key: 'shop' })
  expect(changed.after.tags).toEqual(['shop'])
  expect(await listed(w)).toEqual(before)
  expect(await w.audited()).toEqual([])

  expect(counted(await sent(w.acme, edited, '?prune=true'))).toEqual([1, 1, 1, 1])
  expect((await listed(w)).map((one: any) => one.key)).toEqual(['edge', 'switch', 'shop'])
  expect(await w.audited()).toEqual(['monitor.import', 'monitor.delete', 'monitor.create', 'monitor.update'])
})

test('a dry run returns only the options that differ', async () => {
  const w = await world()
  await sent(w.acme, shop)
  const dry = await sent(w.acme, shop.replace('rule: all', 'rule: any'), '?dry_run=true')
  expect(dry.body.changes).toMatchObject([{ op: 'update', key: 'edge' }])
  expect(dry.body.changes[0].before).toEqual({ options: { rule: 'all' } })
  expect(dry.body.changes[0].after).toEqual({ options: { rule: 'any' } })
})

test('all errors are reported at once with line, column, and field, and nothing is changed', async () => {
  const w = await world()
  const wrong = async (text: string, query = '') =>
    (await sent(w.acme, text, query)).body.errors.map(
      (one: any) => `${one.pointer} ${one.code} ${/\(.*\)/.exec(one.detail)?.[0]}`,
    )
  expect(await wrong('monitors:\n  - type: group\n    name: a\n    interval_seconds: 3\n')).toEqual([
    '#/monitors/0/interval_seconds out_of_range (line 4, column 23)',
  ])
  expect(
    await wrong(
      'monitors:\n  - {type: group, name: a, timeout_seconds: 50, interval_seconds: 30}\n  - {type: group, name: b, depends_on: [c]}\n',
    ),
  ).toEqual([
    '#/monitors/0/timeout_seconds out_of_range (line 2, column 45)',
    '#/monitors/1/depends_on/0 unknown (line 3, column 41)',
  ])
  expect(
    await wrong('monitors:\n  - {type: group, name: a, depends_on: [b]}\n  - {type: group, name: b, depends_on: [a]}\n'),
  ).toEqual(['#/monitors/1/depends_on circular (line 3, column 40)'])
  expect(await wrong('monitors:\n  - {type: group, name: a}\n  - {type: group, name: a}\n')).toEqual([
    '#/monitors/1/name not_unique (line 3, column 25)',
  ])
  expect((await sent(w.acme, 'monitors: [\n')).body.errors[0]).toMatchObject({ pointer: '#', code: 'yaml' })
  expect((await sent(w.acme, 'monitors: []\nmonitors: []\n')).status).toBe(422)
  expect((await sent(w.acme, '')).status).toBe(422)
  expect((await sent(w.acme, '- 1')).status).toBe(422)
  const bomb = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...[...'bcdefgh'].map((name, at) => `${name}: &${name} [${`*${'abcdefg'[at]},`.repeat(9)}]`),
  ]
  expect((await sent(w.acme, bomb.join('\n'))).status).toBe(422)
  expect(await listed(w)).toEqual([])
})

test('errors of all kinds are reported together, including those of entries that refer to invalid ones', async () => {
  const w = await world()
  const wrong = `
monitors:
  - {type: group, key: a, name: a, interval: 30, confirm: 0}
  - {type: group, key: a, name: other}
  - {type: http, key: b, name: b, target: 'https://b.example.com/', down_if: ['[STATUS] = 3'], channels: [NoSuch]}
  - {type: group, key: c, name: c, depends_on: [nobody, b], options: {members: [nope, b], rule: some}}
  - {type: group, key: d, name: d, depends_on: [e]}
  - {type: group, key: e, name: e, depends_on: [d]}
maintenance_windows:
  - {name: night, kind: cron, timezone: Mars/Base, cron: '0 25 * * *', duration_seconds: 600, targets: {monitors: [nowhere, b]}}
`
  const { body } = await sent(w.acme, wrong, '?dry_run=true')
  expect(body.errors.map((one: any) => one.pointer).toSorted()).toEqual([
    '#/maintenance_windows/0/cron',
    '#/maintenance_windows/0/targets/monitors/0',
    '#/maintenance_windows/0/timezone',
    '#/monitors/0/confirm',
    '#/monitors/0/interval',
    '#/monitors/1/key',
    '#/monitors/2/channels/0',
    '#/monitors/2/down_if/0',
    '#/monitors/3/depends_on/0',
    '#/monitors/3/options/members/0',
    '#/monitors/3/options/rule',
    '#/monitors/5/depends_on',
  ])
  const many = `maintenance_windows: x\nmonitors:\n${'  - {type: group, name: a, confirm: 0}\n'.repeat(30)}`
  for (const text of [many, 'monitors: [1, null, []]', 'maintenance_windows: [{name: a}]', 'monitors: {0: {confirm: 0}}'])
    expect((await sent(w.acme, text)).status).toBe(422)
  expect(await listed(w)).toEqual([])
})

test('a monitor without a key is matched by name, and not at all if the name is ambiguous', async () => {
  const w = await world()
  const text = 'monitors: [{type: group, name: Alone, confirm: 3}]'
  expect(counted(await sent(w.acme, text))).toEqual([1, 0, 0, 0])
  expect(counted(await sent(w.acme, text.replace('3', '4')))).toEqual([0, 1, 0, 0])
  expect((await listed(w))[0]).toMatchObject({ name: 'Alone', confirm: 4, key: null })
  await w.acme.call('POST', '/v1/monitors', { type: 'group', name: 'Alone' })
  expect((await sent(w.acme, text)).body.errors[0]).toMatchObject({ pointer: '#/monitors/0/name', code: 'ambiguous' })
})

test('an export can be imported into another workspace, within the limits of its plan', async () => {
  const w = await world()
  await sent(w.acme, shop)
  const text = await exported(w.acme)
  expect(counted(await sent(w.rival, text))).toEqual([3, 0, 0, 0])
  expect(await exported(w.rival)).toBe(text)
  await w.limit(w.rival.workspaceId, { monitors: 3 })
  const over = await sent(w.rival, text.replace('monitors:\n', 'monitors:\n- {type: group, name: more}\n'))
  expect([over.status, over.body.code]).toEqual([403, 'plan_limit_reached'])
})

test('importing an export changes nothing, for any configuration', async () => {
  const w = await world()
  const line = fc.stringMatching(/^[ -~äß€]{0,18}[!-~]$/)
  const monitor = fc.record({
    name: fc.oneof(
      line,
      fc.constantFrom('yes', '0x10', '1e3', 'null', '- a', '#', '"', "'", ': ', '~', '*a', '&b', '2027-01-01'),
    ),
    key: fc.oneof(fc.constant(null), fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9_.:/-]{0,9}$/)),
    description: fc.oneof(line, fc.constantFrom('', 'two\nlines\n', ' lead', 'trail ', '\ttab', 'a\r\nb')),
    interval_seconds: fc.integer({ min: 60, max: 90 }),
    confirm: fc.integer({ min: 1, max: 20 }),
    quorum: fc.constantFrom('majority', 'any', 'all', 1),
    tags: fc.uniqueArray(fc.constantFrom('a', 'b:c', '1', 'no', '1.0'), { maxLength: 3 }),
    severity: fc.constantFrom('info', 'warning', 'critical'),
    recovery_seconds: fc.integer({ min: 0, max: 3 }),
    degraded_ms: fc.oneof(fc.constant(null), fc.integer({ min: 1, max: 9000 })),
  })
  await fc.assert(
    fc.asyncProperty(fc.array(monitor, { minLength: 1, maxLength: 5 }), fc.boolean(), async (wanted, linked) => {
      let last: string | null = null
      for (const one of wanted) {
        const relations: object =
          last === null || !linked ? {} : { depends_on: [last], options: { members: [last], rule: 'all' } }
        const answer = await w.acme.call('POST', '/v1/monitors', { type: 'group', ...one, ...relations })
        // The key may be in use by then.
        if (answer.status === 409) continue
        expect([answer.status, answer.body.errors]).toEqual([201, undefined])
        last = answer.body.id
      }
      const before = await listed(w)
      for (const format of ['yaml', 'json']) {
        const again = await sent(w.acme, await exported(w.acme, format), '?prune=true')
        expect([again.status, again.body.errors, again.body.changes]).toEqual([200, undefined, []])
      }
      expect(await listed(w)).toEqual(before)
      for (const { id } of before) await w.acme.call('DELETE', `/v1/monitors/${id}`)
    }),
    { numRuns: 25 },
  )
}, 180_000)

test('maintenance windows are imported by name, and left unchanged if the document has none', async () => {
  const w = await world()
  const text = `${shop}maintenance_windows:
  - name: Upgrades
    kind: rrule
    timezone: Europe/Berlin
    duration_seconds: 7200
    starts_at_local: 2026-11-07T23:00:00
    rrule: FREQ=WEEKLY;BYDAY=SA
    exdates: [2026-12-26]
    targets: {monitors: [shop], groups: [edge], tags: [prod]}
`
  const first = await sent(w.acme, text)
  expect([first.status, first.body.errors, ...counted(first)]).toEqual([200, undefined, 4, 0, 0, 0])
  const windows = async () => (await w.acme.call('GET', '/v1/maintenance-windows')).body.data
  const [edge, , created] = await listed(w)
  expect((await windows())[0].targets).toEqual({
    all: false,
    monitors: [created.id],
    heartbeats: [],
    groups: [edge.id],
    tags: ['prod'],
  })
  await w.audited()
  expect(counted(await sent(w.acme, await exported(w.acme)))).toEqual([0, 0, 0, 4])
  expect(counted(await sent(w.acme, shop, '?prune=true'))).toEqual([0, 0, 0, 3])
  expect(await w.audited()).toEqual([])
  const longer = await sent(w.acme, text.replace('7200', '3600').replace(', tags: [prod]}', '}'))
  expect(longer.body.changes).toMatchObject([{ op: 'update', kind: 'maintenance_window', name: 'Upgrades' }])
  expect(longer.body.changes[0].after.duration_seconds).toBe(3600)
  expect(await w.audited()).toEqual(['monitor.import', 'maintenance.window.update'])
  const wrong = await sent(w.acme, text.replace('monitors: [shop]', 'monitors: [none]').replace('Europe/Berlin', 'Mars/Base'))
  expect(wrong.status).toBe(422)
  expect(wrong.body.errors[0].detail).toContain('line')
  expect(counted(await sent(w.acme, `${shop}maintenance_windows: []\n`, '?prune=true'))).toEqual([0, 0, 1, 3])
  expect(await windows()).toEqual([])
})

test('a dry run returns exactly what the import then does, for any configuration and document', async () => {
  const w = await world()
  const target = fc.constantFrom('https://a.example/', 'http://b.example:8080/x?y=ü', 'https://münchen.example/')
  const keys = fc.constantFrom('a', 'b', 'c', 'd')
  const monitor = fc.record({
    key: keys,
    name: fc.constantFrom('One', 'Two', 'Ünïcode 雪'),
    target,
    interval_seconds: fc.constantFrom(60, 120),
    tags: fc.uniqueArray(fc.constantFrom('x', 'y'), { maxLength: 2 }),
    options: fc.constantFrom(
      {},
      { method: 'POST', body: 'tab\tline\nend' },
      { headers: { 'X-One': 'a: b' } },
      { auth: { type: 'bearer', token: 'geheim' } },
    ),
    down_if: fc.constantFrom([], ['[STATUS] != 200'], ['[BODY] == pat(*ok*)', '[RESPONSE_TIME] > 900']),
    degraded_ms: fc.constantFrom(null, 500),
  })
  const group = fc.record({
    key: fc.constantFrom('g', 'h'),
    name: fc.constantFrom('G', 'H'),
    members: fc.uniqueArray(keys, { maxLength: 3 }),
  })
  const window = fc.record({ name: fc.constantFrom('w1', 'w2'), duration_seconds: fc.constantFrom(600, 3600), all: fc.boolean() })
  const document = fc.record({
    monitors: fc.uniqueArray(monitor, { maxLength: 4, selector: one => one.key }),
    groups: fc.uniqueArray(group, { maxLength: 2, selector: one => one.key }),
    windows: fc.option(fc.uniqueArray(window, { maxLength: 2, selector: one => one.name })),
    prune: fc.boolean(),
  })
  const written = ({ monitors, groups, windows }: typeof document extends fc.Arbitrary<infer T> ? T : never) => {
    const known = new Set(monitors.map(one => one.key))
    return JSON.stringify({
      monitors: [
        ...groups.map(({ members, ...one }) => ({
          ...one,
          type: 'group',
          options: { members: members.filter(key => known.has(key)) },
        })),
        ...monitors.map((one, place) => ({ ...one, depends_on: place > 0 ? [monitors[0]!.key] : [] })),
      ],
      ...(windows && {
        maintenance_windows: windows.map(({ all, ...one }) => ({
          ...one,
          kind: 'rrule',
          timezone: 'Europe/Berlin',
          starts_at_local: '2026-11-07T23:00:00',
          rrule: 'FREQ=WEEKLY;BYDAY=SA',
          targets: all || !monitors[0] ? { all: true } : { monitors: [monitors[0].key] },
        })),
      }),
    })
  }
  await fc.assert(
    fc.asyncProperty(document, async input => {
      const text = written(input)
      const query = input.prune ? '&prune=true' : ''
      const before = await exported(w.acme)
      const dry = await sent(w.acme, text, `?dry_run=true${query}`)
      expect(await exported(w.acme)).toBe(before)
      const done = await sent(w.acme, text, `?dry_run=false${query}`)
      expect([text, dry.status, dry.body.errors]).toEqual([text, done.status, done.body.errors])
      if (done.status !== 200) return
      const bare = ({ body }: { body: any }) => ({
        ...body,
        dry_run: null,
        // New monitors have no id in a dry run, and references to them don't either.
        changes: body.changes.map(({ op, kind, id, key, name }: any) => ({
          op,
          kind,
          id: op === 'create' ? null : id,
          key,
          name,
        })),
      })
      expect(bare(dry)).toEqual(bare(done))
      expect(counted(await sent(w.acme, text, `?dry_run=false${query}`)).slice(0, 3)).toEqual([0, 0, 0])
      expect(counted(await sent(w.acme, await exported(w.acme))).slice(0, 3)).toEqual([0, 0, 0])
    }),
    { numRuns: 20 },
  )
}, 180_000)
