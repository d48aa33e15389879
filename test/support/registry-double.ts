import { createServer, type AddressInfo, type Server, type Socket } from 'node:net'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A name as the registry knows it. Dates are ISO 8601. */
export interface RegisteredName {
  expires?: string
  /** In the words of RDAP. */
  statuses?: string[]
  /** When it ends according to its registrar, which has an RDAP server of its own. */
  registrarExpires?: string
  /** Default: 2020-01-01T00:00:00Z. */
  registered?: string
  /** Name of its registrar, whose double lists it. */
  registrar?: string
  nameservers?: string[]
}

export const defaultRegistered = '2020-01-01T00:00:00Z'

type HttpAnswer = (url: URL) => Response | Promise<Response>

/**
 * A registry with two doors on free local ports: RDAP (RFC 9083) for `com`, `net`, and `org`, with a bootstrap file and the RDAP server of a
 * registrar, and WHOIS (RFC 3912) in the form of DENIC for `de`, and of ICANN for all others. Doubles of registrars sell and list the same
 * names.
 */
export class RegistryDouble {
  readonly names = new Map<string, RegisteredName>()
  /** Names that were asked for, in order: `rdap example.com`, `registrar example.com`, `whois example.de`. */
  readonly asked: string[] = []
  /** Replaces the answers of the RDAP door. */
  rdapAnswer: HttpAnswer | null = null
  /** Replaces the answers of the WHOIS door. */
  whoisAnswer: ((socket: Socket, query: string) => void) | null = null
  /** The headers of the last request. */
  lastHeaders = new Headers()
  bootstrap = { version: '1.0', publication: '2026-11-20T00:00:00Z', services: [] as unknown[] }

  readonly #web: Bun.Server<undefined>
  readonly #whois: Server
  readonly #sockets = new Set<Socket>()
  readonly #folder = mkdtempSync(join(tmpdir(), 'bailiwick-registry-'))

  private constructor(whois: Server) {
    this.#whois = whois
    this.#web = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: request => this.#answer(request) })
  }

