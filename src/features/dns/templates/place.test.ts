import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { valueOf } from '../records/values'
import type { WantedRrset } from '../changes/rrset-rules'
import { rrsetKey } from '../zones/names'
import { type RecordRow, type Rrset, type RrsetRow } from '../records/rows'
import { differenceOf } from './differences'
import { place, type Placement, type Shared } from './place'
import type { TemplateRecord } from './content'
import { render } from './render'

/** A zone: `name type` to TTL and values. */
type Zone = Map<string, { ttl: number; values: string[] }>

const origin = 'example.com.'
let recordCount = 0

const rrsetsOf = (zone: Zone): Map<string, Rrset> =>
  new Map(
    [...zone].map(([key, { ttl, values }]) => {
      const [name = '', type = ''] = key.split(' ')
      const records = values.map(content => {
        const { hash, ...value } = valueOf(type, { content }, origin)
        return { id: `rec_${recordCount++}`, name, type, ...value, rdataHash: hash } as unknown as RecordRow
      })
      return [key, { row: { name, type, ttl } as RrsetRow, records }]
    }),
  )

function after(zone: Zone, wanted: readonly WantedRrset[]): Zone {
  const next = new Map(zone)
  for (const one of wanted)
    if (one.values.length === 0) next.delete(rrsetKey(one))
    else next.set(rrsetKey(one), { ttl: one.ttl, values: one.values.map(value => value.content).sort() })
  return next
}

function apply(
  zone: Zone,
  records: TemplateRecord[],
  before: Placement['placed'] = [],
  shared = new Map<string, Shared>(),
): Placement {
  const { records: rendered, problems } = render({ variables: [], records }, { zone: 'example.com', host: '@' }, {})
  expect(problems).toEqual([])
  return place({ rendered, existing: rrsetsOf(zone), before, shared, defaultTtl: 3600 })
}

const sorted = (zone: Zone) => [...zone].map(([key, { ttl, values }]) => `${key} ${ttl} ${values.toSorted().join()}`).sort()

const contentOf: Record<string, fc.Arbitrary<string>> = {
  A: fc.constantFrom('192.0.2.1', '192.0.2.2', '192.0.2.3'),
  TXT: fc.constantFrom('"one"', '"two"', '"v=spf1 mx -all"', '"v=spf1 include:a.example mx ~all"', '"v=DMARC1; p=none"'),
  MX: fc.constantFrom('10 a.example.', '20 b.example.'),
}
const name = fc.constantFrom('@', 'a', 'b')
const type = fc.constantFrom('A', 'TXT', 'MX')

const anyZone: fc.Arbitrary<Zone> = fc
  .uniqueArray(
    fc
      .tuple(name, type)
      .chain(([n, t]) => fc.tuple(fc.constant(`${n} ${t}`), fc.uniqueArray(contentOf[t]!, { minLength: 1, maxLength: 3 }))),
    { selector: ([key]) => key, maxLength: 5 },
  )
  .map(list => new Map(list.map(([key, values]) => [key, { ttl: 60, values: values.toSorted() }])))

const isMergeable = (content: string) => !content.startsWith('"v=DMARC1')
const anyRecords = fc
  .uniqueArray(
    fc
      .tuple(name, type)
      .chain(([n, t]) =>
        fc.tuple(
          fc.constant(n),
          fc.constant(t),
          fc.constantFrom('fail', 'skip', 'replace', 'merge'),
          contentOf[t]!,
          fc.option(fc.constantFrom(60, 300)),
        ),
      ),
    { selector: ([n, t]) => `${n} ${t}`, minLength: 1, maxLength: 5 },
  )
  .map(list =>
    list.map(([n, t, mode, content, ttl]): TemplateRecord => ({
      type: t,
      name: n,
      content,
      on_conflict: mode === 'merge' && !isMergeable(content) ? 'fail' : (mode as 'fail'),
      ...(ttl !== null && { ttl }),
    })),
  )

const isApplicable = (placing: Placement) => placing.outcomes.every(one => one.outcome !== 'conflict')

