import { readFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import { TLSSocket, createServer as createTls } from 'node:tls'

const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url), 'utf8')
/** The CA of the servers' certificate, which is for a.test and b.test. */
export const fixtureCa = fixture('ca.pem')
const shown = { key: fixture('two-names.key'), cert: fixture('two-names.pem') }

/**
 * The script of a server: without TLS, with implicit TLS, or first in plain text, then `agrees` in response to the first packet,
 * and TLS after that.
 */
export type Said = ((socket: Socket) => void) | { plain?: string; agrees?: string; implicit: (socket: Socket) => void }

/** Starts a server on a free loopback port. */
export async function talker(said: Said): Promise<number> {
  const open = (socket: Socket): Socket => {
    sockets.add(socket)
    return socket.on('error', () => {}).on('close', () => sockets.delete(socket))
  }
  const server =
    typeof said === 'function'
      ? createServer(socket => said(open(socket)))
      : said.agrees === undefined
        ? createTls(shown, socket => said.implicit(open(socket)))
        : createServer(socket => {
            open(socket).write(said.plain ?? '')
            socket.once('data', () => {
              socket.write(said.agrees!)
              said.implicit(open(new TLSSocket(socket, { isServer: true, ...shown })))
            })
          })
  server.on('tlsClientError', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return (server.address() as AddressInfo).port
}

export function stopTalkers(): void {
  for (const socket of sockets) socket.destroy()
  for (const server of servers.splice(0)) server.close()
}

/** A server that responds to each line with the entry of `answers` whose key the line starts with. */
export const script =
  (greeting: string, answers: Record<string, string>) =>
  (socket: Socket): void => {
    socket.write(greeting)
    let rest = ''
    socket.on('data', octets => {
      const lines = (rest + octets.toString()).split('\r\n')
      rest = lines.pop()!
      for (const line of lines) {
        const answer = Object.entries(answers).find(([begin]) => line.startsWith(begin))?.[1]
        if (answer !== undefined) socket.write(answer)
      }
    })
  }

const servers: { close(): void }[] = []
const sockets = new Set<Socket>()
