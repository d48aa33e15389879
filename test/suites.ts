import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { testFiles } from './support/suite'

// Modules of the program that open a database.
const opening = ['test/support/world', 'src/core/db/store', 'src/core/db/series', 'src/core/db/migrate', 'src/hub/run']

const known = new Map<string, Set<string>>()

/** Whether a test file opens a database, by what it imports, directly or through the helpers of tests. */
function opensDatabase(file: string): boolean {
  const imported = importsOf(file)
  return opening.some(module => imported.has(module))
}

/** Files that need neither root nor a network. They run on SQLite. */
export const suite = testFiles(['src', 'test'], ['test/real', 'test/e2e'])

/** Files about the API document and the routes, which are the same with every database. */
const independent = ['test/api/openapi.test.ts', 'test/rules/routes.test.ts']

/** Files of the suite that also run on PostgreSQL: all that depend on the database that they open. */
export const suiteOnPostgres = suite.filter(file => opensDatabase(file) && !independent.includes(file))

/** Files that run the compiled program, partly against real servers. */
export const programs = testFiles(['test/real', 'test/e2e'])

/** Whether a test file opens pages in a browser. */
export const usesBrowser = (file: string): boolean => importsOf(file).has('test/support/dashboard')

/** Files of the compiled program that depend on the database: durability, several hubs, failover, keys, and one with pages. */
export const programsOnPostgres = [
  'test/e2e/agent-kill.test.ts',
  'test/e2e/audit-stream.test.ts',
  'test/e2e/backup.test.ts',
  'test/e2e/binary.test.ts',
  'test/e2e/cloud-kill.test.ts',
  'test/e2e/dashboard-overview.test.ts',
  'test/e2e/database-outage.test.ts',
  'test/e2e/hubs.test.ts',
  'test/e2e/keys.test.ts',
  'test/e2e/kill.test.ts',
  'test/e2e/name-server.test.ts',
  'test/e2e/planted-secrets.test.ts',
  'test/e2e/restart.test.ts',
  'test/e2e/story.test.ts',
  'test/e2e/webhook-kill.test.ts',
  'test/real/dns-sync.test.ts',
]

/** Files that measure time or create heavy load: how many of them may run at once, with nothing else. */
const exclusive: Readonly<Record<string, 1 | 2>> = {
  'test/contracts/hostile-checks.test.ts': 2,
  'test/e2e/acme-kill.test.ts': 2,
  'test/e2e/agent-kill.test.ts': 2,
  'test/e2e/cloud-kill.test.ts': 2,
  'test/e2e/database-outage.test.ts': 2,
  'test/e2e/hubs.test.ts': 1,
  'test/e2e/kill.test.ts': 1,
  'test/e2e/restart.test.ts': 2,
  'test/e2e/story.test.ts': 2,
  'test/real/checks-http.test.ts': 1,
  'test/real/monitors.test.ts': 2,
}
export const isExclusive = (file: string): boolean => file in exclusive
/** Whether a file runs alone. */
export const isAlone = (file: string): boolean => exclusive[file] === 1
/** Whether a file runs with one other of its kind. */
export const isInPair = (file: string): boolean => exclusive[file] === 2

/** Modules that a test file imports, directly or through modules in test/. */
function importsOf(file: string): Set<string> {
  let found = known.get(file)
  if (found) return found
  known.set(file, (found = new Set()))
  for (const [, name] of readFileSync(file, 'utf8').matchAll(
    /(?:^(?:import|export|\}).*from |^import |import\(\s*)'(\.[^']+)'/gm,
  )) {
    const module = normalize(join(dirname(file), name!))
    found.add(module)
    // Tests can contain imports of other files in texts.
    if (module.startsWith('test/') && existsSync(`${module}.ts`)) for (const one of importsOf(`${module}.ts`)) found.add(one)
  }
  return found
}
