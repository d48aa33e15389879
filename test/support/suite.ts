import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** How many tests of a run passed, failed, and were skipped. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

export const noCounts: Counts = { passed: 0, failed: 0, skipped: 0 }

/** Durations of the last recorded run, so that the slowest files start first. `UPDATE_TIMINGS=1` records a run. */
const timings = 'test/timings.json'

/** The test files in these folders, except those in the excluded ones. */
export function testFiles(folders: string[], excluded: string[] = []): string[] {
  return folders
    .flatMap(folder => [...new Bun.Glob(`${folder}/**/*.test.ts`).scanSync('.')])
    .filter(file => !excluded.some(folder => file.startsWith(`${folder}/`)))
    .sort()
}

/** If tests of more files fail, they are not run again. */
const maxRepeated = 3

/**
 * Runs test files from one queue, slowest first, in several processes with their own hubs, databases, and ports. In CI, a few files whose
 * tests failed are run again, alone: many tests depend on real clocks, sockets, and other programs. Those that pass then are printed as
 * flaky. The counts are those of Bun's JUnit report.
 */
export async function runTests(files: string[], env: Record<string, string> = {}, processes = 2): Promise<Counts> {
  if (files.length === 0) return noCounts
  const { counts, reported, failed } = await runOnce(files, env, processes)
  const isComplete = files.every(file => reported.has(file))
  if (process.env.CI === undefined || !isComplete || failed.length === 0 || failed.length > maxRepeated) return counts
  await say(`Running again: ${failed.join(', ')}\n`)
  const again = await runOnce(failed, env, 1)
  if (again.counts.failed > 0) return counts
  await say(`Flaky: ${failed.join(', ')}. What failed above passed the second time.\n`)
  return { ...counts, passed: counts.passed + counts.failed, failed: 0 }
}

interface Run {
  counts: Counts
  /** Files in the report. */
  reported: ReadonlySet<string>
  /** Files with tests that failed. */
  failed: string[]
}

async function runOnce(files: string[], env: Record<string, string>, processes: number): Promise<Run> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-report-'))
  const report = join(folder, 'junit.xml')
  const recording = process.env.UPDATE_TIMINGS === '1' ? ['--update-timings'] : []
  try {
    const passed = await succeeds(
      [
        process.execPath,
        'test',
        // Without isolation, the modules are loaded once for each process, not once for each file.
        ...(processes > 1 ? [`--parallel=${processes}`, '--no-isolate', `--timings=${timings}`, ...recording] : []),
        // Generous, so that a busy machine fails no test.
        '--timeout=180000',
        '--reporter=junit',
        `--reporter-outfile=${report}`,
        ...files.map(file => `./${file}`),
      ],
      env,
    )
    const run = readReport(report)
    // A file that cannot be loaded and a process that crashes show in the exit code alone.
    return !passed && run.counts.failed === 0 ? { ...run, counts: { ...run.counts, failed: 1 } } : run
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes to standard output and waits until it is accepted: what a pipe still buffers is lost when the process exits. */
export const say = (text: string): Promise<void> => new Promise(written => process.stdout.write(text, () => written()))

/** Prints the closing line of a run and exits. */
export async function close(counts: Counts): Promise<never> {
  await say(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`)
  process.exit(counts.failed === 0 && counts.passed > 0 ? 0 : 1)
}

export const add = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
})

/** Runs a command, showing its output. Returns whether it exited with 0. */
export async function succeeds(command: string[], env: Record<string, string> = {}): Promise<boolean> {
  const run = Bun.spawn(command, { env: { ...process.env, ...env }, stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' })
  return (await run.exited) === 0
}

/** Runs one part of a suite and prints how long it took. */
export async function part<T>(name: string, run: () => Promise<T>): Promise<T> {
  const started = performance.now()
  try {
    return await run()
  } finally {
    await say(`== ${name}: ${Math.round((performance.now() - started) / 1000)} s\n`)
  }
}

function readReport(path: string): Run {
  let report = ''
  try {
    report = readFileSync(path, 'utf8')
  } catch {
    // It is missing if Bun crashed.
  }
  const count = (element: string, name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(element)?.[1] ?? 0)
  const head = /<testsuites\b[^>]*>/.exec(report)?.[0] ?? ''
  const failed = count(head, 'failures') + count(head, 'errors')
  const skipped = count(head, 'skipped')
  // Those of files are not nested in others.
  const suites = [...report.matchAll(/^  <testsuite name="[^"]*" file="([^"]*)"[^>]*>/gm)]
  return {
    counts: { passed: count(head, 'tests') - failed - skipped, failed, skipped },
    reported: new Set(suites.map(([, file]) => file!)),
    failed: suites.filter(([element]) => count(element, 'failures') + count(element, 'errors') > 0).map(([, file]) => file!),
  }
}
