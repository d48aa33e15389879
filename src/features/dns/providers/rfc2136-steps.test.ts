import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { encodeMessage, MESSAGE_MAX } from '../../../core/dns/message-encode'
import { rdataOfContent } from '../../../core/dns/rdata'
import { updateMessage } from '../../../core/dns/update'
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
/** As text, without rdata. */
const told = (ops: Op[]) => {
  const { prerequisites, steps } = updateOf('z.test', ops)
  const text = (one: { kind: string; name: string; type?: string; ttl?: number }) =>
    [one.kind, one.name, one.type, one.ttl].filter(part => part !== undefined).join(' ')
  return { when: prerequisites.map(text), asked: steps.map(text) }
}

describe('the update of steps', () => {
  test('a new rrset must not be there, nor a CNAME, which would swallow it', () => {
    expect(told([op(null, rrset('www', 'A', 60, '192.0.2.1', '192.0.2.2'))])).toEqual({
      when: ['rrset_absent www.z.test. A', 'rrset_absent www.z.test. CNAME'],
      asked: ['add www.z.test. A 60', 'add www.z.test. A 60'],
    })
  })

  test('a new CNAME must have its name to itself', () => {
    expect(told([op(null, rrset('www', 'CNAME', 60, 'a'))]).when).toEqual([
      'rrset_absent www.z.test. CNAME',
      'name_not_in_use www.z.test.',
    ])
  })

  test('an rrset is replaced when it is exactly as it was', () => {
    expect(told([op(rrset('@', 'MX', 60, '10 a', '20 b'), rrset('@', 'MX', 90, '10 a'))])).toEqual({
      when: ['rrset_is z.test. MX', 'rrset_is z.test. MX'],
      asked: ['delete_rrset z.test. MX', 'add z.test. MX 90'],
    })
  })

  test('what goes is gone before anything comes', () => {
    const ops = [op(null, rrset('www', 'CNAME', 60, 'a')), op(rrset('www', 'A', 60, '192.0.2.1'), null)]
    expect(told(ops)).toEqual({
      when: ['rrset_absent www.z.test. CNAME', 'rrset_is www.z.test. A'],
      asked: ['delete_rrset www.z.test. A', 'add www.z.test. CNAME 60'],
    })
  })

  test('at the apex an NS comes before another goes, in whatever case it is written', () => {
    expect(told([op(rrset('@', 'NS', 60, 'NS1', 'ns2'), rrset('@', 'NS', 60, 'ns1', 'ns3'))]).asked).toEqual([
      'add z.test. NS 60',
      'add z.test. NS 60',
      'delete_record z.test. NS',
    ])
  })
})

describe('messages', () => {
  const many = (count: number, length: number) =>
    Array.from({ length: count }, (_, n) => op(null, rrset(`n${n}`, 'TXT', 60, 'x'.repeat(length))))

  test('all steps are in one that fit', () => {
    expect(batchesOf(many(500, 50), MESSAGE_MAX).batches.map(one => one.length)).toEqual([500])
  })

  test('no message is longer than messages are, and no step is lost', () => {
    const label = fc.stringMatching(/^[a-z]{1,20}$/)
    const value = fc.nat(900).map(length => 'x'.repeat(length))
    const some = fc.tuple(label, fc.array(value, { maxLength: 4 }), fc.array(value, { maxLength: 4 }))
    fc.assert(
      fc.property(fc.uniqueArray(some, { selector: ([name]) => name, maxLength: 150 }), given => {
        const ops = given.flatMap(([name, before, after]) => {
          const set = (values: string[]) => (values.length > 0 ? rrset(name, 'TXT', 60, ...values) : null)
          return before.length + after.length > 0 ? [op(set(before), set(after))] : []
        })
        const room = 8000
        const { batches, tooLong } = batchesOf(ops, room)
        expect(tooLong).toEqual([])
        expect(batches.flat()).toEqual(ops)
        for (const batch of batches) {
          const { prerequisites, steps } = updateOf('z.test', batch)
          // Header and question are not of the room.
          expect(encodeMessage(updateMessage(1, 'z.test.', prerequisites, steps)).length).toBeLessThanOrEqual(room + 12 + 12)
        }
      }),
      { numRuns: 60 },
    )
  })

  test('a CNAME that becomes something else is not torn apart', () => {
    const swap = [op(rrset('n0', 'CNAME', 60, 'a'), null), ...many(300, 240)]
    const { batches } = batchesOf(swap, 20_000)
    expect(batches.length).toBeGreaterThan(2)
    expect(batches[0]!.slice(0, 2).map(one => `${one.name} ${one.type}`)).toEqual(['n0 CNAME', 'n0 TXT'])
  })

  test('a step that fits none is told', () => {
    const long = op(null, rrset('long', 'TXT', 60, ...Array.from({ length: 250 }, (_, n) => `${n}`.padEnd(240, 'x'))))
    const { batches, tooLong } = batchesOf([op(null, rrset('a', 'A', 60, '192.0.2.1')), long], 20_000)
    expect(tooLong).toEqual([long])
    expect(batches.flat()).toHaveLength(1)
  })
})
