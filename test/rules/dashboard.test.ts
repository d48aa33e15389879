import { expect, test } from 'bun:test'
import { dashboardPaths } from '../../src/dashboard/paths'
import { idsOf } from '../support/every-page'
import { codeOf, sourceFiles, textOf } from './sources'

const files = sourceFiles.filter(file => file.startsWith('src/dashboard/') && !file.endsWith('vite.config.ts'))
const pages = files.filter(file => file.endsWith('.tsx'))

/** Addresses that the router leads to a page, in the words of paths.ts. */
const routed = [
  ...textOf('src/dashboard/router.tsx').matchAll(/^ *(?:page|door)\('([^']+)', \(\) => import\('([^']+)'\)\),$/gm),
].map(([, path, file]) => ({ path: path!.replace(/\$(\w+)/g, ':$1'), file: file! }))

test('every page has a line in the router, and the hub knows its address', () => {
  expect(routed.length).toBeGreaterThan(20)
  const known: readonly string[] = dashboardPaths
  expect(routed.map(one => one.path).filter(path => !known.includes(path))).toEqual([])
  expect(known.filter(path => !routed.some(one => one.path === path))).toEqual([])
  expect(new Set(known).size).toBe(known.length)
})

test('every page is visited by the test of all pages', () => {
  // It finds ids by these lists, and follows tabs by the links to them.
  const withIds = dashboardPaths.filter(path => path.includes('/:id'))
  expect(withIds.filter(path => idsOf[path.split('/:id')[0]!] === undefined)).toEqual([])
})

test('colours are named by the style sheet alone', () => {
  const meant = [...textOf('src/dashboard/style.css').matchAll(/--color-([a-z-]+):/g)].map(one => one[1]!)
  expect(meant.length).toBeGreaterThan(15)
  const named =
    /(?<![\w-])(?:bg|text|border|outline|ring|fill|stroke|from|via|to|divide|accent|caret|decoration|placeholder|shadow)-(?:(?:slate|gray|zinc|neutral|stone|red|orange|amber|yellow|lime|green|emerald|teal|cyan|sky|blue|indigo|violet|purple|fuchsia|pink|rose)-\d+|white|black|\[#|\[rgb|\[hsl|\[oklch)/
  const literal = /['"`(\s:]#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})\b(?!-)|\b(?:rgba?|hsla?|oklch)\(/i
  expect(linesOf(pages, named)).toEqual([])
  // Readers of QR codes want dark on light, whatever the theme.
  expect(linesOf(pages, literal).filter(line => !line.startsWith('src/dashboard/pages/profile/qr-code.tsx'))).toEqual([])
  // What follows the theme does so by itself.
  expect(linesOf(pages, /(?<![\w-])dark:/)).toEqual([])
})

test('a style in a page is one that was computed', () => {
  // Fixed ones are classes: style={{ height: 24 }} is refused, style={{ height }} and style={{ width: `${part}%` }} are not.
  expect(linesOf(pages, /\bstyle=["']/)).toEqual([])
  expect(linesOf(pages, /\bstyle=\{\{(?:\s*\w+:\s*(?:'[^'$]*'|"[^"]*"|\d+),?)+\s*\}\}/)).toEqual([])
})

test('no page makes markup of text, nor code', () => {
  expect(
    linesOf(files, /dangerouslySetInnerHTML|\.(?:inner|outer)HTML\b|insertAdjacentHTML|document\.write|\beval\(|new Function\(/),
  ).toEqual([])
})

test('no page asks anything of somebody else', () => {
  // Links lead wherever they lead; examples are of names that are kept for examples.
  const foreign = /(?<!href=")https?:\/\/(?!(?:[\w-]+\.)*example(?:\.(?:com|net|org))?\b|localhost|127\.0\.0\.1|\$\{)[\w-]/
  expect(linesOf(files, foreign)).toEqual([])
})

const linesOf = (among: readonly string[], pattern: RegExp): string[] =>
  among.flatMap(file =>
    codeOf(file)
      .split('\n')
      .flatMap((line, at) => (pattern.test(line) ? [`${file}:${at + 1}: ${line.trim().slice(0, 120)}`] : [])),
  )
