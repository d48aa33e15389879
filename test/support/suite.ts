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

/**
 * Runs test files from one queue, slowest first, in several processes with their own hubs, databases, and ports.
 * The counts are those of Bun's JUnit report.
 */
export async function runTests(files: string[], env: Record<string, string> = {}, processes = 2): Promise<Counts> {
  if (files.length === 0) return noCounts
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
    const counts = readCounts(report)
    // A file that cannot be loaded and a process that crashes show in the exit code alone.
    return !passed && counts.failed === 0 ? { ...counts, failed: 1 } : counts
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

function readCounts(report: string): Counts {
  let head: string
  try {
    head = /<testsuites\b[^>]*>/.exec(readFileSync(report, 'utf8'))?.[0] ?? ''
  } catch {
    return noCounts
  }
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? 0)
  const failed = count('failures') + count('errors')
  const skipped = count('skipped')
  return { passed: count('tests') - failed - skipped, failed, skipped }
}