describe('a template applied to a zone', () => {
  test('changes nothing when applied again, and isn’t modified', () => {
    fc.assert(
      fc.property(anyZone, anyRecords, (zone, records) => {
        const first = apply(zone, records)
        fc.pre(isApplicable(first))
        const then = after(zone, first.wanted)
        const again = apply(then, records, first.placed)
        expect(sorted(after(then, again.wanted))).toEqual(sorted(then))
        const existing = rrsetsOf(then)
        expect(again.placed.flatMap(one => differenceOf(one, existing.get(rrsetKey(one))) ?? [])).toEqual([])
      }),
      { numRuns: 500 },
    )
  })

  test('restores the zone when removed, except for replaced records', () => {
    fc.assert(
      fc.property(anyZone, anyRecords, (zone, records) => {
        const placing = apply(zone, records)
        fc.pre(isApplicable(placing) && placing.outcomes.every(one => one.outcome !== 'replace'))
        const then = after(zone, placing.wanted)
        const values = (of: Zone) =>
          [...of]
            .map(([key, one]) => [
              key,
              one.values
                .map(value => value.toLowerCase())
                .toSorted()
                .join(),
            ])
            .sort()
        expect(values(after(then, apply(then, [], placing.placed).wanted))).toEqual(values(zone))
      }),
      { numRuns: 500 },
    )
  })

  test('is restored after any manual edit, unless there are conflicts', () => {
    fc.assert(
      fc.property(anyZone, anyRecords, anyZone, (zone, records, edited) => {
        const first = apply(zone, records)
        fc.pre(isApplicable(first))
        const again = apply(edited, records, first.placed)
        fc.pre(isApplicable(again))
        const existing = rrsetsOf(after(edited, again.wanted))
        expect(again.placed.flatMap(one => differenceOf(one, existing.get(rrsetKey(one))) ?? [])).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})

const a: TemplateRecord = { type: 'A', name: 'a', content: '192.0.2.1' }

describe('other records', () => {
  test('stay when a value is removed from the template', () => {
    const zone: Zone = new Map([['a A', { ttl: 60, values: ['192.0.2.9'] }]])
    const first = apply(zone, [{ ...a, on_conflict: 'merge' }])
    const then = after(zone, first.wanted)
    expect(then.get('a A')).toEqual({ ttl: 60, values: ['192.0.2.1', '192.0.2.9'] })
    const next = apply(then, [{ ...a, content: '192.0.2.2', on_conflict: 'merge' }], first.placed)
    expect(after(then, next.wanted).get('a A')).toEqual({ ttl: 60, values: ['192.0.2.2', '192.0.2.9'] })
  })

  test('stay if another binding uses them', () => {
    const first = apply(new Map(), [a])
    const then = after(new Map(), first.wanted)
    const shared = new Map([['a A', { hashes: new Set([first.placed[0]!.values[0]!.hash]), terms: new Set<string>() }]])
    expect(apply(then, [], first.placed, shared).wanted).toEqual([])
    expect(apply(then, [], first.placed).wanted.map(one => one.values)).toEqual([[]])
  })

  test('conflict if they are multiple SPF records', () => {
    const zone: Zone = new Map([['@ TXT', { ttl: 60, values: ['"v=spf1 -all"', '"v=spf1 mx"'] }]])
    const { outcomes, wanted } = apply(zone, [{ type: 'TXT', name: '@', content: 'v=spf1 a -all', on_conflict: 'merge' }])
    expect([outcomes.map(one => one.outcome), wanted]).toEqual([['conflict'], []])
  })

  test('of the template are replaced when it changes the type', () => {
    const first = apply(new Map(), [a])
    const then = after(new Map(), first.wanted)
    const next = apply(then, [{ type: 'CNAME', name: 'a', content: 'b.example.' }], first.placed)
    expect(next.outcomes.map(one => one.outcome)).toEqual(['create'])
    expect(sorted(after(then, next.wanted))).toEqual(['a CNAME 3600 b.example.'])
  })
})
