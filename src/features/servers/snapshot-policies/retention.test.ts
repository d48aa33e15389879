import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { retained } from './retention'

const hour = 3_600_000
const taken = fc
  .uniqueArray(fc.integer({ min: 0, max: 24 * 400 }), { maxLength: 60 })
  .map(hours => hours.map(at => ({ id: `snap_${String(at).padStart(5, '0')}`, at: at * hour })))
const number = fc.integer({ min: 0, max: 12 })
const keep = fc.record({ last: number, hourly: number, daily: number, weekly: number, monthly: number })

test('the newest is always kept, and what is pruned once stays pruned', () => {
  fc.assert(
    fc.property(taken, keep, (all, rules) => {
      const kept = retained(all, rules)
      const newest = all.toSorted((a, b) => b.at - a.at)[0]
      if (newest) expect(kept.has(newest.id)).toBe(true)
      const rest = all.filter(one => kept.has(one.id))
      expect(retained(rest, rules)).toEqual(kept)
      expect(kept.size).toBeLessThanOrEqual(Math.max(1, rules.last) + rules.hourly + rules.daily + rules.weekly + rules.monthly)
    }),
  )
})

test('more generous rules keep at least as much, in any order of the list', () => {
  fc.assert(
    fc.property(taken, keep, fc.constantFrom('last', 'hourly', 'daily', 'weekly', 'monthly'), (all, rules, rule) => {
      const more = retained(all.toReversed(), { ...rules, [rule]: rules[rule] + 1 })
      for (const id of retained(all, rules)) expect(more.has(id)).toBe(true)
    }),
  )
})

test('keeps the newest of each period that has one', () => {
  const at = (text: string) => ({ id: text, at: Date.parse(text) })
  const all = ['2026-11-20T03:00Z', '2026-11-22T03:00Z', '2026-11-22T15:00Z', '2026-11-23T03:00Z', '2026-11-27T03:00Z'].map(at)
  const rules = { last: 0, hourly: 0, daily: 0, weekly: 0, monthly: 0 }
  expect([...retained(all, rules)]).toEqual(['2026-11-27T03:00Z'])
  expect([...retained(all, { ...rules, daily: 3 })]).toEqual(['2026-11-27T03:00Z', '2026-11-23T03:00Z', '2026-11-22T15:00Z'])
  expect([...retained(all, { ...rules, weekly: 2 })]).toEqual(['2026-11-27T03:00Z', '2026-11-22T15:00Z'])
  expect([...retained(all, { ...rules, monthly: 2 })]).toEqual(['2026-11-27T03:00Z'])
})
