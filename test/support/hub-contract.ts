import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { given, hubAt, type HubUnderTest, type HubZone } from './hub-zone'
import { world, type World } from './world'
import { waysOfZones, type StateRrset, type ZoneState } from './zone-states'

// What a customer is promised of zones, wherever they are kept: through the API, held against what the server has.

const patience = 120_000

/** What holds for zones at any provider, the hub itself among them. */
export function hubContract(title: string, start: () => Promise<HubUnderTest>): void {
  describe(`zones of the hub at ${title}`, () => {
    let under: HubUnderTest
    let w: World
    let zoneMade: (more?: object) => Promise<HubZone>
    beforeAll(async () => {
      under = await start()
      w = under.world ?? (await world())
      zoneMade = await hubAt(under, w)
    }, patience)
    afterAll(async () => {
      await under?.stop()
    })

    const takes = (type: string) =>
      !under.caps.unsupported.has(type) && !under.lacks?.includes(type) && (type !== 'ALIAS' || under.caps.alias === 'native')
    const codes = (reasons: readonly { code: string }[]) => reasons.map(one => one.code).sort()

    /** Brings a zone to a state: by its records, and by plans where the hub alone has it, since those alone are guarded there. */
    async function move(zone: HubZone, from: readonly StateRrset[], { rrsets, held = [], heldWithoutNs = [] }: ZoneState) {
      const key = ([name, type]: StateRrset) => `${name} ${type}`
      const removed = from.filter(one => !rrsets.some(other => key(other) === key(one)))
      const edits: StateRrset[] = [...removed.map(([name, type, ttl]): StateRrset => [name, type, ttl]), ...rrsets]
      const reasons = [...held, ...(under.caps.apexNs === 'hidden' ? heldWithoutNs : [])].sort()
      const let_through = { allow: reasons, note: 'As it is to be.' }
      if (under.world) {
        const plan = await zone.plan({ rrsets: edits.map(given) })
        expect(codes(plan.blocked)).toEqual(reasons)
        expect(await zone.apply(plan, let_through)).toMatchObject({ status: 'success' })
        return
      }
      await zone.put(...edits)
      const { blocked } = await zone.shown()
      expect(codes(blocked?.reasons ?? [])).toEqual(reasons)
      if (!blocked) return
      const plan = (await w.acme.call('GET', `/v1/dns/plans/${blocked.plan_id}`)).body
      expect(await zone.apply(plan, let_through)).toMatchObject({ status: 'success', error: null })
    }

    test.each(Object.keys(waysOfZones(() => true)))(
      'go through their states: %s',
      async way => {
        const zone = await zoneMade()
        let before: StateRrset[] = []
        for (const state of waysOfZones(takes)[way]!) {
          await move(zone, before, state)
          await zone.expectAt(state.rrsets)
          before = state.rrsets
        }
      },
      patience,
    )

    /** With the NS of the apex, where it counts. */
    const ten = (count: number): StateRrset[] =>
      Array.from({ length: count - (under.caps.apexNs === 'hidden' ? 0 : 1) }, (_, n) => [`h${n}`, 'A', 300, `192.0.2.${n}`])

    test(
      'lose three of ten rrsets unasked, and four where somebody says so, which the audit log tells',
      async () => {
        const zone = await zoneMade()
        const all = ten(10)
        await move(zone, [], { title: 'ten', rrsets: all })
        await move(zone, all, { title: 'seven', rrsets: all.slice(3) })
        await zone.expectAt(all.slice(3))
        await move(zone, all.slice(3), { title: 'ten again', rrsets: all })

        const before = await zone.there()
        const edits = all.slice(0, 4).map(([name, type]) => ({ name, type, records: [] }))
        let plan: any
        if (under.world) plan = await zone.plan({ rrsets: edits })
        else {
          await zone.put(...all.slice(0, 4).map(([name, type]): StateRrset => [name, type, 300]))
          const { blocked, synced } = await zone.shown()
          expect(synced).toBe(false)
          plan = (await w.acme.call('GET', `/v1/dns/plans/${blocked.plan_id}`)).body
        }
        expect(codes(plan.blocked)).toEqual(['deletes_over_limit'])
        const apply = (more: object) => w.acme.call('POST', `${zone.path}/apply`, { plan_id: plan.id, hash: plan.hash, ...more })
        expect((await apply({})).body).toMatchObject({ code: 'plan_blocked', reasons: [{ code: 'deletes_over_limit' }] })
        expect((await apply({ allow: ['updates_over_limit'], note: 'x' })).body.code).toBe('plan_blocked')
        expect((await apply({ allow: ['deletes_over_limit'] })).body.errors).toMatchObject([{ pointer: '#/note' }])
        await w.settle()
        expect(await zone.there()).toEqual(before)
        expect(await zone.apply(plan, { allow: ['deletes_over_limit'], note: 'They moved.' })).toMatchObject({
          status: 'success',
        })
        await zone.expectAt(all.slice(4))
        const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=dns.plan.apply&limit=1')).body.data
        expect(entry).toMatchObject({ reason: 'They moved.', changes: { after: { allowed: ['deletes_over_limit'] } } })
      },
      patience,
    )

    test(
      'go back to what they were byte for byte when a change is undone',
      async () => {
        const zone = await zoneMade()
        const rrsets: StateRrset[] = [
          ['a', 'A', 300, '192.0.2.1', '192.0.2.2'],
          ['b', 'CNAME', 300, 'one.example.net.'],
          ['t', 'TXT', 900, '"one" "two"', '"\\255\\001"'],
          ['@', 'MX', 300, '10 mail.example.net.'],
        ]
        await move(zone, [], { title: 'before', rrsets })
        const before = await zone.there()
        const edited: StateRrset[] = [
          ['a', 'A', 60, '192.0.2.9'],
          ['b', 'TXT', 300, 'no more'],
          ['t', 'TXT', 900, 'three'],
          ['@', 'MX', 300, '10 mail.example.net.', '20 mail.example.org.'],
          ['n', 'AAAA', 300, '2001:db8::1'],
        ]
        await move(zone, rrsets, { title: 'after', rrsets: edited })
        await zone.expectAt(edited)
        const [changeset] = (await w.acme.call('GET', `${zone.path}/history?limit=1`)).body.data
        const undone = await w.acme.call('POST', `${zone.path}/revert`, { changeset_id: changeset.id, apply: true })
        await w.settle()
        const plan = undone.body
        if (plan.status !== 'applied') {
          const action = await zone.apply(plan, { allow: codes(plan.blocked), note: 'Back.' })
          expect(action).toMatchObject({ status: 'success' })
        }
        expect(await zone.there()).toEqual(before)
        await zone.expectAt(rrsets)
      },
      patience,
    )
  })
}
