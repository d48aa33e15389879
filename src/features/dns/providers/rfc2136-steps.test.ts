import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodeMessage, MESSAGE_MAX } from '../../../dns/message-encode'
import { rdataOfContent } from '../../../dns/rdata'
import { updateMessage } from '../../../dns/update'
import type { Op, ProviderRrset } from './provider'
import { batchesOf, updateOf } from './rfc2136-steps'

const rrset = (name: string, type: string, ttl: number, ...contents: string[]): ProviderRrset => ({
  name,
  type,
  ttl,
  values: contents.map(one => rdataOfContent(type, one, 'z.test.')),
})
const op = (before: ProviderRrset | null, after: ProviderRrset | null): Op => {
  const { name, type } = (after ?? before)!
  return { action: before ? (after ? 'update' : 'delete') : 'create', name, type, before, after }
}
/** Formats it without rdata. */
const describeSteps = (ops: Op[]) => {
  const { prerequisites, steps } = updateOf('z.test', ops)
  const text = (one: { kind: string; name: string; type?: string; ttl?: number }) =>
    [one.kind, one.name, one.type, one.ttl].filter(part => part !== undefined).join(' ')
  return { when: prerequisites.map(text), steps: steps.map(text) }
}

describe('an update message', () => {
  test('requires that a new rrset does not exist, nor a CNAME at its name', () => {
    expect(describeSteps([op(null, rrset('www', 'A', 60, '192.0.2.1', '192.0.2.2'))])).toEqual({
      when: ['rrset_absent www.z.test. A', 'rrset_absent www.z.test. CNAME'],
      steps: ['add www.z.test. A 60', 'add www.z.test. A 60'],
    })
  })

  test('requires that the name of a new CNAME is unused', () => {
    expect(describeSteps([op(null, rrset('www', 'CNAME', 60, 'a'))]).when).toEqual([
      'rrset_absent www.z.test. CNAME',
      'name_not_in_use www.z.test.',
    ])
  })

  test('replaces an rrset only if it is unchanged', () => {
    expect(describeSteps([op(rrset('@', 'MX', 60, '10 a', '20 b'), rrset('@', 'MX', 90, '10 a'))])).toEqual({
      when: ['rrset_is z.test. MX', 'rrset_is z.test. MX'],
      steps: ['delete_rrset z.test. MX', 'add z.test. MX 90'],
    })
  })

  test('has deletions before additions', () => {
    const ops = [op(null, rrset('www', 'CNAME', 60, 'a')), op(rrset('www', 'A', 60, '192.0.2.1'), null)]
    expect(describeSteps(ops)).toEqual({
      when: ['rrset_absent www.z.test. CNAME', 'rrset_is www.z.test. A'],
      steps: ['delete_rrset www.z.test. A', 'add www.z.test. CNAME 60'],
    })
  })

  test('adds an apex NS before deleting another, regardless of case', () => {
    expect(describeSteps([op(rrset('@', 'NS', 60, 'NS1', 'ns2'), rrset('@', 'NS', 60, 'ns1', 'ns3'))]).steps).toEqual([
      'add z.test. NS 60',
      'add z.test. NS 60',
      'delete_record z.test. NS',
    ])
  })
})

describe('batches', () => {
  const many = (count: number, length: number) =>
    Array.from({ length: count }, (_, n) => op(null, rrset(`n${n}`, 'TXT', 60, 'x'.repeat(length))))

  test('contain all steps that fit', () => {
    expect(batchesOf(many(500, 50), MESSAGE_MAX).batches.map(one => one.length)).toEqual([500])
  })

  test('are never too long, and no step is lost', () => {
    const label = fc.stringMatching(/^[a-z]{1,20}$/)
    const value = fc.nat(900).map(length => 'x'.repeat(length))
    const some = fc.tuple(label, fc.array(value, { maxLength: 4 }), fc.array(value, { maxLength: 4 }))
    fc.assert(
      fc.property(fc.uniqueArray(some, { selector: ([name]) => name, maxLength: 150 }), input => {
        const ops = input.flatMap(([name, before, after]) => {
          const set = (values: string[]) => (values.length > 0 ? rrset(name, 'TXT', 60, ...values) : null)
          return before.length + after.length > 0 ? [op(set(before), set(after))] : []
        })
        const room = 8000
        const { batches, tooLong } = batchesOf(ops, room)
        expect(tooLong).toEqual([])
        expect(batches.flat()).toEqual(ops)
        for (const batch of batches) {
          const { prerequisites, steps } = updateOf('z.test', batch)
          // Header and question don't count.
          expect(encodeMessage(updateMessage(1, 'z.test.', prerequisites, steps)).length).toBeLessThanOrEqual(room + 12 + 12)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('do not split the replacement of a CNAME', () => {
    const swap = [op(rrset('n0', 'CNAME', 60, 'a'), null), ...many(300, 240)]
    const { batches } = batchesOf(swap, 20_000)
    expect(batches.length).toBeGreaterThan(2)
    expect(batches[0]!.slice(0, 2).map(one => `${one.name} ${one.type}`)).toEqual(['n0 CNAME', 'n0 TXT'])
  })

  test('report a step that is too large', () => {
    const long = op(null, rrset('long', 'TXT', 60, ...Array.from({ length: 250 }, (_, n) => `${n}`.padEnd(240, 'x'))))
    const { batches, tooLong } = batchesOf([op(null, rrset('a', 'A', 60, '192.0.2.1')), long], 20_000)
    expect(tooLong).toEqual([long])
    expect(batches.flat()).toHaveLength(1)
  })
})
