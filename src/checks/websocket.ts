import { createHash, randomBytes } from 'node:crypto'
import type { Static } from '@sinclair/typebox'
import { version } from '../core/version'
import { attempt, type Attempt } from './attempt'
import { CheckInputRefused, type CheckType } from './check'
import { CheckFailed } from './connect-failure'
import { expectationOf, refuseExpected } from './expected-text'
import { quoted, Talk } from './talk'
import { connectTcp, connectTls } from './tls-connect'
import { nameToShow, refuseCertificates, refuseServerName, tlsDestination, tlsSecrets, tlsWish } from './tls-options'
import { Messages } from './websocket/messages'
import { websocketOptions } from './websocket/options'

type WebsocketOptions = Static<typeof websocketOptions>

/** WebSockets (RFC 6455). */
export const websocket: CheckType<WebsocketOptions> = {
  name: 'websocket',
  title: 'WebSocket',
  description:
    'Opens a WebSocket, and sends and expects a message if wanted. Down when the server does not switch to it, or something else comes.',
  targetForm: 'A URL of the scheme wss or ws: `wss://www.example.com/socket`.',
  options: websocketOptions,
  secrets: ['/secret_headers/*', ...tlsSecrets],
  destination: ['/servername', ...tlsDestination],
  sources: ['CONNECTED', 'STATUS', 'RESPONSE_TIME', 'TTFB', 'IP', 'BODY', 'HEADER', 'CERTIFICATE_EXPIRATION', 'TLS_VERSION'],
  target: websocketTarget,
  refuse(given) {
    for (const member of ['headers', 'secret_headers'] as const) {
      const own = Object.keys(given[member] ?? {}).find(name => isOwn(name.toLowerCase()))
      if (own !== undefined)
        throw new CheckInputRefused(
          `/options/${member}`,
          `must not hold ${own}, which belongs to the connection and is set by the check.`,
        )
    }
    refuseExpected(given, '/options')
    refuseServerName(given.servername)
    refuseCertificates(given)
  },
  run: (target, given, around) =>
    attempt(around, async one => {
      const url = new URL(target)
      one.facts.request = `GET ${url.href}`
      const talk = new Talk(one, await connected(one, url, given), given.read_limit_bytes ?? usualRead)
      await upgraded(one, talk, url, given)
      const messages = new Messages(talk)
      const expected = expectationOf(given)
      if (given.send !== undefined) messages.send(given.send)
      const came: string[] = []
      try {
        while (expected && !came.some(expected.fits)) came.push(await messages.next(`no message with ${expected.words}`))
      } catch (error) {
        // It did send something, only not that.
        if (came.length === 0 || !expected || !(error instanceof CheckFailed) || error.kind === 'protocol') throw error
        throw new CheckFailed('content', `${quoted(came.at(-1)!)} came where ${expected.words} is expected`)
      } finally {
        one.facts.body = came.length > 0 ? came.join('\n') : null
      }
      messages.close()
      await talk.ending()
    }),
}

const usualRead = 65_536
const mostHeaders = 100

// RFC 6455 section 1.3.
const GUID = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11'

async function connected(one: Attempt, url: URL, given: WebsocketOptions) {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const isSecure = url.protocol === 'wss:'
  const port = Number(url.port || (isSecure ? 443 : 80))
  if (!isSecure) return await connectTcp(one, host, port, given.ip_family)
  const wish = { ...tlsWish(given, nameToShow(given.servername, host)), alpn: ['http/1.1'] }
  return await connectTls(one, host, port, wish, given.ip_family)
}

/** The opening handshake (section 4.1). @throws CheckFailed */
async function upgraded({ facts }: Attempt, talk: Talk, url: URL, given: WebsocketOptions): Promise<void> {
  const key = randomBytes(16).toString('base64')
  const headers: Record<string, string> = {
    ...(!hasName(given, 'user-agent') && { 'User-Agent': `Bailiwick/${version} (+monitor)` }),
    ...given.headers,
    ...given.secret_headers,
    Host: url.host,
    Upgrade: 'websocket',
    Connection: 'Upgrade',
    'Sec-WebSocket-Key': key,
    'Sec-WebSocket-Version': '13',
    ...(given.subprotocol !== undefined && { 'Sec-WebSocket-Protocol': given.subprotocol }),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  talk.send(Buffer.from(`GET ${url.pathname}${url.search} HTTP/1.1\r\n${lines.join('')}\r\n`, 'latin1'))
  const first = await talk.line('no answer')
  const status = /^HTTP\/1\.[01] ([1-5]\d\d)(?: |$)/.exec(first)?.[1]
  if (status === undefined) throw new CheckFailed('protocol', `the answer is not valid HTTP: ${quoted(first)}`)
  facts.status = Number(status)
  facts.headers = await headersFrom(talk)
  if (facts.status !== 101) throw new CheckFailed('status', `HTTP ${status} where 101 is expected`)
  const wrong = (text: string) => new CheckFailed('protocol', text)
  const { upgrade = '', connection = '', ...rest } = facts.headers
  if (upgrade.toLowerCase() !== 'websocket' || !/(^|,)\s*upgrade\s*(,|$)/i.test(connection))
    throw wrong('the server switched to a protocol that was not asked for')
  if (
    rest['sec-websocket-accept'] !==
    createHash('sha1')
      .update(key + GUID)
      .digest('base64')
  )
    throw wrong('the server did not prove that it knows WebSocket (Sec-WebSocket-Accept)')
  if (rest['sec-websocket-extensions'] !== undefined) throw wrong('the server wants an extension that was not offered')
  const chosen = rest['sec-websocket-protocol']
  if (chosen !== given.subprotocol) {
    if (given.subprotocol === undefined) throw wrong('the server chose a subprotocol that was not offered')
    throw new CheckFailed('content', `the server does not speak the subprotocol ${quoted(given.subprotocol)}`)
  }
}

async function headersFrom(talk: Talk): Promise<Record<string, string>> {
  const headers: [string, string][] = []
  for (let line = await talk.line('no end of the answer'); line !== ''; line = await talk.line('no end of the answer')) {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/s.exec(line) ?? []
    if (name === undefined) throw new CheckFailed('protocol', 'the answer is not valid HTTP')
    if (headers.length >= mostHeaders) throw new CheckFailed('protocol', 'the headers of the answer are larger than is read')
    headers.push([name.toLowerCase(), value!])
  }
  const joined = Map.groupBy(headers, ([name]) => name)
  return Object.fromEntries([...joined].map(([name, all]) => [name, all.map(([, value]) => value).join(', ')]))
}

const hasName = (given: WebsocketOptions, name: string): boolean =>
  Object.keys({ ...given.headers, ...given.secret_headers }).some(one => one.toLowerCase() === name)

const isOwn = (name: string): boolean =>
  name.startsWith('sec-websocket-') || ['host', 'upgrade', 'connection', 'content-length', 'transfer-encoding'].includes(name)

/** @throws CheckInputRefused */
function websocketTarget(text: string): string {
  const refused = (rule: string) => new CheckInputRefused('/target', rule)
  // The URL parser drops or rewrites these; what was saved must be what is called.
  const url = text.length > 2048 || /[\s\p{Cc}\\]/u.test(text) || !/^wss?:\/\//i.test(text) ? null : URL.parse(text)
  if (!url) throw refused('must be a URL of the scheme wss or ws, of at most 2,048 characters.')
  if (url.username || url.password)
    throw refused('must not hold a user name or password: they belong into `options.secret_headers`.')
  if (text.includes('#')) throw refused('must not hold a fragment, which is never sent.')
  return url.href
}
