import type { TLSSocket } from 'node:tls'
import { version } from '../../core/version'
import type { Attempt } from '../attempt'
import { BufferedConnection } from '../buffered-connection'
import type { HttpFacts } from './facts'

const maxHeadBytes = 32 * 1024

/** Ports of services whose TLS carries no HTTP. Some of them report or block clients that try. */
const portsOfOthers = new Set([
  465, 563, 636, 853, 989, 990, 992, 993, 994, 995, 3269, 3389, 5061, 5223, 5269, 5349, 5432, 5671, 6514, 6697, 8883,
])

/** Whether a server of TLS on this port is asked for its HTTP headers. @param alpn what it chose */
export const mayBeHttp = (port: number, alpn: string | null): boolean => alpn !== null || !portsOfOthers.has(port)

/**
 * Asks for the headers of the start page with HEAD.
 * @returns null if the server does not speak HTTP
 * @throws CheckFailed
 */
export async function askHttp(attempt: Attempt, socket: TLSSocket, host: string, port: number): Promise<HttpFacts | null> {
  const connection = new BufferedConnection(attempt, socket, maxHeadBytes)
  const status = await askStatus(connection, host, port === 443 ? undefined : port)
  if (status === null) return null
  let hsts: HttpFacts['hsts'] = null
  let isFirst = true
  for (;;) {
    const line = await connection.readLine('the headers of the response')
    if (line === '') return { status, hsts }
    const value = /^strict-transport-security:(.*)$/i.exec(line)?.[1]
    // Clients read only the first of several (RFC 6797 section 8.1).
    if (value !== undefined && isFirst) {
      hsts = hstsOf(value)
      isFirst = false
    }
  }
}

/**
 * Asks for the headers of the start page with HEAD, and reads the status code.
 * @param port to send; undefined for the usual port
 * @returns null if the server does not speak HTTP
 * @throws CheckFailed
 */
export async function askStatus(connection: BufferedConnection, host: string, port?: number): Promise<number | null> {
  const authority = `${host.includes(':') ? `[${host}]` : host}${port === undefined ? '' : `:${port}`}`
  connection.send(
    `HEAD / HTTP/1.1\r\nHost: ${authority}\r\nUser-Agent: Bailiwick/${version} (+monitor)\r\nAccept: */*\r\nConnection: close\r\n\r\n`,
  )
  const status = /^HTTP\/1\.[01] ([1-5]\d\d)\b/.exec(await connection.readLine('the response to HEAD'))?.[1]
  return status === undefined ? null : Number(status)
}

/** Reads a `Strict-Transport-Security` header. @returns null if it is invalid, and ignored by clients (RFC 6797 section 6.1) */
export function hstsOf(value: string): HttpFacts['hsts'] {
  const directives = new Map<string, string | null>()
  for (const part of value.split(';')) {
    const [, name, quoted, plain] = /^\s*([!#$%&'*+.^_`|~\w-]+)\s*(?:=\s*(?:"([^"]*)"|([^\s"]*)))?\s*$/.exec(part) ?? []
    if (name === undefined) {
      if (part.trim() === '') continue
      return null
    }
    if (directives.has(name.toLowerCase())) return null
    directives.set(name.toLowerCase(), quoted ?? plain ?? null)
  }
  const age = directives.get('max-age')
  if (!age || !/^\d{1,15}$/.test(age)) return null
  return {
    max_age_seconds: Number(age),
    include_subdomains: directives.has('includesubdomains'),
    preload: directives.has('preload'),
  }
}
