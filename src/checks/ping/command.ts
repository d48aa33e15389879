import { CheckFailed } from '../connect-failure'
import { inTurn } from '../in-turn'
import type { PingReport, PingSeries, PingWay } from './series'

// A program for each check is much: so many at once.
const mostAtOnce = 16
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const mostOutput = 65_536
// Without privileges, that of iputils takes no less.
const leastGapMs = 200

/** The program ping(8) of this machine, which may be allowed what this program is not; null where there is none that works. */
export function pingCommand(): PingWay | null {
  const program = Bun.which('ping', { PATH: path })
  if (!program) return null
  if (!works(program)) return null
  const run = inTurn(mostAtOnce, (given: { series: PingSeries; signal: AbortSignal }) =>
    pinged(program, given.series, given.signal),
  )
  return { by: 'ping_command', run: (series, signal) => run({ series, signal }) }
}

/** What a run of ping(8) printed, of iputils or BusyBox. */
export function pingReport(output: string, count: number): PingReport {
  const times = [...output.matchAll(/\btime[=<]([\d.]+) ?ms/g)].map(([, ms]) => Number(ms))
  const error = errors.find(([pattern]) => pattern.test(output))?.[1] ?? null
  return { sent: count, times: times.slice(0, count), error }
}

const errors: readonly [RegExp, string][] = [
  [/message too long|frag(mentation)? needed/i, 'EMSGSIZE'],
  [/net(work is)? unreachable/i, 'ENETUNREACH'],
  [/host unreachable|no route/i, 'EHOSTUNREACH'],
  [/prohibited|filtered/i, 'EACCES'],
  [/not permitted/i, 'EPERM'],
]

function works(program: string): boolean {
  try {
    const words = [program, '-c', '1', '-W', '1', '127.0.0.1']
    return Bun.spawnSync(words, { env: { PATH: path }, stdio: ['ignore', 'ignore', 'ignore'] }).exitCode === 0
  } catch {
    // A program with privileges of its own cannot be started by one that may get none.
    return false
  }
}

async function pinged(program: string, series: PingSeries, signal: AbortSignal): Promise<PingReport> {
  if (signal.aborted) return { sent: 0, times: [], error: null }
  const { address, family, count, gapMs, size, dontFragment, answerWithinMs } = series
  const words = [program, `-${family}`, '-n', '-c', `${count}`, '-i', `${Math.max(gapMs, leastGapMs) / 1000}`, '-s', `${size}`]
  words.push('-W', `${Math.ceil(answerWithinMs / 1000)}`, ...(dontFragment ? ['-M', 'do'] : []), address)
  const run = started(words)
  const stop = () => run.kill('SIGKILL')
  signal.addEventListener('abort', stop, { once: true })
  try {
    const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
    await run.exited
    return pingReport(`${out.slice(0, mostOutput)}\n${err.slice(0, mostOutput)}`, count)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function started(words: string[]) {
  try {
    return Bun.spawn(words, { env: { PATH: path, LC_ALL: 'C' }, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  } catch {
    throw new CheckFailed('internal', 'the program ping could not be started')
  }
}
