import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { patternOf, PatternError } from './pattern'

describe('a pattern', () => {
  test.each([
    ['abc', ['abc'], ['ab', 'abcd', 'xabc', '']],
    ['^abc$', ['abc'], ['ab']],
    ['a*b', ['b', 'ab', 'aaab'], ['a', 'ba']],
    ['a+', ['a', 'aaa'], ['', 'b']],
    ['colou?r', ['color', 'colour'], ['colouur']],
    ['[a-z0-9-]{2,4}', ['ab', 'a-1z'], ['a', 'abcde', 'AB']],
    ['[^/]{2,}', ['ab', 'abcdef'], ['a', 'a/']],
    ['\\d{3}', ['123'], ['12', '1a3']],
    ['\\w+@[A-Za-z0-9.-]+', ['me@example.com'], ['@example.com', 'a b@c']],
    ['yes|no', ['yes', 'no'], ['maybe', 'yesno']],
    ['a.c', ['abc', 'a🜁c'], ['ac']],
    ['\\.\\*\\\\', ['.*\\'], ['a']],
    ['[\\]\\-a]', [']', '-', 'a'], ['b']],
    ['MS=ms\\d+', ['MS=ms123'], ['MS=ms', 'ms=ms1']],
    ['a{0}b', ['b'], ['ab']],
    ['[|]|x', ['|', 'x'], ['']],
  ])('%s takes %j and not %j', (source, fits, others) => {
    const pattern = patternOf(source)
    expect(fits.filter(text => !pattern.fits(text))).toEqual([])
    expect(others.filter(text => pattern.fits(text))).toEqual([])
  })

  test.each([
    '(a)',
    '(?=a)',
    'a{2',
    'a{3,2}',
    'a{2x}',
    '[a',
    '[]',
    '[z-a]',
    '\\',
    '\\1',
    '\\b',
    '*',
    'a**',
    '+',
    'x'.repeat(201),
    'a{999}b{999}',
  ])('%s is refused', source => {
    expect(() => patternOf(source)).toThrow(PatternError)
  })

  test('means what it means as a regular expression', () => {
    const atom = fc.constantFrom('a', 'b', '.', '\\d', '\\w', '[ab]', '[^a]', '[0-9a-c]', '\\.')
    const times = fc.constantFrom('', '', '?', '*', '+', '{2}', '{1,3}', '{2,}')
    const sequence = fc.array(fc.tuple(atom, times), { minLength: 1, maxLength: 5 }).map(parts => parts.flat().join(''))
    const source = fc.array(sequence, { minLength: 1, maxLength: 3 }).map(parts => parts.join('|'))
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '1', '.', '-'), { maxLength: 8 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(source, text, (pattern, value) => {
        expect(patternOf(pattern).fits(value)).toBe(new RegExp(`^(?:${pattern})$`).test(value))
      }),
      { numRuns: 1000 },
    )
  })

  test('that would take for ever as a regular expression takes no time', () => {
    const pattern = patternOf(`${'[a-z]*'.repeat(30)}!`)
    const before = performance.now()
    expect(pattern.fits('a'.repeat(1000))).toBe(false)
    expect(performance.now() - before).toBeLessThan(2000)
  })

  test('holds a character once against a long class, however often that is repeated', () => {
    const pattern = patternOf(`[${'b'.repeat(180)}a]{0,999}`)
    const text = 'a'.repeat(1000)
    const before = performance.now()
    for (let times = 0; times < 5; times++) expect(pattern.fits(text)).toBe(false)
    expect(performance.now() - before).toBeLessThan(1000)
  })

  test('is read or refused, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ maxLength: 20 }), (source, text) => {
        try {
          expect(patternOf(source).fits(text)).toBeBoolean()
        } catch (error) {
          expect(error).toBeInstanceOf(PatternError)
        }
      }),
      { numRuns: 500 },
    )
  })
})
