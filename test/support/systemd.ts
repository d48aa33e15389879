import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** Prepares the files and starts systemd as the first process of its namespaces. Changes are written to memory. */
const boot = `
mount -t tmpfs tmpfs "$1"
mkdir "$1/changes" "$1/work" "$1/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$1/changes,workdir=$1/work" "$1/root"
cd "$1/root"
rm -f .dockerenv
mount -t proc proc proc
mount -t sysfs sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount --bind /dev dev
mount -t tmpfs tmpfs run
mount -t tmpfs tmpfs tmp
shift
for folder; do
  mkdir -p "./$folder"
  mount --bind "$folder" "./$folder"
done
printf '[Unit]\\nDescription=Test\\n' > etc/systemd/system/test.target
exec chroot . env -i container=lxc PATH=/usr/sbin:/usr/bin:/sbin:/bin /lib/systemd/systemd --system --unit=test.target
`

/** A server that systemd manages, with the files of this machine. It ends with this process. */
export class Systemd {
  private constructor(
    private readonly holder: Bun.Subprocess<'ignore', 'ignore', 'ignore'>,
    private readonly folder: string,
    private readonly pid: string,
  ) {}

  static async start(): Promise<Systemd> {
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-systemd-'))
    const namespaces = ['--pid', '--kill-child', '--fork', '--mount', '--cgroup', '--uts', '--ipc', '--net']
    const command = [
      'setpriv',
      '--pdeathsig',
      'KILL',
      'unshare',
      ...namespaces,
      'sh',
      '-ec',
      boot,
      'boot',
      folder,
      process.cwd(),
      dirname(process.execPath),
    ]
    const holder = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'ignore' })
    const deadline = performance.now() + 20_000
    for (;;) {
      const pid = Bun.spawnSync(['pgrep', '-P', String(holder.pid)])
        .stdout.toString()
        .trim()
      const system = pid && new Systemd(holder, folder, pid)
      // Its state is "running" once the target is reached, and "degraded" if a unit has failed.
      if (system && /^(running|degraded)$/m.test(system.run('systemctl is-system-running || true'))) return system
      if (performance.now() > deadline || holder.exitCode !== null) throw new Error('systemd does not start')
      await Bun.sleep(50)
    }
  }

  /** Runs a shell script on the server. @returns the output, also if it fails */
  run(script: string): string {
    return Bun.spawnSync(['nsenter', '-t', this.pid, '-a', '-r', '-w', 'sh', '-c', script], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin' },
      stderr: 'ignore',
    }).stdout.toString()
  }

  async end(): Promise<void> {
    this.holder.kill('SIGKILL')
    await this.holder.exited
    rmSync(this.folder, { recursive: true, force: true })
  }
}
