import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rrsetInput, hubAt, type HubUnderTest, type HubZone } from './hub-zone'
import { world, type World } from './world'
import { zoneScenarios, type StateRrset, type ZoneState } from './zone-states'

// What zones guarantee at every provider: changes over the API, checked against the server.

const timeoutMs = 180_000

/** Tests that apply to zones at every provider, including the hub itself. */
export function hubContract(title: string, start: () => Promise<HubUnderTest>): void {
  describe(`zones of the hub at ${title}`, () => {
    let under: HubUnderTest
    let w: World
    let createZone: (more?: object) => Promise<HubZone>
    beforeAll(async () => {
      under = await start()
      w = under.world ?? (await world())
      createZone = await hubAt(under, w)
    }, timeoutMs)
    afterAll(async () => {
      await under?.stop()
    })

    const supports = (type: string) =>
      !under.caps.unsupported.has(type) && !under.lacks?.includes(type) && (type !== 'ALIAS' || under.caps.alias === 'native')
    const codes = (reasons: readonly { code: string }[]) => reasons.map(one => one.code).sort()

    /** Changes a zone to a state: by its records, or by plans if only the hub hosts it, because only those have guards there. */
    async function move(
      zone: HubZone,
      from: readonly StateRrset[],
      { rrsets, blockedBy = [], blockedByWithoutNs = [] }: ZoneState,
    ) {
      const key = ([name, type]: StateRrset) => `${name} ${type}`
      const removed = from.filter(one => !rrsets.some(other => key(other) === key(one)))
      const edits: StateRrset[] = [...removed.map(([name, type, ttl]): StateRrset => [name, type, ttl]), ...rrsets]
      const reasons = [...blockedBy, ...(under.caps.apexNs === 'hidden' ? blockedByWithoutNs : [])].sort()
      const override = { allow: reasons, note: 'Intended.' }
      if (under.world) {
        const plan = await zone.plan({ rrsets: edits.map(rrsetInput) })
        expect(codes(plan.blocked)).toEqual(reasons)
        expect(await zone.apply(plan, override)).toMatchObject({ status: 'success' })
        return
      }
      await zone.put(...edits)
      const { blocked } = await zone.shown()
      expect(codes(blocked?.reasons ?? [])).toEqual(reasons)
      if (!blocked) return
      const plan = (await w.acme.call('GET', `/v1/dns/plans/${blocked.plan_id}`)).body
      expect(await zone.apply(plan, override)).toMatchObject({ status: 'success', error: null })
    }

    test.each(Object.keys(zoneScenarios(() => true)))(
      'reach their states: %s',
      async scenario => {
        const zone = await createZone()
        let before: StateRrset[] = []
        for (const state of zoneScenarios(supports)[scenario]!) {
          await move(zone, before, state)
          await zone.expectAt(state.rrsets)
          before = state.rrsets
        }
      },
      timeoutMs,
    )

    /** Includes the apex NS records if they count. */
    const ten = (count: number): StateRrset[] =>
      Array.from({ length: count - (under.caps.apexNs === 'hidden' ? 0 : 1) }, (_, n) => [`h${n}`, 'A', 300, `192.0.2.${n}`])

    test(
      'lose three of ten rrsets without confirmation, and four with a note in the audit log',
      async () => {
        const zone = await createZone()
        const all = ten(10)
        await move(zone, [], { title: 'ten', rrsets: all })
        await move(zone, all, { title: 'seven', rrsets: all.slice(3) })
        await zone.expectAt(all.slice(3))
        await move(zone, all.slice(3), { title: 'ten again', rrsets: all })

        const before = await zone.atServer()
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
        expect(await zone.atServer()).toEqual(before)
        expect(await zone.apply(plan, { allow: ['deletes_over_limit'], note: 'They moved.' })).toMatchObject({
          status: 'success',
        })
        await zone.expectAt(all.slice(4))
        const [entry] = (await w.acme.call('GET', '/v1/audit-events?action=dns.plan.apply&limit=1')).body.data
        expect(entry).toMatchObject({ reason: 'They moved.', changes: { after: { allowed: ['deletes_over_limit'] } } })
      },
      timeoutMs,
    )

    test(
      'are restored exactly when a change is reverted',
      async () => {
        const zone = await createZone()
        const rrsets: StateRrset[] = [
          ['a', 'A', 300, '192.0.2.1', '192.0.2.2'],
          ['b', 'CNAME', 300, 'one.example.net.'],
          ['t', 'TXT', 900, '"one" "two"', '"\\255\\001"'],
          ['@', 'MX', 300, '10 mail.example.net.'],
        ]
        await move(zone, [], { title: 'before', rrsets })
        const before = await zone.atServer()
        const edited: StateRrset[] = [
          ['a', 'A', 60, '192.0.2.9'],
          ['b', 'TXT', 300, 'gone'],
          ['t', 'TXT', 900, 'three'],
          ['@', 'MX', 300, '10 mail.example.net.', '20 mail.example.org.'],
          ['n', 'AAAA', 300, '2001:db8::1'],
        ]
        await move(zone, rrsets, { title: 'after', rrsets: edited })
        await zone.expectAt(edited)
        const [changeset] = (await w.acme.call('GET', `${zone.path}/history?limit=1`)).body.data
        const reverted = await w.acme.call('POST', `${zone.path}/revert`, { changeset_id: changeset.id, apply: true })
        await w.settle()
        const plan = reverted.body
        if (plan.status !== 'applied') {
          const action = await zone.apply(plan, { allow: codes(plan.blocked), note: 'Back.' })
          expect(action).toMatchObject({ status: 'success' })
        }
        expect(await zone.atServer()).toEqual(before)
        await zone.expectAt(rrsets)
      },
      timeoutMs,
    )
  })
}
