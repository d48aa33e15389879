import { systemClock, type Clock } from '../../core/clock'

const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Why a program has no result: it isn’t installed, took too long, or printed too much. */
type NoResult = 'missing' | 'timeout' | 'too_long'

/**
 * Runs a program of the system and returns its output, whatever its exit status. A program that doesn’t end is killed, and not waited
 * for: a process that waits for a broken disk can’t be killed.
 */
export async function runProgram(
  [program, ...args]: readonly [string, ...string[]],
  {
    timeoutMs,
    maxBytes,
    environment = {},
    clock = systemClock,
  }: { timeoutMs: number; maxBytes: number; environment?: Readonly<Record<string, string>>; clock?: Clock },
): Promise<{ code: number; out: string } | NoResult> {
  const file = Bun.which(program, { PATH: path })
  if (file === null) return 'missing'
  let run
  try {
    run = Bun.spawn([file, ...args], {
      env: { PATH: path, LC_ALL: 'C', ...environment },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'ignore',
    })
  } catch {
    return 'missing'
  }
  const late = Promise.withResolvers<'timeout'>()
  const timer = clock.after(timeoutMs, () => late.resolve('timeout'))
  try {
    return await Promise.race([late.promise, output(run, maxBytes)])
  } finally {
    timer.cancel()
    run.kill('SIGKILL')
    run.unref()
  }
}

async function output(
  run: Bun.Subprocess<'ignore', 'pipe', 'ignore'>,
  maxBytes: number,
): Promise<{ code: number; out: string } | 'too_long'> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of run.stdout) {
    chunks.push(chunk)
    if ((bytes += chunk.length) > maxBytes) return 'too_long'
  }
  return { out: Buffer.concat(chunks).toString('utf8'), code: await run.exited }
}
