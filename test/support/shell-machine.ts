import type { X509Certificate } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { shellAgent } from '../../src/features/servers/agents/shell/shell-agent'
import { until } from './binary'

/** Time of the hub when a machine is started (ms UTC), at the start of a minute, and how long the machine was up then (s). */
const startMs = 1_795_770_000_000
const bootedS = 1000

/**
 * Replaces the time and the counters of the kernel: a pause of the agent is over at once, until a test wants it to wait. Only its last
 * words, and requests that are not answered, take real time.
 */
const simulated = `
date() { cat "$root/now"; }
response_s=0.7
pause() {
  if [ "$1" = $response_s ]; then
    sleep "$1" &
    sleeper=$!
    wait "$sleeper"
    return
  fi
  while :; do
    read -r elapsed <"$root/elapsed"
    read -r limit <"$root/limit"
    [ $((elapsed + $1)) -gt "$limit" ] || break
    echo "$limit" >"$root/waiting"
    sleep 0.02
  done
  tick $((elapsed + $1))
}
tick() {
  echo "$(($1 + ${bootedS})).25 1.00" >"$root/proc/uptime"
  echo "cpu $((20 * $1)) $(($1)) $((4 * $1)) $((70 * $1)) $((2 * $1)) 0 $(($1)) $((2 * $1)) 0 0" >"$root/proc/stat"
  echo "  eth0:$((5000000000 + 1500 * $1)) $((3 * $1)) 0 0 0 0 0 0 $((500 * $1)) $((2 * $1)) 0 $1 0 0 0 0" >"$root/proc/net/eth0"
  cat "$root/proc/net/start" "$root/proc/net/eth0" >"$root/proc/net/dev"
  read -r skew <"$root/skew"
  echo $((${startMs / 1000} + $1 + skew)) >"$root/now"
  echo "$1" >"$root/elapsed"
}
`

/** `/proc/PID/stat` of a process that started this long after the kernel (s). */
const statOf = (startedS: number) => `1 (a) b) S ${'0 '.repeat(18)}${startedS * 100} 0 0\n`

const files: Record<string, string> = {
  elapsed: '0\n',
  limit: '0\n',
  skew: '0\n',
  'etc/machine-id': '0123456789abcdef0123456789abcdef\n',
  'etc/os-release': 'PRETTY_NAME="OpenWrt 24.10.2"\nID="openwrt"\nVERSION_ID="24.10.2"\n',
  'proc/uptime': `${bootedS}.25 1.00\n`,
  // A container that booted after its host, whose uptime it sees.
  'proc/1/stat': statOf(600),
  'proc/self/stat': statOf(bootedS),
  'proc/stat': 'cpu 0 0 0 0 0 0 0 0 0 0\nbtime 1795769000\n',
  'proc/loadavg': '0.50 0.25 0.10 1/90 4711\n',
  'proc/meminfo':
    'MemTotal: 100000 kB\nMemFree: 20000 kB\nMemAvailable: 60000 kB\nBuffers: 1000 kB\nCached: 30000 kB\nSwapTotal: 5000 kB\nSwapFree: 4000 kB\nSReclaimable: 2000 kB\n',
  'proc/cpuinfo': 'system type\t: MediaTek MT7621\nmachine\t\t: A "small" router\nprocessor\t: 0\nprocessor\t: 1\n',
  'proc/net/start': 'Inter-|\n face |\n    lo: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n br0: 9 9 0 0 0 0 0 0 9 9 0 0 0 0 0 0\n',
  'proc/self/mountinfo':
    '20 1 0:16 / / rw - overlay overlayfs:/overlay rw\n21 1 0:15 / /proc rw - proc proc rw\n22 1 31:6 / /overlay rw - jffs2 /dev/mtdblock6 rw\n',
  'proc/sys/kernel/hostname': 'router\n',
  'proc/sys/kernel/osrelease': '6.6.93\n',
  'proc/sys/kernel/random/boot_id': '3f0c1d2e-8a77-4a5e-9a55-0d1c7a1d3b1f\n',
  'sys/class/net/eth0/address': '02:00:00:00:00:01\n',
  'sys/class/net/br0/bridge/x': '',
  'sys/class/net/lo/address': '00:00:00:00:00:00\n',
}

