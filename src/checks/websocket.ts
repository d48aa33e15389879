import { createHash, randomBytes } from 'node:crypto'
import type { Static } from '@sinclair/typebox'
import { version } from '../core/version'
import { runAttempt, type Attempt } from './attempt'
import { InvalidCheckInput, type CheckType } from './check'
import { CheckFailed } from './connect-failure'
import { bareHost } from './host-port'
import { textMatcher, validateExpectedText } from './expected-text'
import { quoted, BufferedConnection } from './buffered-connection'
import { connectTcp, connectTls } from './connect'
import { serverNameFor, validateCertificates, validateServerName, tlsDestination, tlsSecrets, tlsSettings } from './tls-options'
import { Messages } from './websocket/messages'
import { websocketOptions } from './websocket/options'

type WebsocketOptions = Static<typeof websocketOptions>

/** WebSocket (RFC 6455). */
export const websocket: CheckType<WebsocketOptions> = {
  name: 'websocket',
  title: 'WebSocket',
  description:
    'Opens a WebSocket, and sends and expects a message if configured. Fails if the handshake fails or a different message arrives.',
  targetDescription: 'A wss or ws URL, such as `wss://www.example.com/socket`.',
  options: websocketOptions,
  secrets: ['/secret_headers/*', ...tlsSecrets],
  destination: ['/server_name', ...tlsDestination],
  sources: [
    'CONNECTED',
    'STATUS',
    'RESPONSE_TIME',
    'TTFB',
    'IP',
    'BODY',
    'HEADER',
    'CERTIFICATE_EXPIRATION',
    'TLS_VERSION',
    'DOMAIN_EXPIRATION',
  ],
  target: websocketTarget,
  validate(options) {
    for (const member of ['headers', 'secret_headers'] as const) {
      const reserved = Object.keys(options[member] ?? {}).find(name => isReserved(name.toLowerCase()))
      if (reserved !== undefined)
        throw new InvalidCheckInput(`/options/${member}`, `must not contain ${reserved}, which is set automatically.`)
    }
    validateExpectedText(options, '/options')
    validateServerName(options.server_name)
    validateCertificates(options)
  },
  run: (target, options, context) =>
    runAttempt(context, async attempt => {
      const url = new URL(target)
      attempt.facts.request = `GET ${url.href}`
      const connection = new BufferedConnection(
        attempt,
        await openSocket(attempt, url, options),
        options.read_limit_bytes ?? defaultReadBytes,
      )
      await upgrade(attempt, connection, url, options)
      const messages = new Messages(connection)
      const expected = textMatcher(options)
      if (options.send !== undefined) messages.send(options.send)
      const received: string[] = []
      try {
        for (let isFound = !expected; expected && !isFound;) {
          const message = await messages.next(`a message with ${expected.description}`)
          received.push(message)
          isFound = expected.matches(message)
        }
      } catch (error) {
        // Messages arrived, but none that matches.
        if (
          received.length === 0 ||
          !expected ||
          !(error instanceof CheckFailed) ||
          error.kind === 'protocol' ||
          error.kind === 'condition'
        )
          throw error
        throw new CheckFailed('content', `received ${quoted(received.at(-1)!)}, expected ${expected.description}`)
      } finally {
        attempt.facts.body = received.length > 0 ? received.join('\n') : null
      }
      messages.close()
      await connection.waitForClose()
    }),
}

const defaultReadBytes = 65_536
const maxHeaders = 100

// RFC 6455 section 1.3.
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

async function openSocket(attempt: Attempt, url: URL, options: WebsocketOptions) {
  const host = bareHost(url.hostname)
  const isSecure = url.protocol === 'wss:'
  const port = Number(url.port || (isSecure ? 443 : 80))
  if (!isSecure) return await connectTcp(attempt, host, port, options.ip_family)
  const settings = { ...tlsSettings(options, serverNameFor(options.server_name, host)), alpn: ['http/1.1'] }
  return await connectTls(attempt, host, port, settings, options.ip_family)
}

