import { startPostgres } from './support/postgres'
import { closingLine, divided, runs, runTests, say, testFiles, type Counts } from './support/suite'

// The suite that needs neither root nor a network: `bun run test`, or with --postgres on a throw-away PostgreSQL server.
const onPostgres = process.argv.includes('--postgres')
const files = testFiles(['src', 'test'], ['test/real', 'test/e2e'])

// Each test has a hub, a database and ports of its own: two processes get in each other’s way no more than two tests do.
const processes = 2

// A hanging test is told late, but a busy machine fails none.
const patience = ['--timeout=60000']

// Tests of what the hub serves look at the dashboard as it is built.
if (!(await runs([process.execPath, 'src/bin/build-dashboard.ts']))) await say('The dashboard was not built.\n')

let counts: Counts
if (onPostgres) {
  const server = await startPostgres()
  try {
    counts = await runTests(divided(files, processes), { BAILIWICK_DATABASE_URL: server.url }, patience)
  } finally {
    await server.stop()
  }
} else {
  const typed = await runs([process.execPath, 'check', '--no-script'])
  counts = await runTests(divided(files, processes), {}, patience)
  if (!typed) {
    await say('The type check failed; its errors are above the tests.\n')
    counts.failed++
  }
}
await say(`${closingLine(counts)}\n`)
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1)
