import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { textOf } from './sources'

// A text must not send its readers to a document that they don't have. RFCs and manuals of vendors are public.

const files = ['src/**/*.{ts,tsx,md,html,yaml}', 'test/**/*.{ts,py}', 'README.md', 'Dockerfile', '.ci/*']
  .flatMap(pattern => [...new Bun.Glob(pattern).scanSync({ cwd: '.', dot: true })])
  .filter(file => file !== 'test/rules/references.test.ts')
  .sort()

/** What only the authors can look up. */
const unreachable: [what: string, pattern: RegExp][] = [
  // Links to the tracker of another project are written as [#1](https://…).
  ['an issue number', /(?<![\w&"'`(=?:./[#])#\d{2,6}\b(?!\]\(https:)|\b(?:issue|ticket|PR) #?\d+\b/],
  ['a section of another document', /(?<![\w.:/-])S(?!3\b)\d{1,2}(?:\.\d+)*\b(?=[\s,.;:)]|$)/],
  [
    'a note',
    /\b(?:see|per|in|by|from|says) the (?:notes?|brief|design (?:notes?|documents?)|work order)\b(?! (?:of|field|to)\b)/i,
  ],
  ['a folder of the authors', /(?<![\w.])\/work\//],
]

/** Whether a document that a file names is in the repository: next to it, from the root, or in the handbook. */
const hasDocument = (file: string, name: string): boolean =>
  [join(dirname(file), name), name, join('src', name), join('src/docs', name)].some(path => existsSync(path))

function unreachableIn(file: string, text: string): string[] {
  return text.split('\n').flatMap((line, index) => {
    const missing = [...line.matchAll(/(?<![\w-])[\w./-]*\w\.md\b/g)].filter(([name]) => !hasDocument(file, name))
    return [
      ...missing.map(([name]) => `${file}:${index + 1} names ${name}, which is not in the repository`),
      ...unreachable.filter(([, pattern]) => pattern.test(line)).map(([what]) => `${file}:${index + 1} refers to ${what}`),
    ]
  })
}

test('texts refer only to documents in the repository', () => {
  expect(files.length).toBeGreaterThan(1000)
  expect(files.flatMap(file => unreachableIn(file, textOf(file)))).toEqual([])
})

test.each([
  ['// As in platform.md.', 1],
  ['// Retries as in webhooks.md S2.', 1],
  ['// Retries (S2).', 1],
  ['// Fixes #611.', 1],
  ["test('outpost #533, #534: it works'", 1],
  ['// See issue 12.', 1],
  ['// As described in the note.', 1],
  ['// See docs/live.md, README.md and webhooks.md.', 0],
  ['([#118](https://github.com/louislam/uptime-kuma/issues/118))', 0],
  ['// RFC 8410 section 7, and Amazon S3.', 0],
  ["const apostrophe = '&#39;'", 0],
  ['Whether to send the note to the channels.', 0],
])('%s', (line, count) => {
  expect(unreachableIn('src/dashboard/example.ts', line)).toHaveLength(count)
})