/** The opening handshake (section 4.1). @throws CheckFailed */
async function upgrade({ facts }: Attempt, connection: BufferedConnection, url: URL, options: WebsocketOptions): Promise<void> {
  const key = randomBytes(16).toString('base64')
  const headers: Record<string, string> = {
    ...(!hasName(options, 'user-agent') && { 'User-Agent': `Bailiwick/${version} (+monitor)` }),
    ...options.headers,
    ...options.secret_headers,
    Host: url.host,
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': key,
    'Sec-WebSocket-Version': '13',
    ...(options.subprotocol !== undefined && { 'Sec-WebSocket-Protocol': options.subprotocol }),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  connection.send(Buffer.from(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'))
  const first = await connection.readLine('the response')
  const status = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |$)/.exec(first)?.[1]
  if (status === undefined) throw new CheckFailed('protocol', `the response is not valid HTTP: ${quoted(first)}`)
  facts.status = Number(status)
  facts.headers = await readHeaders(connection)
  if (facts.status !== 101) throw new CheckFailed('status', `HTTP ${status}, expected 101`)
  const failure = (text: string) => new CheckFailed('protocol', text)
  const { upgrade: protocol = '', connection: token = '', ...rest } = facts.headers
  if (protocol.toLowerCase() !== 'websocket' || !/(^|,)\s*upgrade\s*(,|$)/i.test(token))
    throw failure('the server switched to a protocol that was not requested')
  if (
    rest['sec-websocket-accept'] !==
    createHash('sha1')
      .update(key + GUID)
      .digest('base64')
  )
    throw failure('invalid Sec-WebSocket-Accept header')
  if (rest['sec-websocket-extensions'] !== undefined) throw failure('the server selected an extension that was not offered')
  const selected = rest['sec-websocket-protocol']
  if (selected !== options.subprotocol) {
    if (options.subprotocol === undefined) throw failure('the server selected a subprotocol that was not offered')
    throw new CheckFailed('content', `the server did not select the subprotocol ${quoted(options.subprotocol)}`)
  }
}

async function readHeaders(connection: BufferedConnection): Promise<Record<string, string>> {
  const headers: [string, string][] = []
  for (
    let line = await connection.readLine('the end of the response');
    line !== '';
    line = await connection.readLine('the end of the response')
  ) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/s.exec(line) ?? []
    if (name === undefined) throw new CheckFailed('protocol', 'the response is not valid HTTP')
    if (headers.length >= maxHeaders) throw new CheckFailed('protocol', 'the response has too many headers')
    headers.push([name.toLowerCase(), value!])
  }
  const joined = Map.groupBy(headers, ([name]) => name)
  return Object.fromEntries([...joined].map(([name, all]) => [name, all.map(([, value]) => value).join(', ')]))
}

const hasName = (options: WebsocketOptions, name: string): boolean =>
  Object.keys({ ...options.headers, ...options.secret_headers }).some(one => one.toLowerCase() === name)

const isReserved = (name: string): boolean =>
  name.startsWith('sec-websocket-') || ['host', 'upgrade', 'connection', 'content-length', 'transfer-encoding'].includes(name)

/** @throws InvalidCheckInput */
function websocketTarget(text: string): string {
  const invalid = (rule: string) => new InvalidCheckInput('/target', rule)
  // The URL parser silently drops or rewrites these characters; the stored URL must be the one requested.
  const url = text.length > 2048 || /[\s\p{Cc}\\]/u.test(text) || !/^wss?:\/\//i.test(text) ? null : URL.parse(text)
  if (!url) throw invalid('must be a wss or ws URL of at most 2,048 characters.')
  if (url.username || url.password) throw invalid('must not contain a username or password; use `options.secret_headers`.')
  if (text.includes('#')) throw invalid('must not contain a fragment; it is never sent.')
  return url.href
}
