import { createServer } from 'node:net'
import type { Server } from 'bun'
import type { AnyElysia } from 'elysia'
import { BadSetting, type Config } from '../core/config'
import type { Log } from '../core/log'
import { checkTls, readTls, type TlsFiles } from './tls-files'

// Above the API's own limit of 1 MiB, so that the API answers with a problem and not Bun with an empty 413.
const largestRequest = 8 * 1024 * 1024

/** The hub's open port. */
export interface Listening {
  server(): Server<unknown>
  /** Takes up a renewed certificate: connections that are open finish on the old one, new ones get the new. */
  renewTls(log: Log): Promise<void>
}

/**
 * Serves the app where the settings say. A machine without IPv6 serves the default `[::]` on 0.0.0.0.
 * @throws BadSetting when the address is taken or not of this machine, or the certificate cannot be used
 */
export function listen(app: AnyElysia, config: Config): Listening {
  const { host, port } = config.listen
  let tls = usableTls(config)
  const server = open()
  // A server that was stopped no longer knows where it was.
  const [ownHost, ownPort] = [server.hostname!, server.port!]
  return { server: () => app.server as Server<unknown>, renewTls }

  function open(): Server<unknown> {
    try {
      return bind(app, host, port, tls)
    } catch (error) {
      const code = (error as NodeJS.ErrnoException).code
      if (host === '::' && code !== 'EADDRINUSE') return bind(app, '0.0.0.0', port, tls)
      if (code === 'EADDRINUSE') throw portInUse(host, port)
      throw new BadSetting(`BAILIWICK_LISTEN: the hub cannot listen on ${host} port ${port} (${(error as Error).message}).`)
    }
  }

  async function renewTls(log: Log): Promise<void> {
    if (!tls) return
    const found = readTls(config)!
    if (found.fingerprint === tls.fingerprint) return
    try {
      checkTls(config, found)
    } catch (error) {
      return refuse(error, found, log)
    }
    const old = app.server as Server<unknown>
    // Bun cannot change the certificate of an open port: the port is closed and opened again, which takes about a millisecond.
    void old.stop()
    try {
      bind(app, ownHost, ownPort, found)
      tls = found
      log.info({ certificate: config.tlsCert }, 'the renewed certificate is in use')
    } catch (error) {
      bind(app, ownHost, ownPort, tls)
      refuse(error, found, log)
    }
  }

  /** Told once for what the files hold now. */
  function refuse(error: unknown, found: TlsFiles, log: Log): void {
    log.error({ err: error, certificate: config.tlsCert }, 'the renewed certificate cannot be used; the old one stays')
    tls = { ...tls!, fingerprint: found.fingerprint }
  }
}

/**
 * Whether the hub could listen where the settings say, asked ahead.
 * @throws BadSetting as `listen` does
 */
export async function checkListen(config: Config): Promise<void> {
  usableTls(config)
  const { host, port } = config.listen
  if (port !== 0 && (await tryListen(host, port)) === 'EADDRINUSE') throw portInUse(host, port)
}

/** The code of the error with which a port cannot be opened, or null. */
export function tryListen(host: string, port: number): Promise<string | null> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', error => resolve((error as NodeJS.ErrnoException).code ?? error.message))
    server.listen(port, host, () => server.close(() => resolve(null)))
  })
}

const portInUse = (host: string, port: number) =>
  new BadSetting(
    `BAILIWICK_LISTEN: port ${port} is in use on ${host}. Stop what uses it, or choose another with --listen HOST:PORT.`,
  )

function usableTls(config: Config): TlsFiles | null {
  const tls = readTls(config)
  if (tls) checkTls(config, tls)
  return tls
}

function bind(app: AnyElysia, hostname: string, port: number, tls: TlsFiles | null): Server<unknown> {
  // Elysia would share the port with any other process that asks for it, and a second hub would take half of the requests.
  app.listen({
    hostname,
    port,
    reusePort: false,
    development: false,
    maxRequestBodySize: largestRequest,
    idleTimeout: 60,
    ...(tls && { tls: { cert: tls.cert, key: tls.key } }),
  })
  return app.server as Server<unknown>
}
