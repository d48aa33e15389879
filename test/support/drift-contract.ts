import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hubAt, type HubUnderTest, type HubZone, type TroubledUnderTest } from './hub-zone'
import { world, type World } from './world'
import type { StateRrset } from './zone-states'

// What a customer is promised of zones that others may change at their server, or whose server goes wrong.

const patience = 120_000

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
// What is told of it by `told`.
const asDrifted = ['api A drifted missing', 'new TXT unmanaged added', 'txt TXT drifted changed', 'www A drifted changed']

/** What holds where somebody else may change a zone at its server. */
export function driftContract(title: string, start: () => Promise<HubUnderTest>): void {
  describe(`zones of the hub that others change at ${title}`, () => {
    const here = hubOf(start)

    test(
      'tell it once, and leave it as it is',
      async () => {
        const { zone, there } = await here.drifted()
        expect((await zone.refresh()).status).toBe('success')
        expect(await here.told(zone)).toEqual(asDrifted)
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
        // What is changed here meanwhile goes there, and nothing else.
        await zone.put(['h8', 'A', 300, '192.0.2.88'])
        expect(await zone.there()).toEqual(there.map(one => one.replace('h8 300 A 192.0.2.8', 'h8 300 A 192.0.2.88')))
        expect(await here.told(zone)).toEqual(asDrifted)
        expect(await here.events(zone)).toHaveLength(1)
      },
      patience,
    )

    test(
      'take it over where that is asked for',
      async () => {
        const { zone, there } = await here.drifted()
        await zone.refresh()
        const adopted = await here.w.acme.call('POST', `${zone.path}/adopt`, { all: true })
        expect(adopted.status).toBe(200)
        await here.w.settle()
        expect(await zone.there()).toEqual(there)
        await zone.expectAt([
          ...kept.filter(([name]) => !['www', 'api', 'txt'].includes(name)),
          ['www', 'A', 300, '198.51.100.7'],
          ['txt', 'TXT', 600, 'a;b"c\\d'],
          ['new', 'TXT', 300, 'theirs; all of it'],
        ])
      },
      patience,
    )

    test(
      'put it back by a plan that says so, and what is theirs alone stays',
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
        expect(await here.told(zone)).toEqual(['new TXT unmanaged added'])
        await here.others(zone, ['new', 'TXT', 300])
        await zone.refresh()
        await zone.expectAt(kept)
      },
      patience,
    )

    test(
      'do not overwrite what was changed since a plan was made',
      async () => {
        const zone = await here.begun()
        await here.w.acme.call('PATCH', zone.path, { apply: 'manual' })
        await here.w.settle()
        await zone.put(['www', 'A', 300, '192.0.2.99'])
        const plan = await zone.plan()
        await here.others(zone, ['www', 'A', 300, '198.51.100.7'])
        const there = await zone.there()
        expect(await zone.apply(plan)).toMatchObject({ status: 'error', error: { code: 'plan_stale' } })
        expect(await zone.there()).toEqual(there)
        expect(await here.told(zone)).toEqual(['www A conflict null'])
        expect(await here.events(zone)).toHaveLength(1)
      },
      patience,
    )

    test(
      'are not believed to be empty, or half of what they were, until somebody says so',
      async () => {
        const zone = await here.begun()
        for (const [name, type] of kept.slice(0, 6)) await here.others(zone, [name, type, 300])
        const refused = await zone.refresh()
        expect(refused).toMatchObject({ status: 'error', error: { code: 'provider_failed' } })
        expect(await zone.shown()).toMatchObject({
          synced: false,
          sync: { state: 'error', targets: [{ error: { code: 'incomplete' } }] },
        })
        expect([await here.told(zone), await here.events(zone)]).toEqual([[], []])
        // Nor is anything brought there by such a reading.
        const there = await zone.there()
        await zone.put(['h8', 'A', 300, '192.0.2.88'])
        expect(await zone.there()).toEqual(there)
        await zone.put(['h8', 'A', 300, '192.0.2.8'])
        for (const [name, type] of kept.slice(6)) await here.others(zone, [name, type, 300])
        expect((await zone.refresh()).error).toMatchObject({ code: 'provider_failed' })
        expect([await here.told(zone), await here.events(zone)]).toEqual([['h8 A pending null'], []])
        expect((await zone.refresh({ believe: true, note: 'They are gone.' })).status).toBe('success')
        expect(await here.told(zone)).toHaveLength(kept.length)
        expect(await here.events(zone)).toHaveLength(1)
      },
      patience,
    )
  })
}

