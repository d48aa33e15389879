import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { Attempt } from '../attempt'
import { CheckFailed } from '../connect-failure'
import { secretsAmong } from '../hiding'
import { connectTcp, connectTls, upgradeToTls, type TlsWish } from '../tls-connect'
import { tlsWish } from '../tls-options'
import { version } from '../../core/version'
import { acceptEncoding, readUpTo } from './body'
import { Cookies } from './cookies'
import { exchange, type Answer } from './exchange'
import { exchange2 } from './exchange-2'
import { authenticateMessage, challengeOf, negotiateMessage } from './ntlm'
import { accessToken, forgetToken } from './oauth-token'
import { httpSecrets, type HttpAuth, type HttpOptions } from './options'
import { connectProxied, proxyAuthorization } from './proxy'
import { addressBy } from './resolver'
import { connectTunnelled } from './ssh-tunnel'

/** What is asked for next: another URL and perhaps another method after a redirect. */
export interface Ask {
  url: URL
  method: string
  body: Buffer | null
}

/**
 * The requests of one check: the first and those of its redirects, each on a connection of its own to an address that was vetted for it.
 * Credentials go to the origin of the target alone.
 */
export class Conversation {
  /** What was sent for credentials beyond what the options hold: no server that sends it back may have it shown. */
  readonly secrets: string[] = []
  private readonly cookies = new Cookies()
  private readonly home: string

  constructor(
    private readonly attempt: Attempt,
    private readonly options: HttpOptions,
    target: URL,
  ) {
    this.home = target.origin
  }

  /** Sends a request, with the credentials that it needs, and waits for the head of the answer. @throws CheckFailed */
  async ask(ask: Ask): Promise<Answer> {
    const auth = ask.url.origin === this.home ? this.options.auth : undefined
    const answer = await this.authenticated(ask, auth)
    if (this.options.cookies ?? true) this.cookies.take(ask.url, answer.setCookies, this.attempt.around.wallNow())
    return answer
  }

  private async authenticated(ask: Ask, auth: HttpAuth | undefined): Promise<Answer> {
    switch (auth?.type) {
      case undefined:
        return await this.send(await this.connected(ask), ask)
      case 'basic':
        this.secrets.push(basicOf(auth).slice('Basic '.length))
        return await this.send(await this.connected(ask), ask, { Authorization: basicOf(auth) })
      case 'bearer':
        return await this.send(await this.connected(ask), ask, { Authorization: `Bearer ${auth.token}` })
      case 'ntlm':
        return await this.byNtlm(ask, auth)
      case 'oauth2':
        return await this.byToken(ask, auth)
    }
  }

  private async byToken(ask: Ask, auth: Extract<HttpAuth, { type: 'oauth2' }>): Promise<Answer> {
    const answer = await this.withToken(ask, auth)
    // It may have been taken back before its time. One that is refused although it is new is the answer.
    if (answer.status !== 401 || !forgetToken(auth, this.options.ca)) return answer
    this.attempt.close()
    return await this.withToken(ask, auth)
  }

  private async withToken(ask: Ask, auth: Extract<HttpAuth, { type: 'oauth2' }>): Promise<Answer> {
    const token = await accessToken(auth, this.options.ca, this.attempt.around)
    this.secrets.push(token)
    return await this.send(await this.connected(ask), ask, { Authorization: `Bearer ${token}` })
  }

  /** Three messages on one connection (MS-NTHT section 3.1.5). A server that does not ask for NTLM has answered already. */
  private async byNtlm(ask: Ask, auth: Extract<HttpAuth, { type: 'ntlm' }>): Promise<Answer> {
    const connection = await this.connected(ask)
    const offer = { Authorization: `NTLM ${negotiateMessage().toString('base64')}` }
    const first = await this.send(connection, ask.body ? { ...ask, body: Buffer.alloc(0) } : ask, offer, true)
    const text = /(?:^|,\s*)NTLM ([A-Za-z0-9+/=]+)/i.exec(first.headers['www-authenticate'] ?? '')?.[1]
    const challenge = text === undefined ? null : challengeOf(Buffer.from(text, 'base64'))
    if (first.status !== 401 || !challenge) return first
    await this.attempt.within(readUpTo(first.body, challengeBodyMost), 'no end of the challenge')
    if (connection.socket.destroyed)
      throw new CheckFailed('closed', 'the server closed the connection after its challenge of NTLM')
    const message = authenticateMessage(
      challenge,
      { username: auth.username, password: auth.password, domain: auth.domain ?? '' },
      { now: this.attempt.around.wallNow(), clientChallenge: randomBytes(8) },
    )
    this.secrets.push(message.toString('base64'))
    return await this.send(connection, ask, { Authorization: `NTLM ${message.toString('base64')}` })
  }

