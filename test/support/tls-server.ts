import { createServer, type SecureVersion } from 'node:tls'
import { ownCertificate } from './own-certificate'

/** A TLS server on this machine, which answers HTTP. */
export interface TlsServer {
  port: number
  close(): Promise<void>
}

/** Starts a TLS server. @param options.header additional response header, such as HSTS */
export async function startTlsServer(
  options: {
    certificate?: { pem: string; key: string }
    minVersion?: SecureVersion
    maxVersion?: SecureVersion
    header?: string
    port?: number
  } = {},
): Promise<TlsServer> {
  const { certificate = longLived(), header = '', port = 0, ...versions } = options
  const server = createServer({ cert: certificate.pem, key: certificate.key, ...versions }, socket => {
    socket.on('error', () => {})
    socket.once('data', () => socket.end(`HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n${header}\r\n`))
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
  return {
    port: (server.address() as { port: number }).port,
    close: () => new Promise(resolve => server.close(() => resolve())),
  }
}

// Valid at the time of the clocks of tests, and now.
const longLived = () =>
  ownCertificate({ names: ['localhost'], from: Date.parse('2020-01-01T00:00:00Z'), until: Date.parse('2099-01-01T00:00:00Z') })