  static async start(): Promise<RegistryDouble> {
    const { promise, resolve } = Promise.withResolvers<RegistryDouble>()
    const server = createServer(socket => void promise.then(double => double.#talk(socket)))
    server.listen(0, '127.0.0.1', () => resolve(new RegistryDouble(server)))
    return await promise
  }

  stop(): void {
    void this.#web.stop(true)
    this.#whois.close()
    for (const socket of this.#sockets) socket.destroy()
    rmSync(this.#folder, { recursive: true, force: true })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#web.port}`
  }
  get whoisPort(): number {
    return (this.#whois.address() as AddressInfo).port
  }
  get rdapServer(): string {
    return `rdap:127.0.0.1:${this.#web.port}`
  }
  get whoisServer(): string {
    return `whois:127.0.0.1:${this.whoisPort}`
  }

  /** Settings of a hub that queries this registry. @param more members of the registry file */
  settings(more: object = {}): Record<string, string> {
    const file = join(this.#folder, `${crypto.randomUUID()}.json`)
    const sources = [
      { tlds: ['com', 'net'], kind: 'rdap', url: `${this.url}/registry/` },
      { tlds: ['de', 'io'], kind: 'whois', host: '127.0.0.1', port: this.whoisPort },
    ]
    writeFileSync(file, JSON.stringify({ sources, canaries: { io: 'nic.io' }, ...more }))
    return {
      BAILIWICK_REGISTRY_FILE: file,
      BAILIWICK_RDAP_BOOTSTRAP_URL: `${this.url}/bootstrap.json`,
      BAILIWICK_CONTACT: 'ops@example.com',
    }
  }

  /** The RDAP object of a name. */
  domain(name: string, known: RegisteredName): object {
    const { expires, statuses = ['active'], registered = defaultRegistered } = known
    const { registrar = 'Example Registrar', nameservers = ['ns1.example.net'] } = known
    return {
      rdapConformance: ['rdap_level_0', 'icann_rdap_response_profile_1'],
      objectClassName: 'domain',
      handle: 'D1-DBL',
      ldhName: name.toUpperCase(),
      status: statuses,
      events: [
        { eventAction: 'registration', eventDate: registered },
        ...(expires === undefined ? [] : [{ eventAction: 'expiration', eventDate: expires }]),
        { eventAction: 'last update of RDAP database', eventDate: '2026-11-21T00:00:00Z' },
      ],
      entities: [
        {
          objectClassName: 'entity',
          handle: '376',
          roles: ['registrar'],
          publicIds: [{ type: 'IANA Registrar ID', identifier: '376' }],
          vcardArray: [
            'vcard',
            [
              ['version', {}, 'text', '4.0'],
              ['fn', {}, 'text', registrar],
            ],
          ],
        },
      ],
      nameservers: nameservers.map(one => ({ objectClassName: 'nameserver', ldhName: one.toUpperCase() })),
      secureDNS: { delegationSigned: false },
      links: [{ rel: 'related', type: 'application/rdap+json', href: `${this.url}/registrar/domain/${name}` }],
    }
  }

  async #answer(request: Request): Promise<Response> {
    const url = new URL(request.url)
    this.lastHeaders = request.headers
    if (url.pathname === '/bootstrap.json') return this.#bootstrapAnswer(request)
    const [, door, text] = /^\/(registry|registrar)\/domain\/([^/]+)$/.exec(url.pathname) ?? []
    if (!door) return rdap({ errorCode: 404 }, 404)
    const name = decodeURIComponent(text!).toLowerCase()
    this.asked.push(`${door === 'registry' ? 'rdap' : door} ${name}`)
    if (this.rdapAnswer) return await this.rdapAnswer(url)
    const known = this.names.get(name)
    if (!known) return rdap({ errorCode: 404, title: 'Not found' }, 404)
    if (door === 'registry') return rdap(this.domain(name, known))
    const domain = this.domain(name, known) as { events: object[] }
    if (known.registrarExpires) domain.events.push({ eventAction: 'registrar expiration', eventDate: known.registrarExpires })
    return rdap(domain)
  }

  #bootstrapAnswer(request: Request): Response {
    const body = JSON.stringify(this.bootstrap)
    const etag = `"${Bun.hash(body).toString(16)}"`
    if (request.headers.get('if-none-match') === etag) return new Response(null, { status: 304, headers: { etag } })
    return new Response(body, { headers: { 'content-type': 'application/json', etag } })
  }

  #talk(socket: Socket): void {
    this.#sockets.add(socket)
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    let text = ''
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      if (!text.includes('\n')) return
      const query = text.trim()
      text = ''
      const name = query.split(' ').at(-1)!.toLowerCase()
      this.asked.push(`whois ${name}`)
      if (this.whoisAnswer) return this.whoisAnswer(socket, query)
      socket.end(this.#whoisText(name))
    })
  }

  #whoisText(name: string): string {
    const known = this.names.get(name)
    if (name.endsWith('.de'))
      return `Domain: ${name}\r\n${known ? 'Nserver: ns1.example.net\r\nStatus: connect' : 'Status: free'}\r\n`
    if (!known) return `Domain not found.\r\n>>> Last update of WHOIS database: 2026-11-20T10:00:00Z <<<\r\n`
    const { expires, statuses = ['active'], registered = defaultRegistered } = known
    const { registrar = 'Example Registrar', nameservers = ['ns1.example.net'] } = known
    return [
      `Domain Name: ${name.toUpperCase()}`,
      ...(expires === undefined ? [] : [`Registry Expiry Date: ${expires}`]),
      `Creation Date: ${registered}`,
      ...statuses.map(status => `Domain Status: ${status}`),
      `Registrar: ${registrar}`,
      ...nameservers.map(one => `Name Server: ${one.toUpperCase()}`),
      '',
    ].join('\r\n')
  }
}

/** An RDAP response. */
export const rdap = (body: object, status = 200, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/rdap+json', ...headers } })
