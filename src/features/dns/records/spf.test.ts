import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isSpf, missingTerms, namesSenders, spfLookups, spfTerms, withoutTerms, withTerms } from './spf'

describe('an SPF record', () => {
  test.each([
    ['v=spf1 mx -all', ['include:a.example'], 'v=spf1 mx include:a.example -all'],
    ['v=spf1 mx', ['include:a.example'], 'v=spf1 mx include:a.example'],
    ['v=spf1', ['mx'], 'v=spf1 mx'],
    ['v=spf1 +MX ~all', ['mx', 'a'], 'v=spf1 +MX a ~all'],
    ['v=spf1 redirect=_spf.example', ['mx'], 'v=spf1 mx redirect=_spf.example'],
    ['v=spf1 mx ?all exp=e.example', ['a:b.example'], 'v=spf1 mx a:b.example ?all exp=e.example'],
  ])('%s with %j added before the all term', (text, terms, expected) => {
    expect(withTerms(text, terms)).toBe(expected)
  })

  test('is distinguished from other texts', () => {
    expect(['v=spf1', 'V=SPF1 -all', 'v=spf10 -all', 'v=spf1;', ' v=spf1'].map(isSpf)).toEqual([true, true, false, false, false])
  })

  test('counts DNS lookups', () => {
    expect(spfLookups('v=spf1 a mx:b ptr include:c exists:d ip4:192.0.2.1 redirect=e all')).toBe(6)
  })

  const term = fc.constantFrom('mx', 'a', 'ip4:192.0.2.0/24', 'include:one.example', 'include:two.example', '+mx', '-all', '~all')
  const record = fc.array(term, { maxLength: 6 }).map(terms => ['v=spf1', ...terms].join(' '))

  test('has all added terms exactly once, and loses none', () => {
    fc.assert(
      fc.property(record, fc.array(term.filter(namesSenders)), (text, terms) => {
        const merged = withTerms(text, terms)
        expect(missingTerms(merged, terms)).toEqual([])
        expect(withTerms(merged, terms)).toBe(merged)
        expect(missingTerms(merged, spfTerms(text))).toEqual([])
        const end = spfTerms(merged).findIndex(one => one.endsWith('all'))
        if (end >= 0) for (const added of missingTerms(text, terms)) expect(spfTerms(merged).indexOf(added)).toBeLessThan(end)
        expect(withoutTerms(merged, missingTerms(text, terms))).toBe(text)
      }),
    )
  })
})
