import { expect, test } from 'bun:test'
import { codeOf, sourceFiles, textOf } from './sources'

// Words that say nothing of what is in a file.
const empty = [
  'service',
  'services',
  'manager',
  'helper',
  'helpers',
  'util',
  'utils',
  'common',
  'base',
  'impl',
  'data',
  'info',
  'process',
  'handle',
  'misc',
  'lib',
]
const testFiles = [...new Bun.Glob('test/**/*.ts').scanSync('.'), ...new Bun.Glob('src/**/*.test.ts').scanSync('.')].sort()
const everyFile = [...sourceFiles, ...testFiles]

test('files and folders are named in kebab-case, by nouns of the product', () => {
  const wrong = everyFile.flatMap(file =>
    file
      .split('/')
      .map(part => part.replace(/(\.(test|d|config))?\.tsx?$/, ''))
      .filter(part => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part) || empty.includes(part))
      .map(part => `${file}: ${part}`),
  )
  expect(wrong).toEqual([])
})

test('nothing exported ends in a word that says nothing', () => {
  const ending = new RegExp(
    `\\bexport (?:async )?(?:abstract )?(?:class|function|const|interface|type) (\\w+(?:Service|Manager|Helper|Helpers|Util|Utils|Impl|Info))\\b`,
    'g',
  )
  expect(sourceFiles.flatMap(file => [...codeOf(file).matchAll(ending)].map(match => `${file}: ${match[1]}`))).toEqual([])
})

test('nothing is left for later', () => {
  const marks = new RegExp(
    `\\b(${['TO', 'FIX', 'XX', 'HA'].map((start, at) => start + ['DO', 'ME', 'X', 'CK'][at]).join('|')})\\b`,
  )
  expect(everyFile.filter(file => marks.test(textOf(file)))).toEqual([])
})
