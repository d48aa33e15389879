import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { codeOf, importsOf, sourceFiles, type Import } from './sources'

// The layers of the program, read from its text. Exceptions stand in the lists below with their reason; the lists may only shrink.

/** The parts of core that programs without a database may have. */
const plainCore = [
  'src/core/net/',
  'src/core/dns/',
  'src/core/dns-client/',
  'src/core/log',
  'src/core/clock',
  'src/core/crypto',
  'src/core/garbage',
  'src/core/ids',
  'src/core/problem',
  'src/core/regex',
  // Options of checks are written in the words of all other shapes; it is typebox and nothing else.
  'src/core/shapes',
  'src/core/thread',
  'src/core/version',
]

/** Files of a folder may import these places of ours, and the reason is what the failing test says. */
const layers: [from: string, mayImport: string[], reason: string][] = [
  ['src/core/', ['src/core/', 'migrations/', 'package.json'], 'core has no product words and imports nothing above it'],
  ['src/access/', ['src/access/', 'src/core/'], 'access stands on core alone: features come above it'],
  ['src/checks/', ['src/checks/', ...plainCore], 'checks run in the probe too, where there is no database'],
  ['src/wire/', ['src/wire/', ...plainCore], 'messages are shared with the agent and the probe'],
  [
    'src/features/',
    ['src/features/', 'src/checks/', 'src/wire/', 'src/access/', 'src/core/'],
    'features know nothing of the hub, the command line or the programs',
  ],
  ['src/docs/', ['src/docs/', 'src/features/', 'src/access/', 'src/core/'], 'pages are made from what the features tell'],
  [
    'src/dashboard/',
    ['src/dashboard/', 'src/features/', 'src/access/', 'src/core/', 'src/docs/webhooks.md'],
    'the dashboard speaks /v1 and knows the shapes',
  ],
  [
    'src/hub/',
    [
      'src/hub/',
      'migrations/',
      'src/docs/',
      'src/dashboard/',
      'src/features/',
      'src/checks/',
      'src/wire/',
      'src/access/',
      'src/core/',
    ],
    'the hub puts the features together; commands come above it',
  ],
  [
    'src/cli/',
    ['src/cli/', 'src/hub/', 'src/features/', 'src/access/', 'src/checks/', 'src/core/', 'src/agent/run', 'src/probe/run'],
    'commands start programs and use the hub; entry points come above them',
  ],
  ['src/agent/', ['src/agent/', 'src/checks/', 'src/wire/', ...plainCore], 'the agent carries nothing of the hub'],
  ['src/probe/', ['src/probe/', 'src/checks/', 'src/wire/', ...plainCore], 'the probe carries nothing of the hub'],
  [
    'src/bin/',
    [
      'src/bin/',
      'src/cli/index',
      'src/agent/run',
      'src/probe/run',
      'src/features/dns/server/thread',
      'src/checks/engine/thread',
      'src/core/version',
    ],
    'an entry point only starts a program',
  ],
]

/** Imports that are refused whatever the layer: files, what they must not import, why. */
const refusals: [files: RegExp, refused: RegExp, reason: string, typesToo?: boolean][] = [
  [
    /^src\/(features\/[^/]+|access)\/(routes|ingest)\.ts$/,
    /^src\/core\/(db\/|change$)|[/-]tables$|^drizzle-orm/,
    'routes only name shapes, guards and verbs; the rules are in the verbs',
  ],
  [
    /^src\/(agent|probe|checks|wire)\//,
    /^(drizzle-orm|elysia|@elysiajs\/|bun:sqlite|commander)/,
    'programs without a database stay small',
  ],
  [
    /^src\/features\/dns\/server\//,
    /^src\/(core\/(db\/|change$|ctx$|hub$)|access\/)|[/-]tables$|^drizzle-orm/,
    'the name server is a thread of its own that gets plain values',
  ],
  [
    /^src\/features\/[^/]+\/(providers|registrars|clouds|channels)\//,
    /^src\/core\/(db\/|change$|ctx$|hub$)|[/-]tables$/,
    'a plug-in gets plain values and gives plain values',
  ],
  [
    /^src\/dashboard\//,
    /^src\/(features|access)\/|^src\/core\/(?!clock$|permissions$)/,
    'what pages import of the hub goes to every browser: types alone, and the few files that import nothing',
    false,
  ],
  // The bench compares the hub with the same query on nothing but the runtime.
  [
    /^src\/(?!core\/db\/|cli\/bench\/)/,
    /^(bun:sqlite|drizzle-orm\/(bun-sqlite|bun-sql|sqlite-core|pg-core))/,
    'which engine it is, only core/db knows',
    false,
  ],
]

