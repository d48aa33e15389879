import { randomBytes } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { TLSSocket } from 'node:tls'
import type { Attempt } from '../attempt'
import { CheckFailed } from '../connect-failure'
import { secretValues } from '../redaction'
import { bareHost } from '../host-port'
import { connectTcp, connectTls, upgradeToTls, type TlsSettings } from '../connect'
import { tlsSettings } from '../tls-options'
import { version } from '../../core/version'
import { acceptEncoding, readUpTo } from './body'
import { Cookies } from './cookies'
import { sendHttp1, type HttpResponse } from './http1'
import { sendHttp2 } from './http2'
import { authenticateMessage, challengeOf, negotiateMessage } from './ntlm'
import { accessToken, forgetToken } from './oauth-token'
import { httpSecrets, type HttpAuth, type HttpOptions } from './options'
import { connectThroughProxy, proxyAuthorization } from './proxy'
import { resolveHost } from './resolver'
import { connectThroughTunnel } from './ssh-tunnel'

/** The next request to send; after a redirect with another URL and perhaps another method. */
export interface HttpRequest {
  url: URL
  method: string
  body: Buffer | null
}

/**
 * The requests of one check, including redirects, each on its own connection to a vetted address. Credentials are only sent to the origin
 * of the target.
 */
export class HttpSession {
  /** Credentials sent in addition to those in the options; redacted wherever the server echoes them. */
  readonly secrets: string[] = []
  private readonly cookies = new Cookies()
  private readonly targetOrigin: string

  constructor(
    private readonly attempt: Attempt,
    private readonly options: HttpOptions,
    target: URL,
  ) {
    this.targetOrigin = target.origin
  }

  /** Sends a request with its credentials and waits for the head of the response. @throws CheckFailed */
  async send(request: HttpRequest): Promise<HttpResponse> {
    const auth = request.url.origin === this.targetOrigin ? this.options.auth : undefined
    const response = await this.authenticate(request, auth)
    if (this.options.cookies ?? true) this.cookies.store(request.url, response.setCookies, this.attempt.context.wallNow())
    return response
  }

  private async authenticate(request: HttpRequest, auth: HttpAuth | undefined): Promise<HttpResponse> {
    switch (auth?.type) {
      case undefined:
        return await this.sendOn(await this.connect(request), request)
      case 'basic':
        this.secrets.push(basicCredentials(auth).slice('Basic '.length))
        return await this.sendOn(await this.connect(request), request, { Authorization: basicCredentials(auth) })
      case 'bearer':
        return await this.sendOn(await this.connect(request), request, { Authorization: `Bearer ${auth.token}` })
      case 'ntlm':
        return await this.withNtlm(request, auth)
      case 'oauth2':
        return await this.withOAuth(request, auth)
    }
  }

  private async withOAuth(request: HttpRequest, auth: Extract<HttpAuth, { type: 'oauth2' }>): Promise<HttpResponse> {
    const response = await this.withToken(request, auth)
    // A cached token may have been revoked early. If a new one is rejected, that is the response.
    if (response.status !== 401 || !forgetToken(auth, this.options.ca)) return response
    this.attempt.close()
    return await this.withToken(request, auth)
  }

  private async withToken(request: HttpRequest, auth: Extract<HttpAuth, { type: 'oauth2' }>): Promise<HttpResponse> {
    const token = await accessToken(auth, this.options.ca, this.attempt.context)
    this.secrets.push(token)
    return await this.sendOn(await this.connect(request), request, { Authorization: `Bearer ${token}` })
  }

  /** Three messages on one connection (MS-NTHT section 3.1.5). If the server does not request NTLM, its response is final. */
  private async withNtlm(request: HttpRequest, auth: Extract<HttpAuth, { type: 'ntlm' }>): Promise<HttpResponse> {
    const connection = await this.connect(request)
    const offer = { Authorization: `NTLM ${negotiateMessage().toString('base64')}` }
    const first = await this.sendOn(connection, request.body ? { ...request, body: Buffer.alloc(0) } : request, offer, true)
    const text = /(?:^|,\s*)NTLM ([A-Za-z0-9+/=]+)/i.exec(first.headers['www-authenticate'] ?? '')?.[1]
    const challenge = text === undefined ? null : challengeOf(Buffer.from(text, 'base64'))
    if (first.status !== 401 || !challenge) return first
    await this.attempt.within(readUpTo(first.body, maxChallengeBytes), 'the end of the NTLM challenge')
    if (connection.socket.destroyed) throw new CheckFailed('closed', 'the server closed the connection after its NTLM challenge')
    const message = authenticateMessage(
      challenge,
      { username: auth.username, password: auth.password, domain: auth.domain ?? '' },
      { now: this.attempt.context.wallNow(), clientChallenge: randomBytes(8) },
    )
    this.secrets.push(message.toString('base64'))
    return await this.sendOn(connection, request, { Authorization: `NTLM ${message.toString('base64')}` })
  }

