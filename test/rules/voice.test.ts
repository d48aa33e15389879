import { expect, test } from 'bun:test'
import { openapiDocument } from '../../src/hub/openapi'
import { foundIn, proseOf } from './phrases'
import { everyFile } from './sources'

const ownFiles = ['test/rules/phrases.ts', 'test/rules/voice.test.ts']
const files = [...everyFile, ...new Bun.Glob('src/**/*.md').scanSync('.'), 'README.md']
  .filter(file => !ownFiles.includes(file))
  .sort()

test('text for people uses plain words', () => {
  expect(files.flatMap(foundIn)).toEqual([])
})

test('the rule reads comments, strings, templates, text between tags, and Markdown', () => {
  const source = [
    '/** A told. */',
    "const a = 'b told'",
    '// c told',
    'const d = `e ${f} told`',
    '<p className="x">',
    '  g told {h} told',
    '</p>',
  ]
  expect(proseOf(source.join('\n'), 'tsx').flatMap(({ line, text }) => (text.includes('told') ? [line] : []))).toEqual([
    1, 2, 3, 4, 6, 6,
  ])
  const page = ['# A', 'b told `told`', '```', 'told', '```']
  expect(proseOf(page.join('\n'), 'md').map(one => one.text)).toEqual(['# A', 'b told ``'])
})

// List, Get, Create, Update, Replace, and Delete, or the verb of an action; not another word for one of them.
const forbiddenVerbs = [
  'Ask',
  'Begin',
  'Call',
  'Edit',
  'Give',
  'Hear',
  'Keep',
  'Make',
  'Plan',
  'Read',
  'See',
  'Show',
  'Take',
  'Tell',
]

test('API operations are named with the standard verbs', async () => {
  const { paths } = await openapiDocument()
  const operations = Object.values(paths).flatMap(methods => Object.values(methods))
  const wrong = operations.filter(
    ({ summary, operationId }) =>
      forbiddenVerbs.includes(String(summary).split(' ')[0]!) ||
      forbiddenVerbs.some(verb => new RegExp(`^${verb.toLowerCase()}[A-Z]`).test(String(operationId))),
  )
  expect(operations.length).toBeGreaterThan(200)
  expect(wrong.map(({ operationId, summary }) => `${operationId}: ${summary}`)).toEqual([])
})
