import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { labelMarks, Labels, markOf, matchesSelector, parseSelector, Selector } from './labels'

const messageOf = (text: string): string => {
  try {
    parseSelector(text)
  } catch (error) {
    return (error as Error).message
  }
  throw new Error(`${JSON.stringify(text)} was accepted`)
}

test('a selector has terms of four forms', () => {
  expect(parseSelector('role=web, env!=test,backup ,!canary')).toEqual([
    { key: 'role', value: 'web', isNegated: false },
    { key: 'env', value: 'test', isNegated: true },
    { key: 'backup', value: null, isNegated: false },
    { key: 'canary', value: null, isNegated: true },
  ])
  const labels = { role: 'web', backup: 'nightly' }
  const matching = ['role=web', 'role', '!env', 'env!=test', 'role!=db', 'role=web,backup,!env']
  const others = ['role=db', 'role!=web', '!role', 'env', 'env=test', 'role=web,!backup', 'ROLE', 'constructor', '__proto__']
  expect(matching.filter(text => !matchesSelector(parseSelector(text), labels))).toEqual([])
  expect(others.filter(text => matchesSelector(parseSelector(text), labels))).toEqual([])
})

test('an invalid selector is rejected with its term and the rule', () => {
  const rule = '1 to 63 characters: A-Z, a-z, 0-9, and . _ -.'
  const form = 'a term must be key=value, key!=value, key, or !key.'
  expect(messageOf('')).toBe('must not have an empty term. Separate terms with single commas.')
  expect(messageOf('a,,b')).toContain('empty term')
  expect(messageOf('a,')).toContain('empty term')
  expect(messageOf('a, b c=d')).toBe(`has the invalid term "b c=d": the key must have ${rule}`)
  expect(messageOf('a=b c')).toBe(`has the invalid term "a=b c": the value must have ${rule}`)
  expect(messageOf('a=')).toBe(`has the invalid term "a=": the value must have ${rule}`)
  expect(messageOf('=a')).toBe(`has the invalid term "=a": the key must have ${rule}`)
  expect(messageOf('!')).toBe(`has the invalid term "!": the key must have ${rule}`)
  expect(messageOf(`${'k'.repeat(64)}`)).toContain(`the key must have ${rule}`)
  expect(messageOf('rôle=web')).toContain(`the key must have ${rule}`)
  for (const term of ['!a=b', '!!a', 'a!b', '!a!=b']) expect(messageOf(term)).toBe(`has the invalid term "${term}": ${form}`)
  expect(messageOf('a==b')).toContain('the value must have')
  expect(messageOf('role in (web; db)')).toContain(`"role in (web; db)": the key must have ${rule}`)
  expect(messageOf(Array.from({ length: 21 }, (_, n) => `k${n}`).join())).toBe('must have at most 20 terms; it has 21.')
  expect(messageOf(`a=${'b'.repeat(2_000)}`)).toBe('must have at most 2,000 characters.')
  expect(parseSelector(Array.from({ length: 20 }, (_, n) => `k${n}`).join())).toHaveLength(20)
  expect(Value.Check(Selector('servers'), '')).toBeFalse()
})

test('labels have keys and values that all clouds accept', () => {
  const accepted = [
    {},
    { role: 'web' },
    { 'A.b_c-9': '0' },
    { bailiwick2: 'Bailiwick' },
    { k: 'v'.repeat(63) },
    { ['k'.repeat(63)]: '1' },
  ]
  const refused = [
    { role: '' },
    { '': 'a' },
    { 'a b': 'c' },
    { a: 'b=c' },
    { 'a/b': 'c' },
    ...['-x', 'x_', '.a', '__proto__', 'bailiwick'].map(key => Object.fromEntries([[key, 'a']])),
    ...['-x', 'x_', '.a', '-'].map(value => ({ a: value })),
    { a: 1 },
    { k: 'v'.repeat(64) },
    ['a'],
    null,
  ]
  expect(accepted.filter(one => !Value.Check(Labels, one))).toEqual([])
  expect(refused.filter(one => Value.Check(Labels, one))).toEqual([])
  const many = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']))
  expect(Value.Check(Labels, many(32))).toBeTrue()
  expect(Value.Check(Labels, many(33))).toBeFalse()
})

test('selectors match what a naive reading of their terms matches', () => {
  const part = fc.constantFrom<string[]>('a', 'b', 'c', '__proto__', 'toString')
  const labels = fc.uniqueArray(fc.tuple(part, part), { selector: ([key]) => key, maxLength: 4 })
  const term = fc.oneof(
    fc.record({ form: fc.constantFrom('=', '!='), key: part, value: part }),
    fc.record({ form: fc.constantFrom('', '!'), key: part, value: fc.constant('') }),
  )
  fc.assert(
    fc.property(labels, fc.array(term, { minLength: 1, maxLength: 5 }), (pairs, terms) => {
      const holds = ({ form, key, value }: (typeof terms)[number]) => {
        const values = pairs.filter(one => one[0] === key).map(one => one[1])
        if (form === '') return values.length > 0
        if (form === '!') return values.length === 0
        return form === '=' ? values.includes(value) : !values.includes(value)
      }
      const text = terms.map(({ form, key, value }) => (form === '!' ? `!${key}` : `${key}${form}${value}`)).join()
      const selector = parseSelector(text)
      const of = Object.fromEntries(pairs)
      expect(matchesSelector(selector, of)).toBe(terms.every(holds))
      // Lists look terms up by marks.
      const marks = labelMarks(of)
      expect(selector.every(one => marks.includes(markOf(one)) !== one.isNegated)).toBe(terms.every(holds))
    }),
  )
})
