import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { createServer as createPlain, type AddressInfo, type Server, type Socket } from 'node:net'
import type { Facts } from '../../src/checks/check'
import { http } from '../../src/checks/http'
import type { HttpOptions } from '../../src/checks/http/options'
import { around } from './around'

/** A file of test/fixtures/tls. */
export const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
/** What signed them. */
export const ca = fixture('ca.pem')
/** Key and certificate of a server. */
export const shown = (name: string) => ({ key: fixture(`${name}.key`), cert: fixture(`${name}.pem`) })

const stops: (() => void)[] = []
/** Closes all servers that are open, for the end of a file of tests. */
export function closeTargets(): void {
  for (const stop of stops.splice(0)) stop()
}

type Answer = (request: IncomingMessage & { text: string }, response: ServerResponse) => void
interface Served {
  port: number
  /** All requests, in order: `GET /path`. */
  asked: string[]
  headers: IncomingMessage['headers'][]
}

/** Lets a server listen on a port of its own until the tests of the file are over. @returns the port */
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

/** A server of HTTP/1.1 that remembers what it was asked. */
export async function served(answer: Answer, secure = false): Promise<Served> {
  const asked: string[] = []
  const headers: IncomingMessage['headers'][] = []
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    asked.push(`${request.method} ${request.url}`)
    headers.push(request.headers)
    const chunks: Buffer[] = []
    request.on('data', chunk => chunks.push(chunk))
    request.on('end', () => answer(Object.assign(request, { text: Buffer.concat(chunks).toString() }), response))
  }
  const server = secure ? createSecure({ ...shown('two-names') }, listener as never) : createServer(listener)
  return { port: await listening(server), asked, headers }
}

/** A server that says these octets to whoever connects and asks something, and then hangs up. */
export const says = (text: string | Buffer, hangsUp = true) =>
  listening(
    createPlain(socket => {
      socket.once('data', () => (hangsUp ? socket.end(text) : socket.write(text)))
    }),
  )

/** Runs one check; names lead to this machine. */
export const run = (url: string, options: HttpOptions = {}, given: Parameters<typeof around>[0] = {}): Promise<Facts> =>
  http.run(http.target(url), { ca, ...options }, around(given))
/** The address of a server of the test. */
export const at = (port: number, path = '/', host = 'a.test') => `http://${host}:${port}${path}`