/** What holds where the server can be made to go wrong. */
export function troubleContract(title: string, start: () => Promise<TroubledUnderTest>): void {
  describe(`zones of the hub at ${title}, which goes wrong,`, () => {
    const here = hubOf(start)

    test(
      'do not overwrite what is changed while a change is on its way, and tell it',
      async () => {
        const zone = await here.begun()
        const theirs: StateRrset = ['www', 'A', 300, '198.51.100.7']
        await here.under.trouble.interrupt(() => here.others(zone, theirs))
        await zone.put(['www', 'A', 300, '192.0.2.99'])
        await here.under.trouble.calm()
        const there = await zone.there()
        expect(there).toContain('www 300 A 198.51.100.7')
        for (let n = 0; n < 3; n++) {
          await here.later()
          await zone.refresh()
        }
        expect(await zone.there()).toEqual(there)
        expect(await here.told(zone)).toEqual(['www A conflict null'])
        expect(await here.events(zone)).toHaveLength(1)
      },
      patience,
    )

    test(
      'are not believed to be less after a write either',
      async () => {
        for (const left of [0, 1, 3]) {
          const zone = await here.begun()
          await here.under.trouble.lose(left, 'the next write')
          await zone.put(['h8', 'A', 300, '192.0.2.88'])
          const shownThen = await zone.shown()
          await here.under.trouble.calm()
          expect(shownThen.sync.targets[0].error?.code).toBe('incomplete')
          expect([await here.told(zone), await here.events(zone)]).toEqual([['h8 A pending null'], []])
          expect((await here.w.audited()).slice(-2)).toEqual(['dns.rrsets.replace', 'dns.zone.sync'])
          expect((await zone.refresh()).status).toBe('success')
          await zone.expectAt([...kept.slice(0, -1), ['h8', 'A', 300, '192.0.2.88']])
          expect(await here.events(zone)).toEqual([])
        }
      },
      patience,
    )

    test(
      'are an error where an answer is short in form, or is that the hub asks too often',
      async () => {
        const zone = await here.begun()
        for (const [trouble, failure] of [
          ['throttle', ['throttled']],
          ['shorten', ['incomplete', 'invalid_answer']],
        ] as const) {
          await here.under.trouble[trouble]()
          const { status, error } = await zone.refresh()
          await here.under.trouble.calm()
          expect([status, error?.code]).toEqual(['error', 'provider_failed'])
          const { synced, sync } = await zone.shown()
          // Being asked too often says nothing of the zone; a short answer does.
          expect([synced, sync.state]).toEqual(trouble === 'throttle' ? [true, 'synced'] : [false, 'error'])
          expect(sync.targets[0].error.code).toBeOneOf([...failure])
          expect([await here.told(zone), await here.events(zone)]).toEqual([[], []])
        }
        expect((await zone.refresh()).status).toBe('success')
        await zone.expectAt(kept)
      },
      patience,
    )

    test(
      'are read again where a change was not answered, and nobody is told of it as drift',
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
        await zone.expectAt([...kept.slice(1, -1), changed[0]!, changed[2]!])
        expect(await here.events(zone)).toEqual([])
      },
      patience,
    )
  })
}

/** A hub for the tests of one suite, with an account at the server. */
function hubOf<T extends HubUnderTest>(start: () => Promise<T>) {
  let under: T
  let w: World
  let zoneMade: () => Promise<HubZone>
  beforeAll(async () => {
    under = await start()
    w = await world()
    zoneMade = await hubAt(under, w)
  }, patience)
  afterAll(async () => {
    await under?.stop()
  })

  const begun = async () => {
    const zone = await zoneMade()
    await zone.put(...kept)
    await zone.expectAt(kept)
    seen = (await w.acme.call('GET', '/v1/events?sort=-id&limit=1')).body.data[0].id
    return zone
  }
  // The last event before others did anything.
  let seen = ''
  const later = () => (under.checksTime ? w.settle() : w.pass(900_000))
  const others = (zone: HubZone, [name, type, ttl, ...values]: StateRrset) =>
    under.meddle(zone.name, name, type, ttl, values.length === 0 ? null : values)
  /** What is not as it is to be: name, type, state, and what others did. */
  const told = async (zone: HubZone) => (await zone.drift()).map(one => `${one.name} ${one.type} ${one.state} ${one.kind}`).sort()
  const events = async (zone: HubZone): Promise<any[]> =>
    (await w.acme.call('GET', '/v1/events?kind=dns.records_changed&sort=-id&limit=100')).body.data.filter(
      (one: any) => one.id > seen && one.data.zone.name === zone.name && one.data.origin === 'external',
    )
  const drifted = async () => {
    const zone = await begun()
    await others(zone, ['www', 'A', 300, '198.51.100.7'])
    await others(zone, ['api', 'A', 300])
    await others(zone, ['txt', 'TXT', 600, '"a;b\\"c\\\\d"'])
    await others(zone, ['new', 'TXT', 300, '"theirs; all of it"'])
    const there = await zone.there()
    return { zone, there }
  }
  return {
    get under() {
      return under
    },
    get w() {
      return w
    },
    begun,
    later,
    others,
    told,
    events,
    drifted,
  }
}
