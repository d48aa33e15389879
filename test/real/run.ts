import { startPostgres } from '../support/postgres'
import { add, closingLine, divided, runs, runTests, say, testFiles, type Counts } from '../support/suite'
import { installCounterparts } from './install'

// The compiled program against real counterparts, on both engines: `bun run test:real`.
const missing = await installCounterparts()
if (missing.length > 0) await say(`Not installed, which counts as failed: ${missing.join(', ')}\n`)
if (!(await runs([process.execPath, 'src/bin/build.ts']))) {
  await say(`${closingLine({ passed: 0, failed: 1, skipped: 0 })}\n`)
  process.exit(1)
}

const files = testFiles(['test/real', 'test/e2e'])
// Browsers take all that a machine has: they come last. What tells how long something takes has the machine to itself.
const isOfPages = (file: string) => /\/dashboard-[^/]+$/.test(file)
const isOfTime = (file: string) => /\/(checks-http|hubs|kill|monitors|restart|story)\.test\.ts$/.test(file)
const pages = files.filter(isOfPages)
const timed = files.filter(isOfTime)
const others = files.filter(file => !isOfPages(file) && !isOfTime(file))
// How pages look, and how long lists move, is no matter of the engine.
const looks = /\/dashboard-(every-page|long-list)\./
const patience = ['--timeout=60000']
await say('\n== on SQLite\n')
// The one that visits every page takes longer than half of the others.
const isLongest = (file: string) => file.includes('every-page')
const beside = [pages.filter(file => !isLongest(file)), pages.filter(isLongest)]
let counts = await runAll({}, divided(others, 2), [timed], beside)
if (!missing.includes('postgresql')) {
  await say('\n== on PostgreSQL\n')
  const server = await startPostgres()
  try {
    const told = pages.filter(file => !looks.test(file))
    counts = add(counts, await runAll({ BAILIWICK_DATABASE_URL: server.url }, divided(others, 2), [timed], divided(told, 2)))
  } finally {
    await server.stop()
  }
}
// What it was to be tested against is missing: that is no reason to skip it.
counts.failed += missing.length
await say(`${closingLine(counts)}\n`)
process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1)

/** One after the other, each in its processes. */
async function runAll(env: Record<string, string>, ...suites: string[][][]): Promise<Counts> {
  let counts: Counts = { passed: 0, failed: 0, skipped: 0 }
  for (const shares of suites) counts = add(counts, await runTests(shares, env, patience))
  return counts
}
