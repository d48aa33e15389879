import { maxOutputBytes } from '../../wire/agent-command'

/** The result of a program. */
interface Outcome {
  isSuccess: boolean
  /** What it printed. */
  output: string
}

/** What the root half does to the server. Tests do it in a network of their own. */
export interface System {
  /** Runs a program. It is stopped after `timeoutMs`. `withoutJit`: it is an agent, under the restrictions of a unit. */
  run(args: string[], options?: { input?: string; timeoutMs?: number; withoutJit?: boolean }): Promise<Outcome>
  /** Runs a program after some seconds, also if the agent or the root half are gone by then, but not after a restart. */
  startTimer(name: string, seconds: number, args: string[]): Promise<Outcome>
  /** Stops a timer, and its program if it runs already. Does nothing if there is none. */
  stopTimer(name: string): Promise<void>
}

const standardTimeoutMs = 30_000
const environment = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C' }

/** The server that it runs on, with systemd. */
export const systemd: System = {
  async run(args, { input, timeoutMs = standardTimeoutMs, withoutJit = false } = {}) {
    let child
    try {
      child = Bun.spawn(args, {
        env: withoutJit ? { ...environment, BUN_JSC_useJIT: '0' } : environment,
        stdin: input === undefined ? 'ignore' : new TextEncoder().encode(input),
        stdout: 'pipe',
        stderr: 'pipe',
        timeout: timeoutMs,
        killSignal: 'SIGKILL',
      })
    } catch (error) {
      return { isSuccess: false, output: `${args[0]} can’t be run: ${(error as Error).message}` }
    }
    const [printed, failed, code] = await Promise.all([read(child.stdout), read(child.stderr), child.exited])
    const output = `${printed}${failed}`.trim().slice(0, maxOutputBytes / 4)
    const isStopped = child.signalCode === 'SIGKILL'
    return { isSuccess: code === 0, output: isStopped ? `${args[0]} was stopped after ${timeoutMs / 1000} seconds.` : output }
  },
  // Timers of systemd are a minute late by default.
  startTimer: (name, seconds, args) =>
    systemd.run([
      ...[
        'systemd-run',
        `--unit=${name}`,
        `--on-active=${seconds}`,
        '--timer-property=AccuracySec=100ms',
        '--collect',
        '--quiet',
      ],
      ...args,
    ]),
  async stopTimer(name) {
    await systemd.run(['systemctl', 'stop', '--quiet', `${name}.timer`, `${name}.service`])
  },
}

/** Reads what a program prints, and keeps the beginning. */
async function read(stream: ReadableStream<Uint8Array>): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  for await (const chunk of stream) if (text.length < maxOutputBytes) text += decoder.decode(chunk, { stream: true })
  return text
}
