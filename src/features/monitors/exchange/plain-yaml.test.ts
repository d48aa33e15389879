import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { isScalar, LineCounter, parseDocument, stringify } from 'yaml'
import { parseYaml } from './parse-yaml'
import { plainYaml } from './plain-yaml'
import { readDocument } from './read-document'

function plain(text: string, maxWeight = 1_000_000): unknown {
  const steps = plainYaml(parseDocument(text, { uniqueKeys: false }), maxWeight)
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}
const problemsOf = async (text: string): Promise<string[]> => {
  try {
    await readDocument(new TextEncoder().encode(text), 'application/yaml')
    return []
  } catch (error) {
    return (error as { extras: { errors: { detail: string }[] } }).extras.errors.map(one => one.detail)
  }
}

test('parses like the whole document, in parts', async () => {
  const texts = [
    'x: &a {b: 1}\nmonitors:\n- *a\n# c\n- k: &b 1\n\n- - 1\n  - *b\n-\n- y:\nz:\n- 1\nend: 2\n',
    `m:\n${Array.from({ length: 100 }, (_, at) => `  - name: n${at} # ${at}\n    tags: [a, b]\n`).join('')}end: 1\n`,
    '- 1\n- 2\n',
    `s: &s\n${Array.from({ length: 100 }, (_, at) => `  k${at}: v${at}\n`).join('')}t: *s\n`,
    '[1, {a: 2}]',
    'monitors:\n - a: [\n - b\n',
    'a: 1\n b: 2\n',
    'monitors:\n - x: 1\n - "a\n',
    'a: 1',
    '# c\n',
  ]
  for (const text of texts) {
    const whole = parseDocument(text, { uniqueKeys: false, prettyErrors: false })
    const lines = new LineCounter()
    const parts = await parseYaml(text, lines)
    expect([text, parts.errors.length > 0]).toEqual([text, whole.errors.length > 0])
    if (whole.errors.length > 0) continue
    expect(parts.toJS()).toEqual(whole.toJS())
    const node = parts.getIn(['m', 70, 'name'], true)
    if (isScalar(node)) expect(lines.linePos(node.range![0])).toEqual({ line: 142, col: 11 })
  }
  expect(await problemsOf(`monitors: [${'"a", '.repeat(30_000)}]`)).toEqual([expect.stringContaining('one item per line')])
  expect(await problemsOf('a: 1\n---\na: 2\n')).toEqual([expect.stringContaining('Only one document is allowed')])
})

test('reads any JSON value back from YAML unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 4 }), value => {
      const json: unknown = JSON.parse(JSON.stringify(value))
      expect(plain(stringify(json))).toEqual(json)
      expect(plain(JSON.stringify(json))).toEqual(json)
    }),
  )
})

test('resolves an alias to the last node with its name, any number of times', async () => {
  expect(plain('[&a 1, *a, &a {b: 2}, *a]')).toEqual([1, 1, { b: 2 }, { b: 2 }])
  const many = Array.from(
    { length: 5_000 },
    (_, n) => `  - {key: k${n}, target: "https://e.test/", tags: ${n ? '*t' : '&t [a]'}}`,
  )
  const { value } = await readDocument(new TextEncoder().encode(`monitors:\n${many.join('\n')}\n`), 'application/yaml')
  expect([value.monitors.length, value.monitors.at(-1)!.tags]).toEqual([5_000, ['a']])
})

test('reports unknown, recursive, and oversized aliases with line and column', async () => {
  expect(await problemsOf('monitors:\n  - name: *x\n')).toEqual([
    'is invalid at line 2, column 11: Unknown alias: no anchor named x before it.',
  ])
  expect(await problemsOf('monitors: &a [*a]')).toEqual(['is invalid at line 1, column 15: An alias must not contain itself.'])
  const layers = [...'bcdefghij'].map(
    (name, place) => `${name}: &${name} [${Array(9).fill(`*${'abcdefghij'[place]}`).join(', ')}]`,
  )
  expect(await problemsOf(`a: &a [x, x, x]\n${layers.join('\n')}\n`)).toEqual([
    expect.stringContaining('The document is too large'),
  ])
  expect(await problemsOf(`monitors: []\nx: [&a ${'x'.repeat(100_000)}${', *a'.repeat(1_000)}]`)).toEqual([
    expect.stringContaining('The document is too large'),
  ])
})

test('reports duplicate keys, and reads a large number of keys quickly', async () => {
  expect(await problemsOf('monitors: []\n? 1\n: a\n"1": b\n')).toEqual([
    'is invalid at line 4, column 1: Map keys must be unique.',
  ])
  expect(await problemsOf('monitors: []\n? [a]\n: b\n')).toEqual(['is invalid at line 2, column 3: A key must be a string.'])
  const many = Array.from({ length: 60_000 }, (_, n) => `  k${n}: v\n`)
  expect(await problemsOf(`monitors: []\nsecrets:\n${many.join('')}`)).toEqual([expect.stringContaining('20000')])
  expect(plain('{"__proto__": {"a": 1}}')).toEqual(JSON.parse('{"__proto__": {"a": 1}}'))
})

test('a JSON document may have as many monitors and secrets as its limits allow', async () => {
  const list = (count: number) => Array.from({ length: count }, (_, n) => n)
  const document = {
    monitors: list(12_000).map(n => ({ key: `k${n}`, target: 'https://e.test/', tags: list(10).map(String) })),
    secrets: Object.fromEntries(list(3_000).map(n => [`secret ${n}`, 'x'])),
  }
  const { value, problems } = await readDocument(new TextEncoder().encode(JSON.stringify(document)), 'application/json')
  expect([value.monitors.length, problems]).toEqual([12_000, []])
})
