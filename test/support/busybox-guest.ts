import { until } from './binary'
import { IncusServer } from './clouds/incus-server'

/** A guest of Incus in which there is nothing but BusyBox, in a network of its own. */
export class BusyboxGuest {
  private constructor(private readonly incus: IncusServer) {}

  static async start(): Promise<BusyboxGuest> {
    const incus = await IncusServer.start('incus')
    try {
      await incus.cli('launch', 'one', 'guest')
      return new BusyboxGuest(incus)
    } catch (error) {
      await incus.stop()
      throw error
    }
  }

  /** Runs a shell script in it. @returns what it prints, without white space at the end @throws Error */
  async run(script: string): Promise<string> {
    return (await this.incus.cli('exec', 'guest', '--', '/bin/busybox', 'sh', '-ec', script)).trimEnd()
  }

  /** Mounts a folder of this machine in it. */
  async mount(folder: string, path: string): Promise<void> {
    await this.incus.cli('config', 'device', 'add', 'guest', 'folder', 'disk', `source=${folder}`, `path=${path}`)
  }

  /** Starts it again, at once. */
  async restart(): Promise<void> {
    await this.incus.cli('restart', 'guest', '--force')
    await this.connect()
  }

  /** Waits until it has an address. @returns the address of this machine */
  async connect(): Promise<string> {
    await until('a route', async () => (await this.run('ip route').catch(() => '')).includes('default'), 120_000)
    return this.incus.addressOfThisMachine
  }

  async stop(): Promise<void> {
    await this.incus.stop()
  }
}
