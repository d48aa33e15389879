import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readDueTargets } from '../../src/features/dns/sync/sync-zone'
import { hubAt, type HubUnderTest, type HubZone, type TroubledUnderTest } from './hub-zone'
import { world, type World } from './world'
import type { StateRrset } from './zone-states'

// Promises about zones that are changed externally at their server, or whose server fails.

const timeoutMs = 180_000

const kept: StateRrset[] = [
  ['www', 'A', 300, '192.0.2.1'],
  ['api', 'A', 300, '192.0.2.2'],
  ['txt', 'TXT', 300, 'a;b"c\\d'],
  ['mail', 'MX', 300, '10 mail.example.net.'],
  ['old', 'CNAME', 300, 'one.example.net.'],
  ['h6', 'A', 300, '192.0.2.6'],
  ['h7', 'A', 300, '192.0.2.7'],
  ['h8', 'A', 300, '192.0.2.8'],
]
// Expected result of `differences`.
const asDrifted = ['api A drifted deleted', 'new TXT unmanaged added', 'txt TXT drifted changed', 'www A drifted changed']

/** Promises for servers where zones can be changed externally. */
export function driftContract(title: string, start: () => Promise<HubUnderTest>): void {
  describe(`zones with external changes at ${title}`, () => {
    const here = hubOf(start)

    test(
      'report them once, and leave them unchanged',
      async () => {
        const { zone, there } = await here.drifted()
        expect((await zone.refresh()).status).toBe('success')
        expect(await here.differences(zone)).toEqual(asDrifted)
        expect(await zone.shown()).toMatchObject({ synced: false, sync: { state: 'drifted' } })
        const [event, ...more] = await here.events(zone)
        expect([more, event.data.change_count, event.data.actor]).toEqual([[], 4, null])
        expect(event.data.changes.map((one: any) => `${one.action} ${one.name} ${one.type}`).sort()).toEqual([
          'created new TXT',
          'deleted api A',
          'updated txt TXT',
          'updated www A',
        ])
        for (let n = 0; n < 3; n++) {
          await here.later()
          await zone.refresh()
        }
        expect(await here.events(zone)).toHaveLength(1)
        // Local changes meanwhile are applied, and nothing else.
        await zone.put(['h8', 'A', 300, '192.0.2.88'])
        expect(await zone.atServer()).toEqual(there.map(one => one.replace('h8 300 A 192.0.2.8', 'h8 300 A 192.0.2.88')))
        expect(await here.differences(zone)).toEqual(asDrifted)
        expect(await here.events(zone)).toHaveLength(1)
      },
      timeoutMs,
    )

    test(
      'adopt them on request',
      async () => {
        const { zone, there } = await here.drifted()
        await zone.refresh()
        const adopted = await here.w.acme.call('POST', `${zone.path}/adopt`, { all: true })
        expect(adopted.status).toBe(200)
        await here.w.settle()
        expect(await zone.atServer()).toEqual(there)
        await zone.expectAt([
          ...kept.filter(([name]) => !['www', 'api', 'txt'].includes(name)),
          ['www', 'A', 300, '198.51.100.7'],
          ['txt', 'TXT', 600, 'a;b"c\\d'],
          ['new', 'TXT', 300, 'theirs; all of it'],
        ])
      },
      timeoutMs,
    )

    test(
      'revert them by a plan with enforce, but keep unmanaged records',
      async () => {
        const { zone } = await here.drifted()
        await zone.refresh()
        const plan = await zone.plan({ enforce: 'all' })
        expect(plan.targets[0].ops.map((one: any) => `${one.action} ${one.name} ${one.type}`).sort()).toEqual([
          'create api A',
          'update txt TXT',
          'update www A',
        ])
        expect((await zone.apply(plan)).status).toBe('success')
        expect(await here.differences(zone)).toEqual(['new TXT unmanaged added'])
        await here.others(zone, ['new', 'TXT', 300])
        await zone.refresh()
        await zone.expectAt(kept)
      },
      timeoutMs,
    )

    test(
      'do not overwrite changes made since a plan was created',
      async () => {
        const zone = await here.begun()
        await here.w.acme.call('PATCH', zone.path, { apply: 'manual' })
        await here.w.settle()
        await zone.put(['www', 'A', 300, '192.0.2.99'])
        const plan = await zone.plan()
        await here.others(zone, ['www', 'A', 300, '198.51.100.7'])
        const there = await zone.atServer()
        expect(await zone.apply(plan)).toMatchObject({ status: 'error', error: { code: 'plan_stale' } })
        expect(await zone.atServer()).toEqual(there)
        expect(await here.differences(zone)).toEqual(['www A conflict null'])
        expect(await here.events(zone)).toHaveLength(1)
      },
      timeoutMs,
    )

    test(
      'reject a result that is empty, or half of the previous one, unless forced',
      async () => {
        const zone = await here.begun()
        for (const [name, type] of kept.slice(0, 6)) await here.others(zone, [name, type, 300])
        const refused = await zone.refresh()
        expect(refused).toMatchObject({ status: 'error', error: { code: 'provider_failed' } })
        expect(await zone.shown()).toMatchObject({
          synced: false,
          sync: { state: 'error', targets: [{ error: { code: 'incomplete' } }] },
        })
        expect([await here.differences(zone), await here.events(zone)]).toEqual([[], []])
        // Nothing is applied based on such a result.
        const there = await zone.atServer()
        await zone.put(['h8', 'A', 300, '192.0.2.88'])
        expect(await zone.atServer()).toEqual(there)
        await zone.put(['h8', 'A', 300, '192.0.2.8'])
        for (const [name, type] of kept.slice(6)) await here.others(zone, [name, type, 300])
        expect((await zone.refresh()).error).toMatchObject({ code: 'provider_failed' })
        expect([await here.differences(zone), await here.events(zone)]).toEqual([['h8 A pending null'], []])
        expect((await zone.refresh({ force: true, note: 'They are gone.' })).status).toBe('success')
        expect(await here.differences(zone)).toHaveLength(kept.length)
        expect(await here.events(zone)).toHaveLength(1)
      },
      timeoutMs,
    )
  })
}

