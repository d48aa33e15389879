import { expect, test } from 'bun:test'
import { codeOf, everyFile, sourceFiles, textOf } from './sources'

// Words that don't say what is in a file.
const meaningless = [
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
test('files and folders have kebab-case names without meaningless words', () => {
  // The code of a page is named after its path, such as `monitors.$id.edit.tsx`.
  const isPage = (file: string) => /^src\/dashboard\/pages\/[^/]+\.tsx$/.test(file)
  const wrong = everyFile
    .filter(file => !isPage(file))
    .flatMap(file =>
      file
        .split('/')
        .map(part => part.replace(/(\.(test|d|config))?\.tsx?$/, ''))
        .filter(part => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part) || meaningless.includes(part))
        .map(part => `${file}: ${part}`),
    )
  expect(wrong).toEqual([])
})

test('no exported name ends in a meaningless word', () => {
  const ending = new RegExp(
    `\\bexport (?:async )?(?:abstract )?(?:class|function|const|interface|type) (\\w+(?:Service|Manager|Helper|Helpers|Util|Utils|Impl|Info))\\b`,
    'g',
  )
  expect(sourceFiles.flatMap(file => [...codeOf(file).matchAll(ending)].map(match => `${file}: ${match[1]}`))).toEqual([])
})

test('there are no to-do comments', () => {
  const marks = new RegExp(
    `\\b(${['TO', 'FIX', 'XX', 'HA'].map((start, at) => start + ['DO', 'ME', 'X', 'CK'][at]).join('|')})\\b`,
  )
  expect(everyFile.filter(file => marks.test(textOf(file)))).toEqual([])
})
