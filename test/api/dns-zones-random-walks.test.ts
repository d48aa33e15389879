import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { readDueTargets } from '../../src/features/dns/sync/sync-zone'
import { hubAt } from '../support/hub-zone'
import { powerDnsDouble, type Trouble } from '../support/power-dns-double'
import { powerDnsDoubleUnderTest } from '../support/power-dns-double-under-test'
import { tries } from '../support/random'
import { world } from '../support/world'
import type { StateRrset } from '../support/zone-states'

const double = powerDnsDouble()
afterAll(() => double.stop())

const names = ['a', 'b', 'c', 'd']
const values = [null, ...Array.from({ length: 6 }, (_, n) => `192.0.2.${n + 1}`)]
// Enough unchanged records that the changing ones stay below the guard limits.
const unchanged = Array.from({ length: 20 }, (_, n): StateRrset => [`unchanged-${n}`, 'A', 300, `198.51.100.${n}`])

type Step =
  | { who: 'hub'; name: string; value: string | null }
  | { who: 'others'; name: string; value: string | null }
  | { who: 'server'; trouble: Trouble | null; on: string }
  | { who: 'time' }
  | { who: 'refresh' }

const edit = fc.record({
  who: fc.constantFrom('hub' as const, 'hub' as const, 'others' as const),
  name: fc.constantFrom(...names),
  value: fc.constantFrom(...values),
})
const trouble = fc.record({
  who: fc.constant('server' as const),
  trouble: fc.constantFrom<(Trouble | null)[]>(
    null,
    { status: 500 },
    { status: 429, headers: { 'retry-after': '30' } },
    { status: 422, body: '{"error": "no such luck"}' },
    'cut connection',
    'cut connection after doing it',
    { rrsets: 5 },
    { rrsets: 1 },
  ),
  on: fc.constantFrom('GET /zones/', 'PATCH', ''),
})
const wait = fc.record({ who: fc.constantFrom('time' as const, 'refresh' as const) })
const steps = fc.array(
  fc.oneof({ weight: 5, arbitrary: edit }, { weight: 2, arbitrary: trouble }, { weight: 2, arbitrary: wait }),
  {
    minLength: 1,
    maxLength: 14,
  },
)

const isShort = (one: Trouble | null) => typeof one === 'object' && one !== null && 'rrsets' in one

test('no external change is ever overwritten, and all differences are reported', async () => {
  const w = await world()
  const under = powerDnsDoubleUnderTest(double)
  const createZone = await hubAt(under, w)
  await fc.assert(
    fc.asyncProperty(steps as fc.Arbitrary<Step[]>, async walk => {
      double.trouble = () => null
      const zone = await createZone()
      await zone.put(...unchanged)
      const desired = new Map<string, string | null>(names.map(name => [name, null]))
      /** Names with external changes that the hub can’t know about. */
      const foreign = new Set<string>()
      const touched = new Set<string>()
      /** States that the hub wrote or wanted; any of them may be its last agreed state. */
      const agreed = new Map(names.map(name => [name, new Set<string | null>([null])]))
      const there = (name: string): string | null =>
        double.zones.get(`${zone.name}.`)!.rrsets.get(`${name}.${zone.name}. A`)?.records[0]?.content ?? null
      const watched = async (act: () => Promise<unknown>) => {
        const before = new Map(names.map(name => [name, there(name)]))
        await act()
        for (const name of names) {
          const now = there(name)
          if (now !== before.get(name)) {
            expect([name, 'is not overwritten', foreign.has(name)]).toEqual([name, 'is not overwritten', false])
            agreed.get(name)!.add(now)
          }
          if (now === desired.get(name)) {
            agreed.get(name)!.add(now)
            foreign.delete(name)
          }
        }
      }
      const synced = () =>
        watched(async () => {
          await w.advance(3_600_000)
          await readDueTargets(w.hub)
          await w.settle()
        })
      for (const step of walk) {
        if (step.who === 'server')
          double.trouble = request => (request.startsWith(isShort(step.trouble) ? 'GET /zones/' : step.on) ? step.trouble : null)
        else if (step.who === 'time') await synced()
        else if (step.who === 'refresh') await watched(() => zone.refresh())
        else if (step.who === 'hub') {
          desired.set(step.name, step.value)
          await watched(() => zone.put([step.name, 'A', 300, ...(step.value === null ? [] : [step.value])]))
        } else if (there(step.name) !== step.value) {
          await under.changeExternally(zone.name, step.name, 'A', 300, step.value === null ? null : [step.value])
          touched.add(step.name)
          if (agreed.get(step.name)!.has(step.value) || step.value === desired.get(step.name)) foreign.delete(step.name)
          else foreign.add(step.name)
        }
      }
      double.trouble = () => null
      await watched(() => zone.refresh())
      await synced()
      await synced()
      const differs = names.filter(name => there(name) !== desired.get(name))
      expect((await zone.drift()).map(one => one.name).sort()).toEqual(differs)
      expect([(await zone.shown()).synced, (await zone.shown()).blocked]).toEqual([differs.length === 0, null])
      // Records without external changes are in the desired state.
      expect(differs.filter(name => !touched.has(name))).toEqual([])
    }),
    { numRuns: tries(8) },
  )
}, 180_000)
