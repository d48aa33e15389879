import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { until } from './binary'
import { IncusServer } from './clouds/incus-server'
import { debianImage } from './debian-image'

/** A guest of Incus with Debian and systemd, in a network of its own. */
export class DebianGuest {
  private constructor(private readonly incus: IncusServer) {}

  /** Starts one. @throws Error if its image is missing: test/real/install.ts builds it */
  static async start(): Promise<DebianGuest> {
    if (!existsSync(debianImage)) throw new Error(`${debianImage} is missing. To build it: bun test/real/install.ts`)
    const incus = await IncusServer.start('incus')
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-debian-'))
    try {
      const metadata = join(folder, 'metadata.tar')
      const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
      writeFileSync(join(folder, 'metadata.yaml'), JSON.stringify({ architecture, creation_date: 1_700_000_000, properties: {} }))
      command('tar', '-C', folder, '-cf', metadata, 'metadata.yaml')
      await incus.cli('image', 'import', metadata, debianImage, '--alias', 'debian')
      await incus.cli('launch', 'debian', 'guest')
      const guest = new DebianGuest(incus)
      await guest.booted()
      return guest
    } catch (error) {
      await incus.stop()
      throw error
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  /** Runs a shell script in it. @returns what it prints, without white space at the end @throws Error */
  async run(script: string): Promise<string> {
    return (await this.incus.cli('exec', 'guest', '--', 'sh', '-ec', script)).trimEnd()
  }

  /** Copies a file of this machine into it. */
  async copy(from: string, to: string, mode = '0755'): Promise<void> {
    await this.incus.cli('file', 'push', from, `guest${to}`, '--mode', mode, '--uid', '0', '--gid', '0', '--create-dirs')
  }

  /** Writes a file in it. */
  async write(path: string, text: string): Promise<void> {
    const folder = mkdtempSync(join(tmpdir(), 'bailiwick-debian-'))
    try {
      writeFileSync(join(folder, 'file'), text)
      await this.copy(join(folder, 'file'), path, '0644')
    } finally {
      rmSync(folder, { recursive: true })
    }
  }

  /** Waits until systemd has started everything. @param after when the last boot was, if it is to be another one @returns when it booted */
  async booted(after: string | null = null): Promise<string> {
    let at = ''
    await until('the guest has booted', async () => {
      try {
        const state = await this.run('systemctl is-system-running || true')
        at = await this.run('systemctl show -p UserspaceTimestampMonotonic')
        return (state === 'running' || state === 'degraded') && at !== after
      } catch {
        // It is about to restart.
        return false
      }
    })
    return at
  }

  /** Cuts its power, and switches it on again. Returns when it has booted. */
  async cutPower(): Promise<void> {
    const before = await this.booted()
    await this.incus.cli('stop', '--force', 'guest')
    await this.incus.cli('start', 'guest')
    await this.booted(before)
  }

  /** Gives it an address in a network from which it reaches this machine. @returns the address of this machine */
  async connect(): Promise<string> {
    const commands = ['ip address add 10.87.0.2/24 dev eth0', 'ip link set eth0 up', 'ip route add default via 10.87.0.1']
    await this.write(
      '/etc/systemd/system/test-network.service',
      `[Unit]\nBefore=network-online.target\n[Service]\nType=oneshot\nRemainAfterExit=yes\n${commands.map(one => `ExecStart=${one}\n`).join('')}[Install]\nWantedBy=multi-user.target\n`,
    )
    await this.run('systemctl daemon-reload; systemctl enable --quiet --now test-network.service')
    return this.incus.addressOfThisMachine
  }

  async stop(): Promise<void> {
    await this.incus.stop()
  }
}

function command(...args: string[]): void {
  const { success, stderr } = Bun.spawnSync(args)
  if (!success) throw new Error(`${args.join(' ')}: ${stderr}`)
}
