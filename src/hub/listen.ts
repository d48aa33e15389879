import { createServer } from 'node:net'
import type { Server } from 'bun'
import type { AnyElysia } from 'elysia'
import { InvalidSetting, type Config } from '../core/config'
import type { Log } from '../core/log'
import { checkTls, readTls, type TlsFiles } from './tls-files'

// Routes limit what they read, and respond with a problem to longer bodies. Bun would respond with an empty 413. It doesn't keep what
// a route doesn't read.
const maxRequestBytes = Number.MAX_SAFE_INTEGER

/** The HTTP server of the hub. */
export interface Listening {
  server(): Server<unknown>
  /** Switches to a renewed certificate. Open connections finish with the old one. */
  renewTls(log: Log): Promise<void>
}

/**
 * Serves the app at the configured address. Falls back from the default `[::]` to 0.0.0.0 on machines without IPv6.
 * @throws InvalidSetting if the address is in use or not of this machine, or the certificate is invalid
 */
export function listen(app: AnyElysia, config: Config): Listening {
  const { host, port } = config.listen
  let tls = usableTls(config)
  const server = open()
  // A stopped server no longer has its address.
  const [boundHost, boundPort] = [server.hostname!, server.port!]
  return { server: () => app.server as Server<unknown>, renewTls }

  function open(): Server<unknown> {
    try {
      return bind(app, host, port, tls)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (host === '::' && code !== 'EADDRINUSE') return bind(app, '0.0.0.0', port, tls)
      if (code === 'EADDRINUSE') throw portInUse(config)
      throw new InvalidSetting(
        `${config.names.listen}: the hub cannot listen on ${host} port ${port} (${(error as Error).message}).`,
      )
    }
  }

  async function renewTls(log: Log): Promise<void> {
    if (!tls) return
    const renewed = readTls(config)!
    if (renewed.fingerprint === tls.fingerprint) return
    try {
      checkTls(config, renewed)
    } catch (error) {
      return reject(error, renewed, log)
    }
    const old = app.server as Server<unknown>
    // Bun can't change the certificate of an open port. Closing and reopening it takes about a millisecond.
    void old.stop()
    try {
      bind(app, boundHost, boundPort, renewed)
      tls = renewed
      log.info({ certificate: config.tlsCert }, 'using the renewed certificate')
    } catch (error) {
      bind(app, boundHost, boundPort, tls)
      reject(error, renewed, log)
    }
  }

  /** Logs an invalid certificate once, until the files change again. */
  function reject(error: unknown, renewed: TlsFiles, log: Log): void {
    log.error({ err: error, certificate: config.tlsCert }, 'the renewed certificate is invalid; still using the old one')
    tls = { ...tls!, fingerprint: renewed.fingerprint }
  }
}

/**
 * Checks in advance whether the hub can listen at the configured address.
 * @throws InvalidSetting as `listen` does
 */
export async function checkListen(config: Config): Promise<void> {
  usableTls(config)
  const { host, port } = config.listen
  if (port !== 0 && (await tryListen(host, port)) === 'EADDRINUSE') throw portInUse(config)
}

/** Returns the error code if a port can't be opened, otherwise null. */
export function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise(resolve => {
    const server = createServer()
    server.on('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(null)))
  })
}

const portInUse = ({ listen: { host, port }, names }: Config) =>
  new InvalidSetting(
    `${names.listen}: port ${port} on ${host} is already in use. Stop the process that uses it, or choose another port with --listen HOST:PORT.`,
  )

function usableTls(config: Config): TlsFiles | null {
  const tls = readTls(config)
  if (tls) checkTls(config, tls)
  return tls
}

function bind(app: AnyElysia, hostname: string, port: number, tls: TlsFiles | null): Server<unknown> {
  // By default, Elysia shares the port with other processes, so a second hub would get half of the requests.
  app.listen({
    hostname,
    port,
    reusePort: false,
    development: false,
    maxRequestBodySize: maxRequestBytes,
    idleTimeout: 60,
    ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
  })
  return app.server as Server<unknown>
}
