import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { createServer as createPlain, type AddressInfo, type Server, type Socket } from 'node:net'
import { InvalidCheckInput, type Facts } from '../../src/checks/check'
import { http } from '../../src/checks/http'
import type { HttpOptions } from '../../src/checks/http/options'
import { checkContext } from './check-context'

/** A file of test/fixtures/tls. */
export const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
/** The CA that signed them. */
export const ca = fixture('ca.pem')
/** Key and certificate of a server. */
export const shown = (name: string) => ({ key: fixture(`${name}.key`), cert: fixture(`${name}.pem`) })

const stops: (() => void)[] = []
/** Closes all open servers; for the end of a test file. */
export function closeTargets(): void {
  for (const stop of stops.splice(0)) stop()
}

type Answer = (request: IncomingMessage & { text: string }, response: ServerResponse) => void
interface Served {
  port: number
  /** All requests, in order: `GET /path`. */
  requests: string[]
  headers: IncomingMessage['headers'][]
}

/** Starts a server that stays open until the tests of the file are done. @returns its port */
export function listening(server: {
  listen: Server['listen']
  on: Function
  close: Function
  address: Server['address']
}): Promise<number> {
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => open.delete(socket))
  })
  stops.push(() => {
    server.close()
    for (const socket of open) socket.destroy()
  })
  return new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)))
}

/** An HTTP/1.1 server that records its requests. */
export async function served(answer: Answer, secure = false): Promise<Served> {
  const requests: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    requests.push(`${request.method} ${request.url}`)
    headers.push(request.headers)
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => answer(Object.assign(request, { text: Buffer.concat(chunks).toString() }), response))
  }
  const server = secure ? createSecure({ ...shown('two-names') }, listener as never) : createServer(listener)
  return { port: await listening(server), requests, headers }
}

/** A server that sends these bytes to each client after its first packet, and then closes the connection. */
export const says = (text: string | Buffer) => reacts(socket => socket.end(text))

/** A server that reacts to the first packet of each client. */
export const reacts = (react: (socket: Socket) => void) =>
  listening(createPlain(socket => socket.once('data', () => react(socket))))

/** Runs one check; test hostnames resolve to this machine. */
export const run = (url: string, options: HttpOptions = {}, input: Parameters<typeof checkContext>[0] = {}): Promise<Facts> =>
  http.run(http.target(url), { ca, ...options }, checkContext(input))
/** Returns why options are refused, or null if they are valid. */
export function refusalOf(options: HttpOptions, url = 'https://a.test/'): InvalidCheckInput | null {
  try {
    http.validate!(options, url)
    return null
  } catch (error) {
    if (error instanceof InvalidCheckInput) return error
    throw error
  }
}
/** The URL of a test server. */
export const at = (port: number, path = '/', host = 'a.test') => `http://${host}:${port}${path}`
