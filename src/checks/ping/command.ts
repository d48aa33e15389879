import { CheckFailed } from '../connect-failure'
import { limitConcurrency } from '../concurrency-limit'
import type { PingReport, PingSeries, PingMethod } from './series'

// Each check starts a process, so limit how many run at once.
const maxConcurrent = 16
const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
const maxOutputBytes = 65_536
// Without privileges, iputils ping accepts no shorter interval.
const minIntervalMs = 200

/** ping(8) of this machine, which may have privileges that this program lacks; null if there is none that works. */
export function pingCommand(): PingMethod | null {
  const program = Bun.which('ping', { PATH: path })
  if (!program) return null
  if (!works(program)) return null
  const run = limitConcurrency(maxConcurrent, (request: { series: PingSeries; signal: AbortSignal }) =>
    runPing(program, request.series, request.signal),
  )
  return { name: 'ping_command', run: (series, signal) => run({ series, signal }) }
}

/** Parses the output of ping(8), of iputils or BusyBox. */
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
    const args = [program, '-c', '1', '-W', '1', '127.0.0.1']
    return Bun.spawnSync(args, { env: { PATH: path }, stdio: ['ignore', 'ignore', 'ignore'] }).exitCode === 0
  } catch {
    // A setuid program can't be started by a process that must not gain privileges.
    return false
  }
}

async function runPing(program: string, series: PingSeries, signal: AbortSignal): Promise<PingReport> {
  if (signal.aborted) return { sent: 0, times: [], error: null }
  const { address, family, count, intervalMs, size, dontFragment, replyTimeoutMs } = series
  const args = [
    program,
    `-${family}`,
    '-n',
    '-c',
    `${count}`,
    '-i',
    `${Math.max(intervalMs, minIntervalMs) / 1000}`,
    '-s',
    `${size}`,
  ]
  args.push('-W', `${Math.ceil(replyTimeoutMs / 1000)}`, ...(dontFragment ? ['-M', 'do'] : []), address)
  const run = spawnPing(args)
  const stop = () => run.kill('SIGKILL')
  signal.addEventListener('abort', stop, { once: true })
  try {
    const [out, err] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
    await run.exited
    return pingReport(`${out.slice(0, maxOutputBytes)}\n${err.slice(0, maxOutputBytes)}`, count)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function spawnPing(args: string[]) {
  try {
    return Bun.spawn(args, { env: { PATH: path, LC_ALL: 'C' }, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  } catch {
    throw new CheckFailed('internal', 'the ping program could not be started')
  }
}
