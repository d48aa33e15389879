import { createServer, type Server, type TLSSocket } from 'node:tls'
import { childOf, childrenOf, childText, parseXml, xmlText, type XmlElement } from '../../src/adapters/xml'
import { ns } from '../../src/features/registrars/kinds/epp/commands'
import { FrameError, FrameReader, frameOf } from '../../src/features/registrars/kinds/epp/frames'
import { EppRefusal, type EppResult } from './epp-objects'
import { EppRegistry } from './epp-registry'
import { ownCertificate } from './own-certificate'
import type { RegistryDouble } from './registry-double'

/** An account of a registrar. */
interface EppAccount {
  password: string
  /** Id of the registrar. */
  registrar: string
  maxSessions: number
}

/** A command as received. */
interface EppRequest {
  /** Such as `login`, `info`, or `hello`. */
  verb: string
  /** Name that it is about; empty without one. */
  name: string
  message: string
}

/**
 * Simulated failures. A number refuses with that result code. `closed`: processed, then the connection ends without a response; `silent`:
 * processed, but no response ever comes; `cut`: the response ends in the middle; `dropped`: the connection ends before it is processed.
 * `raw`: these octets instead of a response.
 */
export type EppFault = number | 'closed' | 'silent' | 'cut' | 'dropped' | { raw: Uint8Array } | { message: string }

interface Session {
  account: EppAccount | null
  user: string
  failedLogins: number
}

const from = Date.parse('2020-01-01T00:00:00Z')
const until = Date.parse('2099-01-01T00:00:00Z')

/** The EPP door of a registry (RFC 5730 and 5734) on a free local port, with a certificate that no public CA issued. */
export class EppDoor {
  readonly accounts = new Map<string, EppAccount>([
    ['registrar-1', { password: 'first-password', registrar: 'registrar-1', maxSessions: 1 }],
    ['registrar-2', { password: 'other-password', registrar: 'registrar-2', maxSessions: 1 }],
  ])
  readonly certificate = ownCertificate({ names: ['localhost'], from, until, isOwnIssuer: true })
  /** Commands, in order. */
  readonly requests: EppRequest[] = []
  fault: (request: EppRequest) => EppFault | null = () => null
  extensions: string[] = [ns.rgp, ns.secDns, ns.fee]
  /** Replaces the greeting. */
  greeting: (() => string) | null = null
  /** Fingerprint of the client certificate that is required. */
  clientFingerprint: string | null = null
  /** Connections that were accepted. */
  connections = 0
  readonly #server: Server
  readonly #sockets = new Map<TLSSocket, Session>()
  #transactions = 0

  private constructor(readonly registry: EppRegistry) {
    const { pem, key } = this.certificate
    this.#server = createServer({ cert: pem, key, requestCert: true, rejectUnauthorized: false }, socket => this.#serve(socket))
    this.#server.on('tlsClientError', () => {})
  }