  private async connect({ url }: HttpRequest): Promise<{ socket: Duplex; absolute: boolean }> {
    const { attempt, options } = this
    const isSecure = url.protocol === 'https:'
    const port = Number(url.port || (isSecure ? 443 : 80))
    const { ip_family: family, resolver, ssh_tunnel: tunnel } = options
    if (tunnel) {
      const socket = await connectThroughTunnel(attempt, tunnel, bareHost(url.hostname), port)
      return { socket: isSecure ? await upgradeToTls(attempt, socket, this.tlsSettingsFor(url)) : socket, absolute: false }
    }
    if (!options.proxy) {
      const host = resolver === undefined ? url.hostname : await resolveHost(attempt, resolver, url.hostname, options)
      const socket = isSecure
        ? await connectTls(attempt, host, port, this.tlsSettingsFor(url), family)
        : await connectTcp(attempt, host, port, family)
      return { socket, absolute: false }
    }
    const { socket, absolute } = await connectThroughProxy(attempt, options.proxy, url, options.ca)
    if (!absolute) attempt.facts.connected = true
    if (!isSecure) return { socket, absolute }
    return { socket: await upgradeToTls(attempt, socket, this.tlsSettingsFor(url)), absolute }
  }

  private tlsSettingsFor(url: URL): TlsSettings {
    const { options } = this
    const { clientCertificate, ...settings } = tlsSettings(options, bareHost(url.hostname).replace(/\.$/, ''))
    return {
      ...settings,
      ...(clientCertificate && url.origin === this.targetOrigin && { clientCertificate }),
      alpn: [options.http_version === '2' ? 'h2' : 'http/1.1'],
      classicalKeyExchange: isPublic(options) && url.search === '',
    }
  }

  private async sendOn(
    { socket, absolute }: { socket: Duplex; absolute: boolean },
    { url, method, body }: HttpRequest,
    credentials?: Record<string, string>,
    keepAlive = false,
  ): Promise<HttpResponse> {
    const { attempt, options } = this
    const headers = Object.assign(this.headersFor(url, body !== null), credentials)
    let response: HttpResponse
    if (options.http_version === '2') {
      if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2')
        throw new CheckFailed('protocol', 'the server does not support HTTP/2')
      response = await sendHttp2(attempt, socket, { method, url, headers, body })
    } else {
      const sent = absolute && options.proxy ? { ...headers, ...proxyAuthorization(options.proxy) } : headers
      const path = absolute ? `${url.origin}${url.pathname}${url.search}` : undefined
      response = await sendHttp1(
        attempt,
        socket,
        { method, url, headers: sent, body },
        { keepAlive, ...(path !== undefined && { path }) },
      )
    }
    attempt.facts.connected = true
    return response
  }

  /** Names are case-insensitive; headers of the monitor take precedence over defaults. */
  private headersFor(url: URL, hasBody: boolean): Record<string, string> {
    const { options } = this
    const defaults = {
      Host: url.host,
      'User-Agent': `Bailiwick/${version} (+monitor)`,
      Accept: '*/*',
      'Accept-Encoding': acceptEncoding[options.compression ?? 'any'],
    }
    const cookies = this.cookies.header(url)
    // Fast path: most monitors have no headers of their own.
    if (!hasBody && cookies === null && !options.headers && !options.secret_headers) return defaults
    const isTarget = url.origin === this.targetOrigin
    const type = contentTypes[options.body_encoding ?? 'text']
    const headers = new Map<string, [name: string, value: string]>()
    const put = (more: Record<string, string>) => {
      for (const [name, value] of Object.entries(more)) headers.set(name.toLowerCase(), [name, value])
    }
    put(defaults)
    if (hasBody && type) put({ 'Content-Type': type })
    put(
      Object.fromEntries(
        Object.entries(options.headers ?? {}).filter(([name]) => isTarget || !originHeaders.has(name.toLowerCase())),
      ),
    )
    if (isTarget) put(options.secret_headers ?? {})
    // A redirect that dropped the body also drops its type.
    if (!hasBody && options.body !== undefined) headers.delete('content-type')
    if (cookies !== null) put({ Cookie: [headers.get('cookie')?.[1], cookies].filter(one => one).join('; ') })
    return Object.fromEntries(headers.values())
  }
}

const maxChallengeBytes = 65_536

/**
 * Whether the request contains nothing but a public URL. Custom headers and bodies may be secret; and through a proxy or tunnel, the
 * handshake is not repeated for a server that requires the groups that were not offered.
 */
function isPublic(options: HttpOptions): boolean {
  let cached = publicOptions.get(options)
  if (cached === undefined)
    publicOptions.set(
      options,
      (cached =
        !options.proxy &&
        !options.ssh_tunnel &&
        !options.headers &&
        options.body === undefined &&
        secretValues(options, httpSecrets).length === 0),
    )
  return cached
}
const publicOptions = new WeakMap<HttpOptions, boolean>()

/** Headers that are only sent to the target's origin. */
const originHeaders = new Set(['host', 'authorization', 'cookie', 'origin', 'referer'])

const contentTypes: Record<NonNullable<HttpOptions['body_encoding']>, string | null> = {
  text: 'text/plain; charset=utf-8',
  json: 'application/json',
  form: 'application/x-www-form-urlencoded',
  xml: 'application/xml',
}

const basicCredentials = ({ username, password }: { username: string; password: string }): string =>
  `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
