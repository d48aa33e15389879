import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cpuTime } from '../../test/support/cpu-time'
import { compileGlob, compileRegex, InvalidRegex } from './regex'

describe('a regular expression', () => {
  test.each([
    ['ok', ['ok', 'all ok.'], ['OK', 'o k', '']],
    ['^ok$', ['ok'], ['ok\n', ' ok']],
    ['(?i)wel(?:come|l)', ['WELCOME', 'Well'], ['wel']],
    ['(?m)^status: (up|fine)$', ['a\nstatus: up\nb', 'status: fine'], ['status: upper']],
    ['(?s)a.b', ['a\nb'], ['ab']],
    ['a.b', ['a🜁b'], ['a\nb', 'ab']],
    ['(a|b)*d{2,3}$', ['abadd', 'ddddd'], ['abd']],
    ['\\bup\\b', ['is up.', 'up'], ['upper', 'setup']],
    ['(?<word>\\w+)@\\x65x', ['me@ex'], ['@ex']],
    ['[^\\s\\d]{3}', ['1 abc'], ['1 a b']],
    ['\\x{1F600}|\\x41', ['😀', 'A'], ['B']],
    ['', ['', 'x'], []],
    ['(?i)[à-ü]', ['É'], ['e']],
  ])('%s matches in %j but not in %j', (source, fits, others) => {
    const regex = compileRegex(source)
    expect(fits.filter(text => !regex.test(text))).toEqual([])
    expect(others.filter(text => regex.test(text))).toEqual([])
  })

  test.each([
    ['a*b', ['b', 'ab', 'aaab'], ['a', 'ba']],
    ['[a-z0-9-]{2,4}', ['ab', 'a-1z'], ['a', 'abcde', 'AB']],
    ['yes|no', ['yes', 'no'], ['maybe', 'yesno']],
    ['a.c', ['abc', 'a🜁c'], ['ac']],
    ['[\\]\\-a]', [']', '-', 'a'], ['b']],
    ['a{0}b', ['b'], ['ab']],
    ['^abc$', ['abc'], ['ab', 'abcd', 'xabc']],
  ])('%s matches all of %j but not of %j', (source, fits, others) => {
    const regex = compileRegex(source)
    expect(fits.filter(text => !regex.testExact(text))).toEqual([])
    expect(others.filter(text => regex.testExact(text))).toEqual([])
  })

  test.each(['(', ')', '(a', 'a)', '[a', '\\', '*', 'a**', 'a{3,2}', '[z-a]', '(?=a)', '(?<!a)b', '(a)\\1', '[]', '+'])(
    '%s is rejected',
    source => {
      expect(() => compileRegex(source)).toThrow(InvalidRegex)
    },
  )

  test('is rejected if it is too long, too deep or compiles to too many steps', () => {
    for (const source of ['x'.repeat(501), '(a{1000}){1000}', '((((a{9}){9}){9}){9}){9}', 'a{999}b{999}c{999}'])
      expect(() => compileRegex(source)).toThrow(InvalidRegex)
  })

  test('finds the same as native regular expressions', () => {
    const atom = fc.constantFrom('a', 'b', '.', '\\d', '\\W', '[ab]', '[^a]', '[0-9a-c]', '\\.', '^', '$', '\\b', '\\s', '\\n')
    const isPlace = (part: string) => ['^', '$', '\\b'].includes(part)
    const times = fc.constantFrom('', '', '', '?', '*', '+', '{2}', '{1,3}', '{2,}', '*?')
    const part = fc.tuple(atom, times).map(([one, count]) => (isPlace(one) ? one : one + count))
    const { source } = fc.letrec<{ source: string; group: string }>(tie => ({
      group: fc.tuple(tie('source'), times).map(([inner, count]) => `(${inner})${count}`),
      source: fc
        .array(fc.array(fc.oneof({ depthSize: 'small', maxDepth: 2 }, part, tie('group')), { maxLength: 4 }), {
          minLength: 1,
          maxLength: 3,
        })
        .map(all => all.map(one => one.join('')).join('|')),
    }))
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '1', '.', '-', '\n'), { maxLength: 8 }).map(parts => parts.join(''))
    let read = 0
    fc.assert(
      // Native regular expressions fail on long sources with many nested groups.
      fc.property(
        source.filter(one => one.length <= 80),
        text,
        fc.constantFrom('', 'm', 's', 'i'),
        (pattern, value, flag) => {
          let ours
          try {
            ours = compileRegex(flag === '' ? pattern : `(?${flag})${pattern}`)
          } catch {
            return
          }
          read++
          expect(ours.test(value)).toBe(new RegExp(pattern, `u${flag}`).test(value))
        },
      ),
      { numRuns: 3000 },
    )
    expect(read).toBeGreaterThan(500)
  })

  test('matches the same as native regular expressions', () => {
    const atom = fc.constantFrom('a', 'b', '.', '\\d', '\\w', '[ab]', '[^a]', '[0-9a-c]', '\\.')
    const times = fc.constantFrom('', '', '?', '*', '+', '{2}', '{1,3}', '{2,}')
    const sequence = fc.array(fc.tuple(atom, times), { minLength: 1, maxLength: 5 }).map(parts => parts.flat().join(''))
    const source = fc.array(sequence, { minLength: 1, maxLength: 3 }).map(parts => parts.join('|'))
    const text = fc.array(fc.constantFrom('a', 'b', 'c', '1', '.', '-'), { maxLength: 8 }).map(parts => parts.join(''))
    fc.assert(
      fc.property(source, text, (pattern, value) => {
        expect(compileRegex(pattern).testExact(value)).toBe(new RegExp(`^(?:${pattern})$`).test(value))
      }),
      { numRuns: 1000 },
    )
  })

  test('with catastrophic backtracking elsewhere is fast', () => {
    const before = cpuTime()
    for (const source of ['(a*)*b', '(a|aa)+$', '(.*a){20}b', 'a*a*a*a*a*c', '(\\w+\\s?)*!', `${'[a-z]*'.repeat(30)}!`]) {
      const regex = compileRegex(source)
      regex.test('a'.repeat(200_000))
      regex.testExact('a'.repeat(200_000))
    }
    expect(cpuTime() - before).toBeLessThan(10_000)
  })

  test('can be stopped in the middle of a long match, and used again', () => {
    const regex = compileRegex('a[ab]{900}[A-Z]')
    const text = Array.from({ length: 20_000 }, (_, at) => 'ab'[(Math.imul(at, 2_654_435_761) >>> 13) & 1]).join('')
    let calls = 0
    const stopped = () => {
      if (++calls === 10) throw new Error('enough')
    }
    expect(() => regex.test(text, stopped)).toThrow('enough')
    expect(() => regex.testExact(text, stopped)).not.toThrow()
    expect(regex.test(`${text}a${'b'.repeat(900)}C`, () => {})).toBe(true)
    expect(regex.test(`${text}a${'b'.repeat(900)}c`, () => {})).toBe(false)
  })

  test('is either compiled or rejected', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 60 }), fc.string({ maxLength: 20 }), (source, text) => {
        try {
          expect(compileRegex(source).test(text)).toBeBoolean()
        } catch (error) {
          expect(error).toBeInstanceOf(InvalidRegex)
        }
      }),
      { numRuns: 500 },
    )
  })
})

describe('a glob', () => {
  test.each([
    ['192.168.*.*', ['192.168.1.2'], ['192.169.1.2', '192.168.1']],
    ['*<h1>*', ['a\n<h1>b', '<h1>'], ['<h2>']],
    ['?ohn', ['john'], ['ohn', 'jjohn']],
    ['[a-c]x[^0-9]', ['axy'], ['dxy', 'ax1']],
    ['\\*(1+1)?', ['*(1+1)2'], ['x(1+1)2']],
    ['', [''], ['a']],
  ])('%s is %j and not %j', (source, fits, others) => {
    const glob = compileGlob(source)
    expect(fits.filter(text => !glob.test(text))).toEqual([])
    expect(others.filter(text => glob.test(text))).toEqual([])
  })
})
