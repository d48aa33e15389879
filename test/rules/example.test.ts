import { expect, test } from 'bun:test'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'

const maxLines = 180

/** The code of the example in the handbook, by file. */
const example = new Map(
  [...readFileSync('src/docs/architecture.md', 'utf8').matchAll(/```tsx?\n\/\/ (\S+)\n(.*?)```/gs)].map(
    ([, file, code]) => [file!, code!] as const,
  ),
)

// Blocks that are added to an existing file, after this text.
const additions: Record<string, string> = {
  'src/registry.ts': 'export const registry = {\n',
}

// Single lines that the text of the example gives.
const lines: [file: string, after: string, line: string][] = [
  [
    'src/hub/areas.ts',
    "import type { AnyElysia } from 'elysia'\n",
    "import { runbookRoutes } from '../features/runbooks/routes'\n",
  ],
  ['src/hub/areas.ts', 'export const apiAreas: readonly AnyElysia[] = [\n', '  runbookRoutes,\n'],
  [
    'src/dashboard/pages.ts',
    'export const pages = {\n',
    "  '/runbooks': { title: 'Runbooks', group: 'Monitoring', icon: 'ListChecks' },\n",
  ],
]

const behavior = readFileSync('test/fixtures/runbooks.test.txt', 'utf8')

test('the example of a resource in the handbook works, and is short', () => {
  const count = [...example.values()].reduce((sum, code) => sum + code.trimEnd().split('\n').length, 0)
  expect(example.size).toBe(6)
  expect(count).toBeLessThanOrEqual(maxLines)
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-example-'))
  try {
    for (const name of ['src', 'migrations', 'test', 'package.json', 'tsconfig.json', 'bunfig.toml'])
      cpSync(name, join(folder, name), { recursive: true })
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'))
    for (const [file, code] of example) {
      if (additions[file]) insert(folder, file, additions[file], code)
      else write(folder, file, code)
    }
    for (const [file, after, line] of lines) insert(folder, file, after, line)
    write(folder, 'test/api/runbooks.test.ts', behavior)
    run(folder, { NAME: 'runbooks' }, 'run', 'migrations')
    run(folder, {}, 'test', 'test/api/runbooks.test.ts')
    run(folder, {}, 'check', '--no-script')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}, 300_000)

function write(folder: string, file: string, text: string): void {
  mkdirSync(join(folder, dirname(file)), { recursive: true })
  writeFileSync(join(folder, file), text)
}

function insert(folder: string, file: string, after: string, text: string): void {
  const before = readFileSync(join(folder, file), 'utf8')
  expect(before).toContain(after)
  writeFileSync(
    join(folder, file),
    before.replace(after, () => after + text),
  )
}

function run(folder: string, more: Record<string, string>, ...args: string[]): void {
  const { BAILIWICK_DATABASE_URL: _, ...env } = process.env
  const options = { cwd: folder, env: { ...env, ...more }, stdout: 'pipe', stderr: 'pipe' } as const
  const done = Bun.spawnSync([process.execPath, ...args], options)
  if (done.exitCode !== 0) throw new Error(`${args.join(' ')}\n${done.stdout}${done.stderr}`)
}
