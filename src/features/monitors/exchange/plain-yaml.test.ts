import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseDocument, stringify } from 'yaml'
import { plainYaml } from './plain-yaml'
import { readDocument } from './read-document'

const plain = (text: string, mostWeight = 1_000_000) => plainYaml(parseDocument(text, { uniqueKeys: false }), mostWeight)
const told = (text: string): string[] => {
  try {
    readDocument(new TextEncoder().encode(text), 'application/yaml')
    return []
  } catch (error) {
    return (error as { extras: { errors: { detail: string }[] } }).extras.errors.map(one => one.detail)
  }
}

test('what JSON can hold is read back from YAML as it was', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), value => {
      const json: unknown = JSON.parse(JSON.stringify(value))
      expect(plain(stringify(json))).toEqual(json)
      expect(plain(JSON.stringify(json))).toEqual(json)
    }),
  )
})

test('an alias stands for what had its name last, as often as it is used', () => {
  expect(plain('[&a 1, *a, &a {b: 2}, *a]')).toEqual([1, 1, { b: 2 }, { b: 2 }])
  const many = Array.from(
    { length: 5_000 },
    (_, n) => `  - {key: k${n}, target: "https://e.test/", tags: ${n ? '*t' : '&t [a]'}}`,
  )
  const { value } = readDocument(new TextEncoder().encode(`monitors:\n${many.join('\n')}\n`), 'application/yaml')
  expect([value.monitors.length, value.monitors.at(-1)!.tags]).toEqual([5_000, ['a']])
})

test('aliases that lead nowhere, into themselves or to too much are told with line and column', () => {
  expect(told('monitors:\n  - name: *x\n')).toEqual(['cannot be read at line 2, column 11: No anchor before it is called x.'])
  expect(told('monitors: &a [*a]')).toEqual(['cannot be read at line 1, column 15: It stands for what it lies in.'])
  const layers = [...'bcdefghij'].map(
    (name, place) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[place]}`).join(', ')}]`,
  )
  expect(told(`a: &a [x, x, x]\n${layers.join('\n')}\n`)).toEqual([expect.stringContaining('the document is too long.')])
  expect(told(`monitors: []\nx: [&a ${'x'.repeat(100_000)}${', *a'.repeat(1_000)}]`)).toEqual([
    expect.stringContaining('the document is too long.'),
  ])
})

test('keys that are there twice are told, and so many that each could not be compared with all others are read at once', () => {
  expect(told('monitors: []\n? 1\n: a\n"1": b\n')).toEqual(['cannot be read at line 4, column 1: Map keys must be unique.'])
  expect(told('monitors: []\n? [a]\n: b\n')).toEqual(['cannot be read at line 2, column 3: A key must be a text.'])
  const many = Array.from({ length: 60_000 }, (_, n) => `  k${n}: v\n`)
  expect(told(`monitors: []\nsecrets:\n${many.join('')}`)).toEqual([expect.stringContaining('20000')])
  expect(plain('{"__proto__": {"a": 1}}')).toEqual(JSON.parse('{"__proto__": {"a": 1}}'))
})