/** Words that belong to one place each: what is looked for, the files that may have it, why. */
const places: [what: string, pattern: RegExp, allowed: RegExp, reason: string][] = [
  [
    'process.env',
    /\bprocess\.env\b|\bBun\.env\b|import\.meta\.env\b/,
    /^src\/core\/(config|db\/drizzle\.config)\.ts$/,
    'every setting is read and documented in core/config.ts',
  ],
  ['Date.now', /\bDate\.now\b|\bnew Date\(\s*\)/, /^src\/core\/clock\.ts$/, 'time comes from a clock, so that tests can move it'],
  [
    'fetch',
    /(?<![.\w])fetch\(|\b(globalThis|Bun)\.fetch\(/,
    /^src\/(core\/net\/guarded-fetch\.ts$|dashboard\/)/,
    'a call to the outside passes the guard against private addresses',
  ],
  ['console', /(?<![.\w])console\./, /^src\/(cli\/|core\/log\.ts$)/, 'programs write log lines; only commands print'],
  ['transact', /\.transact\b/, /^src\/core\/(change\.ts$|db\/)/, 'what is written passes the door, with its audit entry'],
  ['db.transaction', /\.transaction\(/, /^src\/core\/db\/store\.ts$/, 'on SQLite it commits at the first await'],
  [
    'engine',
    /\bisPostgres\b/,
    /^src\/(core\/db\/|core\/jobs\/claim\.ts$|hub\/(run|presence|health)\.ts$)/,
    'one text serves both engines',
  ],
]

const imports: Import[] = sourceFiles.flatMap(importsOf)
const own = imports.filter(one => /^(src|migrations|package)/.test(one.of))

describe('layers', () => {
  test.each(layers)('%s', (from, mayImport, reason) => {
    const wrong = own.filter(one => one.file.startsWith(from) && !mayImport.some(place => one.of.startsWith(place)))
    expect(listed(wrong, reason)).toEqual([])
  })

  test('every file is of a layer', () => {
    expect(sourceFiles.filter(file => !layers.some(([from]) => file.startsWith(from)))).toEqual([])
  })

  test('the reader of imports sees them', () => {
    expect(imports.length).toBeGreaterThan(sourceFiles.length)
    expect(own.some(one => one.typesOnly)).toBe(true)
  })
})

describe('imports that are refused', () => {
  test.each(refusals)('of %p: %p', (files, refused, reason, typesToo = true) => {
    const wrong = imports.filter(one => files.test(one.file) && refused.test(one.of) && (typesToo || !one.typesOnly))
    expect(listed(wrong, reason)).toEqual([])
  })

  test('a feature uses another through its verb files only', () => {
    const wrong = own.filter(one => {
      const [, of, rest] = /^src\/features\/([^/]+)\/(.+)$/.exec(one.of) ?? []
      const from = /^src\/features\/([^/]+)\//.exec(one.file)?.[1]
      return from && of && from !== of && (/^(tables|routes|ingest)$/.test(rest!) || rest!.includes('/'))
    })
    expect(listed(wrong, 'tables, routes, jobs and plug-ins are a feature’s own')).toEqual([])
  })

  test('no circle', () => {
    expect(circles()).toEqual([])
  })
})

describe('words with a place of their own', () => {
  test.each(places)('%s', (what, pattern, allowed, reason) => {
    const wrong = sourceFiles.filter(file => !allowed.test(file) && pattern.test(codeOf(file)))
    expect(wrong.map(file => `${file} has ${what}: ${reason}`)).toEqual([])
  })
})

test('the top level of the repository holds what it is meant to', () => {
  const allowed = [
    'package.json',
    'tsconfig.json',
    'bunfig.toml',
    'bun.lock',
    'src',
    'migrations',
    'test',
    'Dockerfile',
    'README.md',
    'LICENSE',
  ]
  const ignored = readFileSync('.gitignore', 'utf8')
    .split('\n')
    .map(line => line.replace(/\/$/, ''))
  expect(readdirSync('.').filter(name => !name.startsWith('.') && !allowed.includes(name) && !ignored.includes(name))).toEqual([])
})

const listed = (wrong: Import[], reason: string) => wrong.map(one => `${one.file} imports ${one.of}: ${reason}`)

/** Chains of files that import each other's values and come back to where they began. */
function circles(): string[] {
  const byFile = new Map(
    sourceFiles.map(file => [
      file.replace(/\.tsx?$/, ''),
      importsOf(file)
        .filter(one => !one.typesOnly)
        .map(one => one.of),
    ]),
  )
  const found: string[] = []
  const done = new Set<string>()
  const visit = (file: string, path: string[]): void => {
    if (path.includes(file)) {
      found.push([...path.slice(path.indexOf(file)), file].join(' → '))
      return
    }
    if (done.has(file)) return
    for (const next of byFile.get(file) ?? []) if (byFile.has(next)) visit(next, [...path, file])
    done.add(file)
  }
  for (const file of byFile.keys()) visit(file, [])
  return found
}