/** A small machine with the shell agent, whose time a test decides. */
export class ShellMachine implements Disposable {
  readonly root = mkdtempSync(join(tmpdir(), 'bailiwick-shell-'))
  private readonly script = join(this.root, 'agent.sh')
  private run: Bun.Subprocess<'ignore', 'pipe', 'pipe'> | null = null

  readonly env: Record<string, string>

  /**
   * @param shell the command of the shell
   * @param env of the agent
   * @param changes lines of the script, for limits
   * @param certificate of the hub
   */
  constructor(
    private readonly shell: readonly string[],
    env: Record<string, string>,
    private readonly changes = '',
    certificate: X509Certificate | null = null,
  ) {
    this.env = { ...env, BAILIWICK_ROOT: this.root }
    for (const [name, text] of Object.entries(files)) this.write(name, text)
    this.write('now', `${startMs / 1000}\n`)
    this.write('proc/net/dev', files['proc/net/start']!)
    this.download(certificate)
  }

  /** Replaces the script. @param certificate of the hub that gives it out, if no certificate authority confirms it */
  download(certificate: X509Certificate | null): void {
    const [functions, main] = shellAgent(certificate).split('\ncase ${1-} in\n')
    writeFileSync(this.script, `${functions}\n${simulated}\n${this.changes}\ncase \${1-} in\n${main}`)
  }

  write(name: string, text: string): void {
    const path = join(this.root, name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }

  read = (name: string): string => readFileSync(join(this.root, name), 'utf8')

  /** Files of the agent that wait to be sent. */
  get spool(): string[] {
    const isRouter = existsSync(join(this.root, 'etc/openwrt_release'))
    const folder = join(this.root, isRouter ? 'var/run/bailiwick-agent-shell/spool' : 'var/lib/bailiwick-agent-shell')
    return existsSync(folder) ? readdirSync(folder).filter(name => name !== 'dropped') : []
  }

  /** Seconds since the machine was started. */
  get elapsed(): number {
    return Number(this.read('elapsed'))
  }

  /** Time of the hub (ms UTC). The agent’s clock has only seconds, whose middle it reports. */
  now = (): number => startMs + this.elapsed * 1000 + 500

  /** Start of a minute since the machine was started. */
  minute = (number: number): number => startMs + number * 60_000

  /** The clock of the machine is wrong by this. */
  skew(seconds: number): void {
    this.write('skew', `${seconds}\n`)
    this.write('now', `${startMs / 1000 + this.elapsed + seconds}\n`)
  }

  /** Runs a command of the agent. */
  async command(...args: string[]): Promise<{ code: number; err: string }> {
    const run = this.spawn(args)
    return { code: await run.exited, err: await new Response(run.stderr).text() }
  }

  /** Starts the service, which then waits. */
  async start(): Promise<void> {
    const run = (this.run = this.spawn(['run']))
    await this.advanceTo(this.elapsed)
    if (run.exitCode !== null) throw new Error(await new Response(run.stderr).text())
  }

  /** Lets the service run until this time (seconds since the machine was started). */
  async advanceTo(seconds: number): Promise<void> {
    this.write('limit', `${seconds}\n`)
    const isThere = () => existsSync(join(this.root, 'waiting')) && this.read('waiting') === `${seconds}\n`
    await until(`second ${seconds}`, async () => isThere() || this.run!.exitCode !== null, 60_000)
  }

  /** Ends the service. @returns its exit code, and what it logged */
  async stop(signal: 'SIGTERM' | 'SIGKILL' | null = 'SIGTERM'): Promise<{ code: number; err: string }> {
    const run = this.run!
    if (signal) run.kill(signal)
    const code = await run.exited
    return { code, err: await new Response(run.stderr).text() }
  }

  [Symbol.dispose](): void {
    this.run?.kill('SIGKILL')
    rmSync(this.root, { recursive: true, force: true })
  }

  private spawn(args: readonly string[]) {
    return Bun.spawn([...this.shell, this.script, ...args], { env: this.env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  }
}
