import { startPostgres } from '../support/postgres'
import { add, closingLine, runs, runTogether, say, testFiles, type Counts } from '../support/suite'
import { installCounterparts } from './install'

// The compiled program against real counterparts, on both engines: `bun run test:real`.
const missing = await installCounterparts()
if (missing.length > 0) await say(`Not installed, which counts as failed: ${missing.join(', ')}\n`)
if (!(await runs([process.execPath, 'src/bin/build.ts']))) {
  await say(`${closingLine({ passed: 0, failed: 1, skipped: 0 })}\n`)
  process.exit(1)
}

// Pages are looked at beside the rest: a browser waits as much as the servers do.
const files = testFiles(['test/real', 'test/e2e'])
const isOfPages = (file: string) => /\/dashboard-[^/]+$/.test(file)
const shares = [files.filter(file => !isOfPages(file)), files.filter(isOfPages)]
const patience = ['--timeout=60000']
await say('\n== on SQLite\n')
let counts: Counts = await runTogether(shares, {}, patience)
if (!missing.includes('postgresql')) {
  await say('\n== on PostgreSQL\n')
  const server = await startPostgres()
  try {
    counts = add(counts, await runTogether(shares, { BAILIWICK_DATABASE_URL: server.url }, patience))
  } finally {
    await server.stop()
  }
}
// What it was to be tested against is missing: that is no reason to skip it.
counts.failed += missing.length
await say(`${closingLine(counts)}\n`)
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1)
