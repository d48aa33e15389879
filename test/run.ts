import { startPostgres } from './support/postgres'
import { close, part, runTests, say, succeeds, type Counts } from './support/suite'
import { suite, suiteOnPostgres } from './suites'

// The test suite, which needs neither root nor a network: `bun run test`, or with --postgres on a temporary PostgreSQL server.
// Runs only the given files, if any: `bun run test:pg test/api/tokens.test.ts`.
const only = process.argv.slice(2).filter(argument => !argument.startsWith('--'))
const selected = (files: string[]): string[] => (only.length > 0 ? files.filter(file => only.includes(file)) : files)

// Tests of what the hub serves need the dashboard.
if (!(await succeeds([process.execPath, 'src/bin/build-dashboard.ts']))) await say('The dashboard could not be built.\n')

await close(process.argv.includes('--postgres') ? await onPostgres() : await onSqlite())

async function onPostgres(): Promise<Counts> {
  const server = await startPostgres()
  try {
    // Three processes, because tests spend time waiting for the server.
    return await part('PostgreSQL', () => runTests(selected(suiteOnPostgres), { BAILIWICK_DATABASE_URL: server.url }, 3))
  } finally {
    await server.stop()
  }
}

async function onSqlite(): Promise<Counts> {
  const isTyped = await part('types', () => succeeds([process.execPath, 'check', '--no-script']))
  const counts = await part('SQLite', () => runTests(selected(suite), {}, 3))
  if (isTyped) return counts
  await say('The type check failed; its errors are above the tests.\n')
  return { ...counts, failed: counts.failed + 1 }
}
