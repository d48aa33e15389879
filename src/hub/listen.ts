import { readFileSync } from 'node:fs'
import type { Server } from 'bun'
import type { AnyElysia } from 'elysia'
import { BadSetting, type Config } from '../core/config'

// Above the API's own limit of 1 MiB, so that the API answers with a problem and not Bun with an empty 413.
const largestRequest = 8 * 1024 * 1024

/**
 * Serves the app where the settings say. A machine without IPv6 serves the default `[::]` on 0.0.0.0.
 * @throws BadSetting when the address is taken or not of this machine
 */
export function bindWithFallback(app: AnyElysia, config: Config): Server<unknown> {
  const { host, port } = config.listen
  try {
    return bind(app, config, host, port)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (host === '::' && code !== 'EADDRINUSE') return bind(app, config, '0.0.0.0', port)
    if (code === 'EADDRINUSE') throw new BadSetting(`BAILIWICK_LISTEN: port ${port} is in use on ${host}. Stop what uses it, or choose another with --listen HOST:PORT.`)
    throw new BadSetting(`BAILIWICK_LISTEN: the hub cannot listen on ${host} port ${port} (${(error as Error).message}).`)
  }
}

function bind(app: AnyElysia, config: Config, hostname: string, port: number): Server<unknown> {
  app.listen({
    hostname, port, maxRequestBodySize: largestRequest, idleTimeout: 60,
    ...(config.tlsCert && config.tlsKey && { tls: { cert: readFileSync(config.tlsCert), key: readFileSync(config.tlsKey) } }),
  })
  return app.server as Server<unknown>
}
