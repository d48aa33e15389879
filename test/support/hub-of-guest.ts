import { join } from 'node:path'
import { SQL } from 'bun'
import { call, fullToken, installation, startHub, type HubProcess, type Installation } from './binary'
import { DebianGuest } from './debian-guest'
import { freePort } from './free-port'

/** A guest that can be given a network. */
interface Guest {
  /** Runs a shell script in it. @returns what it prints, without white space at the end @throws Error */
  run(script: string): Promise<string>
  /** Gives it an address. @returns the address at which it reaches this machine */
  connect(): Promise<string>
  stop(): Promise<void>
}

/** A compiled hub, and a guest that reaches it. */
export class HubOfGuest<G extends Guest = DebianGuest> {
  private constructor(
    readonly guest: G,
    private running: HubProcess,
    private readonly here: Installation,
    private readonly startHub: () => Promise<HubProcess>,
    private readonly token: string,
    private readonly resolver: EmptyResolver,
  ) {}

  /** With a guest that runs Debian and systemd. @param program of the hub, if it is not the one in dist/ */
  static async start(program?: string): Promise<HubOfGuest> {
    return await HubOfGuest.of(await DebianGuest.start(), program)
  }

  static async of<G extends Guest>(guest: G, program?: string): Promise<HubOfGuest<G>> {
    const resolver = await emptyResolver()
    try {
      const listen = `${await guest.connect()}:${await freePort()}`
      const here = await installation()
      const env = { BAILIWICK_BASE_URL: `http://${listen}`, BAILIWICK_DNS_RESOLVERS: `127.0.0.1:${resolver.port}` }
      const start = () => startHub(here, { env, args: ['--listen', listen], program })
      return new HubOfGuest(guest, await start(), here, start, await fullToken(here), resolver)
    } catch (error) {
      resolver.close()
      await guest.stop()
      throw error
    }
  }

  get hub(): HubProcess {
    return this.running
  }

  /** Stops the hub. @returns a function that starts it again, at the same address */
  async stopHub(): Promise<() => Promise<void>> {
    await this.running[Symbol.asyncDispose]()
    return async () => {
      this.running = await this.startHub()
    }
  }

  /** Sends a request with full access. @returns the body of the response */
  async api(method: string, path: string, body?: unknown): Promise<any> {
    return (await call(this.hub, this.token, method, path, body)).body
  }

  /** Runs a statement in the database of the hub. */
  async execute(statement: string): Promise<void> {
    const { BAILIWICK_DATABASE_URL: url } = this.here.env
    await using database = new SQL(url ?? `sqlite://${join(this.here.folder, 'bailiwick.db')}`)
    // The hub may be writing.
    if (!url) await database.unsafe('pragma busy_timeout = 10000')
    await database.unsafe(statement)
  }

  /** Runs a command that the hub returned in the guest, whose user is root already. @returns what it prints */
  paste(text: string): Promise<string> {
    return this.guest.run(`{ ${text.replace('sudo sh', 'sh')}; } 2>&1`)
  }

  async stop(): Promise<void> {
    await this.hub[Symbol.asyncDispose]()
    await this.here[Symbol.asyncDispose]()
    this.resolver.close()
    await this.guest.stop()
  }
}

/**
 * A resolver for which no name exists. A hub whose resolvers do not respond discards the results of its checks.
 */
const emptyResolver = () =>
  Bun.udpSocket({
    hostname: '127.0.0.1',
    socket: {
      data(socket, query, port, address) {
        if (query.length < 12) return
        const answer = Buffer.from(query)
        // A response with recursion, and the RCODE NXDOMAIN (RFC 1035, 4.1.1).
        answer.writeUInt16BE(0x8183, 2)
        socket.send(answer, port, address)
      },
    },
  })
type EmptyResolver = Awaited<ReturnType<typeof emptyResolver>>