  /** @param now ms UTC */
  static async start(registry: RegistryDouble, now: () => number): Promise<EppDoor> {
    const door = new EppDoor(new EppRegistry(registry, now))
    await new Promise<void>(resolve => door.#server.listen(0, '127.0.0.1', resolve))
    return door
  }

  stop(): void {
    this.#server.close()
    this.endSessions()
  }

  /** Closes all connections. */
  endSessions(): void {
    for (const socket of this.#sockets.keys()) socket.destroy()
  }

  get port(): number {
    return (this.#server.address() as { port: number }).port
  }

  /** Users who are logged in. */
  get users(): string[] {
    return [...this.#sockets.values()].filter(one => one.account).map(one => one.user)
  }

  #serve(socket: TLSSocket): void {
    this.connections++
    const session: Session = { account: null, user: '', failedLogins: 0 }
    socket.on('error', () => {}).on('close', () => this.#sockets.delete(socket))
    const fingerprint = new Bun.CryptoHasher('sha256').update(socket.getPeerCertificate()?.raw ?? '').digest('hex')
    if (this.clientFingerprint !== null && fingerprint !== this.clientFingerprint) return void socket.destroy()
    this.#sockets.set(socket, session)
    socket.write(frameOf(this.#greetingMessage()))
    const reader = new FrameReader()
    socket.on('data', (received: Buffer) => {
      try {
        for (const message of reader.push(received)) this.#obey(socket, session, message)
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
        socket.destroy()
      }
    })
  }

  #obey(socket: TLSSocket, session: Session, message: string): void {
    const root = parseXml(message)
    const isHello = childOf(root, 'hello') !== null
    const command = root?.name === 'epp' && root.namespace === ns.epp ? childOf(root, 'command') : null
    const verb = command?.children[0] ?? null
    const request: EppRequest = {
      verb: isHello ? 'hello' : (verb?.name ?? ''),
      name: childText(verb?.children[0], 'name') ?? childText(verb?.children[0], 'id') ?? '',
      message,
    }
    this.requests.push(request)
    const fault = this.fault(request)
    if (fault === 'dropped') return void socket.destroy()
    if (typeof fault === 'object' && fault) return void socket.write('raw' in fault ? fault.raw : frameOf(fault.message))
    if (isHello) return void socket.write(frameOf(this.#greetingMessage()))
    const result = typeof fault === 'number' ? refusal(fault, 'Simulated failure') : this.#result(session, command, verb)
    if (fault === 'closed') return void socket.destroy()
    if (fault === 'silent') return
    const frame = frameOf(this.#responseMessage(result, childText(command, 'clTRID')))
    if (fault === 'cut') return void socket.end(frame.subarray(0, Math.floor(frame.length / 2)))
    if (result.code === 1500 || result.code >= 2500) socket.end(frame)
    else socket.write(frame)
  }

  #result(session: Session, command: XmlElement | null, verb: XmlElement | null): EppResult {
    try {
      if (!command || !verb) throw new EppRefusal(2001, 'Command syntax error')
      if (verb.name === 'login') return this.#login(session, verb)
      if (verb.name === 'logout') return { code: 1500 }
      if (!session.account) throw new EppRefusal(2002, 'Command use error')
      return this.registry.run(session.account.registrar, verb, childOf(command, 'extension'))
    } catch (error) {
      if (!(error instanceof EppRefusal)) throw error
      return refusal(error.code, error.message)
    }
  }

  #login(session: Session, login: XmlElement): EppResult {
    if (session.account) throw new EppRefusal(2002, 'Command use error')
    const user = childText(login, 'clID') ?? ''
    const account = this.accounts.get(user)
    if (!account || account.password !== childText(login, 'pw')) {
      if (++session.failedLogins >= 3) throw new EppRefusal(2501, 'Authentication error; server closing connection')
      throw new EppRefusal(2200, 'Authentication error')
    }
    const services = childOf(login, 'svcs')
    const unknown = [
      ...childrenOf(services, 'objURI').filter(one => ![ns.domain, ns.host, ns.contact].includes(one.text as never)),
      ...childrenOf(childOf(services, 'svcExtension'), 'extURI').filter(one => !this.extensions.includes(one.text)),
    ]
    if (unknown.length > 0) throw new EppRefusal(2307, 'Unimplemented object service')
    if (this.users.filter(one => one === user).length >= account.maxSessions)
      throw new EppRefusal(2502, 'Session limit exceeded; server closing connection')
    session.account = account
    session.user = user
    account.password = childText(login, 'newPW') ?? account.password
    return { code: 1000 }
  }

  #greetingMessage(): string {
    if (this.greeting) return this.greeting()
    const objects = [ns.domain, ns.host, ns.contact].map(one => `<objURI>${one}</objURI>`).join('')
    const extensions = this.extensions.map(one => `<extURI>${one}</extURI>`).join('')
    const menu = `<version>1.0</version><lang>en</lang>${objects}<svcExtension>${extensions}</svcExtension>`
    const dcp =
      '<dcp><access><all/></access><statement><purpose><prov/></purpose><recipient><ours/></recipient><retention><stated/></retention></statement></dcp>'
    const now = new Date(this.registry.now()).toISOString()
    return `${head}<greeting><svID>Example Registry</svID><svDate>${now}</svDate><svcMenu>${menu}</svcMenu>${dcp}</greeting></epp>`
  }

  #responseMessage({ code, message = messages[code] ?? '', data, extension, queue }: EppResult, id: string | null): string {
    const date = queue && new Date(queue.date).toISOString()
    return [
      `${head}<response><result code="${code}"><msg>${xmlText(message)}</msg></result>`,
      queue ? `<msgQ count="${queue.count}" id="${queue.id}"><qDate>${date}</qDate><msg>${xmlText(queue.text)}</msg></msgQ>` : '',
      data === undefined ? '' : `<resData>${data}</resData>`,
      extension === undefined ? '' : `<extension>${extension}</extension>`,
      `<trID>${id === null ? '' : `<clTRID>${xmlText(id)}</clTRID>`}<svTRID>DBL-${++this.#transactions}</svTRID></trID></response></epp>`,
    ].join('')
  }
}

const head = `<?xml version="1.0" encoding="UTF-8" standalone="no"?>\n<epp xmlns="${ns.epp}">`

const messages: Readonly<Record<number, string>> = {
  1000: 'Command completed successfully',
  1001: 'Command completed successfully; action pending',
  1300: 'Command completed successfully; no messages',
  1301: 'Command completed successfully; ack to dequeue',
  1500: 'Command completed successfully; ending session',
}

const refusal = (code: number, message: string): EppResult => ({ code, message })
