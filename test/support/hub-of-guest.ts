import { call, fullToken, installation, startHub, type HubProcess, type Installation } from './binary'
import { DebianGuest } from './debian-guest'
import { freePort } from './free-port'

/** A compiled hub, and a guest with Debian and systemd that reaches it. */
export class HubOfGuest {
  private constructor(
    readonly guest: DebianGuest,
    readonly hub: HubProcess,
    private readonly here: Installation,
    private readonly token: string,
  ) {}

  /** @param program of the hub, if it is not the one in dist/ */
  static async start(program?: string): Promise<HubOfGuest> {
    const guest = await DebianGuest.start()
    try {
      const listen = `${await guest.connect()}:${await freePort()}`
      const here = await installation()
      const hub = await startHub(here, { env: { BAILIWICK_BASE_URL: `http://${listen}` }, args: ['--listen', listen], program })
      return new HubOfGuest(guest, hub, here, await fullToken(here))
    } catch (error) {
      await guest.stop()
      throw error
    }
  }

  /** Sends a request with full access. @returns the body of the response */
  async api(method: string, path: string, body?: unknown): Promise<any> {
    return (await call(this.hub, this.token, method, path, body)).body
  }

  /** Runs a command that the hub returned in the guest, whose user is root already. @returns what it prints */
  paste(text: string): Promise<string> {
    return this.guest.run(`{ ${text.replace('sudo sh', 'sh')}; } 2>&1`)
  }

  async stop(): Promise<void> {
    await this.hub[Symbol.asyncDispose]()
    await this.here[Symbol.asyncDispose]()
    await this.guest.stop()
  }
}
