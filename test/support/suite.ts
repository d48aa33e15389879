import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** How many tests of a run passed, failed and were skipped. */
export interface Counts {
  passed: number
  failed: number
  skipped: number
}

/** Test files below these folders, without those below the ones left out; sorted, so that every machine runs them in one order. */
export function testFiles(folders: string[], without: string[] = []): string[] {
  return folders
    .flatMap(folder => [...new Bun.Glob(`${folder}/**/*.test.ts`).scanSync('.')])
    .filter(file => !without.some(folder => file.startsWith(`${folder}/`)))
    .sort()
}

/** Files divided among as many processes. */
export const divided = (files: string[], processes: number): string[][] =>
  Array.from({ length: processes }, (_, share) => files.filter((_, at) => at % processes === share))

/**
 * Runs test files with bun; the counts are those of its JUnit report.
 * @param shares one a process; what the first says is shown as it comes, the others are heard after it
 */
export async function runTests(shares: string[][], env: Record<string, string> = {}, args: string[] = []): Promise<Counts> {
  const runs = shares.filter(own => own.length > 0).map((own, at) => runShare(own, env, args, at === 0))
  const counts: Counts[] = []
  for (const run of runs) {
    const { told, ...own } = await run
    await say(told)
    counts.push(own)
  }
  return counts.reduce(add, { passed: 0, failed: 0, skipped: 0 })
}

async function runShare(
  files: string[],
  env: Record<string, string>,
  args: string[],
  isShown: boolean,
): Promise<Counts & { told: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-report-'))
  const report = join(folder, 'junit.xml')
  const log = join(folder, 'log')
  try {
    const run = Bun.spawn(
      [process.execPath, 'test', '--reporter=junit', `--reporter-outfile=${report}`, ...args, ...files.map(file => `./${file}`)],
      {
        env: { ...process.env, ...env },
        stdin: 'ignore',
        stdout: isShown ? 'inherit' : Bun.file(log),
        stderr: isShown ? 'inherit' : Bun.file(`${log}-errors`),
      },
    )
    const exitCode = await run.exited
    const counts = readCounts(report)
    // A file that cannot be loaded, or a crash, is in the exit code alone.
    if (exitCode !== 0 && counts.failed === 0) counts.failed = 1
    const told = isShown ? '' : readFileSync(log, 'utf8') + readFileSync(`${log}-errors`, 'utf8')
    return { ...counts, told }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Writes to the output and waits until it is taken: what is still on its way into a pipe is lost when the process exits. */
export const say = (text: string): Promise<void> => new Promise(taken => process.stdout.write(text, () => taken()))

/** The closing line of a run. */
export const closingLine = ({ passed, failed, skipped }: Counts): string =>
  `${passed} passed, ${failed} failed, ${skipped} skipped`

export const add = (a: Counts, b: Counts): Counts => ({
  passed: a.passed + b.passed,
  failed: a.failed + b.failed,
  skipped: a.skipped + b.skipped,
})

/** Runs a command with its output shown. True when it ended well. */
export async function runs(command: string[], env: Record<string, string> = {}): Promise<boolean> {
  return (
    (await Bun.spawn(command, { env: { ...process.env, ...env }, stdin: 'ignore', stdout: 'inherit', stderr: 'inherit' })
      .exited) === 0
  )
}

function readCounts(report: string): Counts {
  let head: string
  try {
    head = /<testsuites\b[^>]*>/.exec(readFileSync(report, 'utf8'))?.[0] ?? ''
  } catch {
    return { passed: 0, failed: 0, skipped: 0 }
  }
  const count = (name: string) => Number(new RegExp(`\\b${name}="(\\d+)"`).exec(head)?.[1] ?? 0)
  const failed = count('failures') + count('errors')
  const skipped = count('skipped')
  return { passed: count('tests') - failed - skipped, failed, skipped }
}
