import { startPostgres } from '../support/postgres'
import { add, close, noCounts, part, runTests, say, succeeds, type Counts } from '../support/suite'
import { isAlone, isExclusive, isInPair, programs, programsOnPostgres, usesBrowser } from '../suites'
import { installDependencies } from './install'

// Tests the compiled program, alone and against real servers: `bun run test:real`. With --built, dist/ is not rebuilt.
const missing = await installDependencies()
if (missing.length > 0) await say(`Not installed (counted as failed): ${missing.join(', ')}\n`)
const isBuilt = process.argv.includes('--built') || (await part('build', () => succeeds([process.execPath, 'src/bin/build.ts'])))
if (!isBuilt) await close({ ...noCounts, failed: 1 })

let counts = noCounts
// Four processes, because tests spend time waiting for servers, guests, and timers.
await run('the compiled program and real servers', programs, file => !usesBrowser(file) && !isExclusive(file), 4)
await run('exclusive tests', programs, isAlone, 1)
await run('exclusive tests in pairs', programs, isInPair, 2)
// Not while there are guests: a browser aborts requests whenever a network interface of the machine changes (ERR_NETWORK_CHANGED).
await run('pages', programs, usesBrowser, 3)
if (!missing.includes('postgresql')) {
  const server = await startPostgres()
  try {
    const env = { BAILIWICK_DATABASE_URL: server.url }
    await run('the compiled program on PostgreSQL', programsOnPostgres, file => !isExclusive(file), 4, env)
    await run('exclusive tests on PostgreSQL', programsOnPostgres, isAlone, 1, env)
    await run('exclusive tests in pairs on PostgreSQL', programsOnPostgres, isInPair, 2, env)
  } finally {
    await server.stop()
  }
}
// A missing program is a failure, not a reason to skip its tests.
await close({ ...counts, failed: counts.failed + missing.length })

async function run(name: string, files: string[], isIn: (file: string) => boolean, processes: number, env = {}): Promise<void> {
  counts = add(counts, await part<Counts>(name, () => runTests(files.filter(isIn), env, processes)))
}
