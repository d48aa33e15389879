import { expect, test } from 'bun:test'
import { pageList } from '../../src/dashboard/pages'
import { resourceEntries } from '../../src/registry'
import { listFor } from '../support/every-page'
import { codeOf, sourceFiles, textOf } from './sources'

const files = sourceFiles.filter(file => file.startsWith('src/dashboard/') && !file.endsWith('vite.config.ts'))
const pages = files.filter(file => file.endsWith('.tsx'))

test('every page has its code, and every resource its page', () => {
  const paths = pageList.map(one => one.path as string)
  const named = paths
    .filter(path => !path.endsWith('/$tab'))
    .map(path => `src/dashboard/pages/${path === '/' ? 'index' : path.slice(1).replaceAll('/', '.')}.tsx`)
  expect(named.toSorted()).toEqual(files.filter(file => /^src\/dashboard\/pages\/[^/]+$/.test(file)))
  expect(resourceEntries.flatMap(({ page = '/' }) => (paths.includes(page) ? [] : [page]))).toEqual([])
})

test('the test of all pages visits every page', () => {
  // It gets ids from these lists, and follows the links to tabs.
  const withIds = pageList.map(one => one.path).filter(path => path.includes('/$id'))
  expect(withIds.filter(path => listFor(path) === undefined)).toEqual([])
})

test('only the style sheet defines colors', () => {
  const defined = [...textOf('src/dashboard/style.css').matchAll(/--color-([a-z-]+):/g)].map(one => one[1]!)
  expect(defined.length).toBeGreaterThan(15)
  const named =
    /(?<![\w-])(?:bg|text|border|outline|ring|fill|stroke|from|via|to|divide|accent|caret|decoration|placeholder|shadow)-(?:(?:slate|gray|zinc|neutral|stone|red|orange|amber|yellow|lime|green|emerald|teal|cyan|sky|blue|indigo|violet|purple|fuchsia|pink|rose)-\d+|white|black|\[#|\[rgb|\[hsl|\[oklch)/
  const literal = /['"`(\s:]#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})\b(?!-)|\b(?:rgba?|hsla?|oklch)\(/i
  expect(linesOf(pages, named)).toEqual([])
  // QR code readers need dark on light in any theme.
  expect(linesOf(pages, literal).filter(line => !line.startsWith('src/dashboard/pages/profile/qr-code.tsx'))).toEqual([])
  // The semantic colors follow the theme.
  expect(linesOf(pages, /(?<![\w-])dark:/)).toEqual([])
})

test('inline styles are only used for computed values', () => {
  // Fixed styles are classes: style={{ height: 24 }} is rejected, style={{ height }} and style={{ width: `${part}%` }} are allowed.
  expect(linesOf(pages, /\bstyle=["']/)).toEqual([])
  expect(linesOf(pages, /\bstyle=\{\{(?:\s*\w+:\s*(?:'[^'$]*'|"[^"]*"|\d+),?)+\s*\}\}/)).toEqual([])
})

test('no page turns text into markup or code', () => {
  expect(
    linesOf(files, /dangerouslySetInnerHTML|\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(/),
  ).toEqual([])
})

test('no page sends requests to other sites', () => {
  // Links may lead anywhere. Examples use names reserved for examples.
  const foreign = /(?<!href=")https?:\/\/(?!(?:[\w-]+\.)*example(?:\.(?:com|net|org))?\b|localhost|127\.0\.0\.1|\$\{)[\w-]/
  expect(linesOf(files, foreign)).toEqual([])
})

test('pages use the clock of the hub', () => {
  const readers = linesOf(files, /\bsystemClock\b|\bDate\.now\b|\bnew Date\(\)/).map(line => line.replace(/:.*/, ''))
  expect([...new Set(readers)]).toEqual(['src/dashboard/client.ts', 'src/dashboard/hub-clock.ts'])
})

const linesOf = (among: readonly string[], pattern: RegExp): string[] =>
  among.flatMap(file =>
    codeOf(file)
      .split('\n')
      .flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1}: ${line.trim().slice(0, 120)}`] : [])),
  )