/** Promises for servers that can simulate failures. */
export function troubleContract(title: string, start: () => Promise<TroubledUnderTest>): void {
  describe(`zones at ${title} with failures`, () => {
    const here = hubOf(start)

    test(
      'do not overwrite external changes made during a sync, and report them',
      async () => {
        const zone = await here.begun()
        const theirs: StateRrset = ['www', 'A', 300, '198.51.100.7']
        await here.under.trouble.interrupt(() => here.others(zone, theirs))
        await zone.put(['www', 'A', 300, '192.0.2.99'])
        await here.under.trouble.calm()
        const there = await zone.atServer()
        expect(there).toContain('www 300 A 198.51.100.7')
        for (let n = 0; n < 3; n++) {
          await here.later()
          await zone.refresh()
        }
        expect(await zone.atServer()).toEqual(there)
        expect(await here.differences(zone)).toEqual(['www A conflict null'])
        expect(await here.events(zone)).toHaveLength(1)
      },
      timeoutMs,
    )

    test(
      'reject a loss of records after a write too',
      async () => {
        for (const left of [0, 1, 3]) {
          const zone = await here.begun()
          await here.under.trouble.lose(left, 'the next write')
          await zone.put(['h8', 'A', 300, '192.0.2.88'])
          const shownThen = await zone.shown()
          await here.under.trouble.calm()
          expect(shownThen.sync.targets[0].error?.code).toBe('incomplete')
          expect([await here.differences(zone), await here.events(zone)]).toEqual([['h8 A pending null'], []])
          expect((await here.w.audited()).slice(-2)).toEqual(['dns.rrsets.replace', 'dns.zone.sync'])
          expect((await zone.refresh()).status).toBe('success')
          await zone.expectAt([...kept.slice(0, -1), ['h8', 'A', 300, '192.0.2.88']])
          expect(await here.events(zone)).toEqual([])
        }
      },
      timeoutMs,
    )

    test(
      'are in error after an incomplete response, but not after rate limiting',
      async () => {
        const zone = await here.begun()
        for (const [trouble, failure] of [
          ['throttle', ['throttled']],
          ['shorten', ['incomplete', 'invalid_response']],
        ] as const) {
          await here.under.trouble[trouble]()
          const { status, error } = await zone.refresh()
          await here.under.trouble.calm()
          expect([status, error?.code]).toEqual(['error', 'provider_failed'])
          const { synced, sync } = await zone.shown()
          // Rate limiting says nothing about the zone; an incomplete response does.
          expect([synced, sync.state]).toEqual(trouble === 'throttle' ? [true, 'synced'] : [false, 'error'])
          expect(sync.targets[0].error.code).toBeOneOf([...failure])
          expect([await here.differences(zone), await here.events(zone)]).toEqual([[], []])
        }
        expect((await zone.refresh()).status).toBe('success')
        await zone.expectAt(kept)
      },
      timeoutMs,
    )

    test(
      'are read again after a change without a response, which is not reported as drift',
      async () => {
        const zone = await here.begun()
        await here.under.trouble.fallSilent()
        const changed: StateRrset[] = [
          ['www', 'A', 300, '192.0.2.99'],
          ['h8', 'A', 300],
          ['new', 'A', 300, '192.0.2.100'],
        ]
        await zone.put(...changed)
        await here.under.trouble.calm()
        expect((await zone.refresh()).status).toBe('success')
        // Without batches, the other changes are sent after the next poll.
        if (!here.under.checksTime) {
          await here.w.advance(1_000_000)
          await readDueTargets(here.w.hub)
          await here.w.settle()
        }
        await zone.expectAt([...kept.slice(1, -1), changed[0]!, changed[2]!])
        expect(await here.events(zone)).toEqual([])
      },
      timeoutMs,
    )
  })
}

