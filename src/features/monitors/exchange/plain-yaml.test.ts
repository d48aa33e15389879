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
const problemsOf = async (text: string, mediaType = 'application/yaml'): Promise<string[]> => {
  try {
    await readDocument(new TextEncoder().encode(text), mediaType)
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
  expect(await problemsOf(`monitors: [${'"a", '.repeat(30_000)}]`)).toEqual([expect.stringContaining('one entry per line')])
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

test('refuses aliases before they are copied, and copies step by step', () => {
  const stepsOf = (text: string) => {
    const steps = plainYaml(parseDocument(text), 1_000_000)
    let count = 0
    try {
      while (!steps.next().done) count++
    } catch (error) {
      return [count, (error as Error).message]
    }
    return [count, null]
  }
  const many = `m:\n- &a ${'x'.repeat(1000)}\n- &b [${'*a, '.repeat(900)}]\n${'- *b\n'.repeat(25)}`
  expect(stepsOf(many)).toEqual([2, expect.stringContaining('too large')])
  const [count] = stepsOf(`m:\n- &a [${'[], '.repeat(100)}]\n- [${'*a, '.repeat(500)}]\n`)
  expect(count).toBeGreaterThan(50)
  expect(plain('m:\n- &a {b: [1]}\n- [*a, *a, .nan, -0]\n')).toEqual({ m: [{ b: [1] }, [{ b: [1] }, { b: [1] }, null, 0]] })
})

test('monitors may have long texts', async () => {
  const monitor = (name: string, size: number) => ({
    name,
    type: 'http',
    target: 'https://e.test/',
    options: { body: 'x\n'.repeat(size / 2), tls: { ca: 'y\n'.repeat(size / 2), client: { cert: 'z\n'.repeat(size / 2) } } },
  })
  const monitors = Array.from({ length: 40 }, (_, n) => monitor(`m${n}`, n % 20 === 19 ? 65_536 : 7000))
  for (const document of [{ monitors }, { monitors: monitors.slice(0, 30) }]) {
    const parsed = await parseYaml(stringify(document, { lineWidth: 0 }), new LineCounter())
    expect([parsed.errors, parsed.toJS()]).toEqual([[], document])
  }
  const items = (item: string) => `monitors:\n- a\n- ${item}\n`
  const long = `[${'b, '.repeat(50_000)}]`
  for (const text of [items(long), `${items(long)}- c\n`])
    expect(await problemsOf(text)).toEqual([expect.stringContaining('The item is larger than 128 KiB')])
})

test('errors in JSON have line and column, in documents of up to 128 KiB', async () => {
  const wrong = (padding: number) => `{\n  "monitors": [],\n  "x": "${'x'.repeat(padding)}"\n}`
  expect(await problemsOf(wrong(1), 'application/json')).toEqual([expect.stringContaining('(line 3, column 8)')])
  expect(await problemsOf(wrong(130_000), 'application/json')).toEqual([expect.stringContaining('(line')])
  expect(await problemsOf(wrong(140_000), 'application/json')).toEqual([expect.not.stringContaining('(line')])
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