  private async connected({ url }: Ask): Promise<{ socket: Duplex; absolute: boolean }> {
    const { attempt, options } = this
    const secure = url.protocol === 'https:'
    const port = Number(url.port || (secure ? 443 : 80))
    const { ip_family: family, resolver, ssh_tunnel: tunnel } = options
    if (tunnel) {
      const socket = await connectTunnelled(attempt, tunnel, url.hostname.replace(/^\[|\]$/g, ''), port)
      return { socket: secure ? await upgradeToTls(attempt, socket, this.wishFor(url)) : socket, absolute: false }
    }
    if (!options.proxy) {
      const host = resolver === undefined ? url.hostname : await addressBy(attempt, resolver, url.hostname, options)
      const socket = secure
        ? await connectTls(attempt, host, port, this.wishFor(url), family)
        : await connectTcp(attempt, host, port, family)
      return { socket, absolute: false }
    }
    const { socket, absolute } = await connectProxied(attempt, options.proxy, url, options.ca)
    if (!absolute) attempt.facts.connected = true
    if (!secure) return { socket, absolute }
    return { socket: await upgradeToTls(attempt, socket, this.wishFor(url)), absolute }
  }

  private wishFor(url: URL): TlsWish {
    const { options } = this
    const { clientCertificate, ...wish } = tlsWish(options, url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, ''))
    return {
      ...wish,
      ...(clientCertificate && url.origin === this.home && { clientCertificate }),
      alpn: [options.http_version === '2' ? 'h2' : 'http/1.1'],
      nothingSecret: isPlain(options) && url.search === '',
    }
  }

  private async send(
    { socket, absolute }: { socket: Duplex; absolute: boolean },
    { url, method, body }: Ask,
    credentials?: Record<string, string>,
    keep = false,
  ): Promise<Answer> {
    const { attempt, options } = this
    const headers = Object.assign(this.headersFor(url, body !== null), credentials)
    let answer: Answer
    if (options.http_version === '2') {
      if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2')
        throw new CheckFailed('protocol', 'the server does not speak HTTP/2')
      answer = await exchange2(attempt, socket, { method, url, headers, body })
    } else {
      const sent = absolute && options.proxy ? { ...headers, ...proxyAuthorization(options.proxy) } : headers
      const path = absolute ? `${url.origin}${url.pathname}${url.search}` : undefined
      answer = await exchange(
        attempt,
        socket,
        { method, url, headers: sent, body },
        { keep, ...(path !== undefined && { path }) },
      )
    }
    attempt.facts.connected = true
    return answer
  }

  /** Names are told apart without regard to case; what the monitor says comes before what is usual. */
  private headersFor(url: URL, hasBody: boolean): Record<string, string> {
    const { options } = this
    const usual = {
      Host: url.host,
      'User-Agent': `Bailiwick/${version} (+monitor)`,
      Accept: '*/*',
      'Accept-Encoding': acceptEncoding[options.compression ?? 'any'],
    }
    const cookies = this.cookies.header(url)
    // Most monitors say nothing of their own, and telling names apart takes its time.
    if (!hasBody && cookies === null && !options.headers && !options.secret_headers) return usual
    const own = url.origin === this.home
    const type = contentTypes[options.body_encoding ?? 'text']
    const headers = new Map<string, [name: string, value: string]>()
    const put = (given: Record<string, string>) => {
      for (const [name, value] of Object.entries(given)) headers.set(name.toLowerCase(), [name, value])
    }
    put(usual)
    if (hasBody && type) put({ 'Content-Type': type })
    put(Object.fromEntries(Object.entries(options.headers ?? {}).filter(([name]) => own || !homely.has(name.toLowerCase()))))
    if (own) put(options.secret_headers ?? {})
    // A redirect took the body away, and with it goes what it was.
    if (!hasBody && options.body !== undefined) headers.delete('content-type')
    if (cookies !== null) put({ Cookie: [headers.get('cookie')?.[1], cookies].filter(one => one).join('; ') })
    return Object.fromEntries(headers.values())
  }
}

const challengeBodyMost = 65_536

/**
 * Whether it asks as anybody would who has but the address. What a monitor sends of its own may be secret, whatever it is called; and
 * through a proxy or a tunnel no second handshake is made for a server that insists on what was not offered.
 */
function isPlain(options: HttpOptions): boolean {
  let known = plain.get(options)
  if (known === undefined)
    plain.set(
      options,
      (known =
        !options.proxy &&
        !options.ssh_tunnel &&
        !options.headers &&
        options.body === undefined &&
        secretsAmong(options, httpSecrets).length === 0),
    )
  return known
}
const plain = new WeakMap<HttpOptions, boolean>()

/** Headers that are for the origin they were given for alone. */
const homely = new Set(['host', 'authorization', 'cookie', 'origin', 'referer'])

const contentTypes: Record<NonNullable<HttpOptions['body_encoding']>, string | null> = {
  text: 'text/plain; charset=utf-8',
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'application/xml',
}

const basicOf = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