/** A hub for one suite, with an account at the server. */
function hubOf<T extends HubUnderTest>(start: () => Promise<T>) {
  let under: T
  let w: World
  let createZone: () => Promise<HubZone>
  beforeAll(async () => {
    under = await start()
    w = await world()
    createZone = await hubAt(under, w)
  }, timeoutMs)
  afterAll(async () => {
    await under?.stop()
  })

  const started = async () => {
    const zone = await createZone()
    await zone.put(...kept)
    await zone.expectAt(kept)
    seen = (await w.acme.call('GET', '/v1/events?sort=-id&limit=1')).body.data[0].id
    return zone
  }
  // The last event before external changes.
  let seen = ''
  const later = () => (under.checksTime ? w.settle() : w.advance(900_000))
  const others = (zone: HubZone, [name, type, ttl, ...values]: StateRrset) =>
    under.changeExternally(zone.name, name, type, ttl, values.length === 0 ? null : values)
  /** Lists what differs: name, type, state, and drift kind. */
  const differences = async (zone: HubZone) =>
    (await zone.drift()).map(one => `${one.name} ${one.type} ${one.state} ${one.kind}`).sort()
  const events = async (zone: HubZone): Promise<any[]> =>
    (await w.acme.call('GET', '/v1/events?kind=dns.records_changed&sort=-id&limit=100')).body.data.filter(
      (one: any) => one.id > seen && one.data.zone.name === zone.name && one.data.origin === 'external',
    )
  const drifted = async () => {
    const zone = await started()
    await others(zone, ['www', 'A', 300, '198.51.100.7'])
    await others(zone, ['api', 'A', 300])
    await others(zone, ['txt', 'TXT', 600, '"a;b\\"c\\\\d"'])
    await others(zone, ['new', 'TXT', 300, '"theirs; all of it"'])
    const there = await zone.atServer()
    return { zone, there }
  }
  return {
    get under() {
      return under
    },
    get w() {
      return w
    },
    begun: started,
    later,
    others,
    differences,
    events,
    drifted,
  }
}
