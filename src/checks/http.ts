import { randomBytes } from 'node:crypto'
import { runAttempt, type Attempt } from './attempt'
import { InvalidCheckInput, type CheckError, type CheckType, type Facts } from './check'
import { CheckFailed } from './connect-failure'
import { maxEncodedBytes, decodeBody, readUpTo, textOf } from './http/body'
import { HttpSession, type HttpRequest } from './http/session'
import { responseFailure, type HttpResponse } from './http/http1'
import { secretRedactor, secretValues, withoutPartialSecret } from './redaction'
import { httpDestination, httpOptions, httpSecrets, type HttpOptions } from './http/options'
import { matches } from './pattern'
import { validateHttpOptions } from './http/validate-options'
import { isAccepted, statusRanges } from './http/status-ranges'

/** HTTP and HTTPS, versions 1.1 and 2. */
export const http: CheckType<HttpOptions> = {
  name: 'http',
  title: 'HTTP(S)',
  description:
    'Sends a request to a URL and follows redirects. Fails if there is no response, the certificate is not trusted, or the status code is not accepted.',
  targetDescription: 'An http or https URL, such as `https://www.example.com/health`.',
  options: httpOptions,
  secrets: httpSecrets,
  destination: httpDestination,
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
  target: httpTarget,
  validate: validateHttpOptions,
  async run(target, options, context) {
    const url = new URL(target)
    let secrets: readonly string[] = []
    const facts = await runAttempt(context, async attempt => {
      const session = new HttpSession(attempt, options, url)
      secrets = session.secrets
      await sendRequests(attempt, session, url, options)
    })
    if (secrets.length > 0) redactFacts(facts, secretRedactor(secrets))
    if (options.invert) facts.error = invertedError(facts)
    return facts
  },
}

async function sendRequests(attempt: Attempt, session: HttpSession, target: URL, options: HttpOptions): Promise<void> {
  const { facts } = attempt
  let request: HttpRequest = {
    url: options.cache_bust ? withCacheBuster(target) : target,
    method: options.method ?? 'GET',
    body: options.body === undefined ? null : Buffer.from(options.body),
  }
  const maxRedirects = options.max_redirects ?? 5
  for (let redirects = 0; ; redirects++) {
    facts.request = `${request.method} ${displayUrl(request.url, redirects > 0)}`
    const response = await session.send(request)
    facts.status = response.status
    facts.headers = response.headers
    const next = (options.follow_redirects ?? true) ? nextRequest(request, response) : null
    if (!next) return await verifyResponse(attempt, response, request.url, options)
    if (redirects >= maxRedirects) throw new CheckFailed('redirects', `too many redirects (more than ${maxRedirects})`)
    attempt.close()
    facts.connected = false
    facts.tls = null
    request = next
  }
}

/** Reads the final response's body and verifies the response against the options. @throws CheckFailed */
async function verifyResponse(attempt: Attempt, response: HttpResponse, url: URL, options: HttpOptions): Promise<void> {
  const { facts } = attempt
  const limit = options.body_limit_bytes ?? maxBodyBytes
  let bodyError: unknown = null
  try {
    const octets = await attempt.within(bodyOf(response, limit), 'the end of the response')
    const text = textOf(octets, response.headers['content-type'])
    facts.body = octets.length < limit ? text : withoutPartialSecret(text, secretValues(options, httpSecrets))
  } catch (error) {
    bodyError = error
  }
  const ranges = statusRanges(options.accepted_status_codes)
  if (!isAccepted(response.status, ranges)) {
    const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    throw new CheckFailed('status', `HTTP ${response.status}, expected ${texts.join(', ')}`)
  }
  if (bodyError !== null) throw responseFailure(bodyError, true)
  const secure = url.protocol === 'https:'
  if (options.tls === 'required' && !secure) throw new CheckFailed('tls', 'TLS is required, but the response arrived without it')
  if (options.tls === 'forbidden' && secure) throw new CheckFailed('tls', 'TLS is forbidden, but the response arrived over it')
  for (const [name, pattern] of Object.entries(options.expected_headers ?? {})) {
    const value = response.headers[name.toLowerCase()]
    if (value === undefined) throw new CheckFailed('content', `the response has no ${name} header`)
    if (!matches(value, pattern)) throw new CheckFailed('content', `header ${name} does not match ${JSON.stringify(pattern)}`)
  }
}

/**
 * The next request after a redirect (RFC 9110 section 15.4); null if the response is not a redirect. POST becomes GET after 301 and 302,
 * as in browsers, and everything but HEAD after 303.
 * @throws CheckFailed `redirects`
 */
function nextRequest({ url, method, body }: HttpRequest, { status, headers }: HttpResponse): HttpRequest | null {
  const location = headers.location
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null
  const next = URL.parse(locationOf(location), url)
  if (!next || (next.protocol !== 'http:' && next.protocol !== 'https:')) {
    const where = next ? `a ${next.protocol.slice(0, -1).slice(0, 20)} URL` : 'an invalid URL'
    throw new CheckFailed('redirects', `redirected to ${where}`)
  }
  // Only the monitor's owner provides credentials for a check.
  next.username = ''
  next.password = ''
  next.hash = ''
  const asGet = (status === 303 && method !== 'HEAD') || ((status === 301 || status === 302) && method === 'POST')
  return asGet ? { url: next, method: 'GET', body: null } : { url: next, method, body }
}

const maxBodyBytes = 1024 * 1024

/** The decoded body, cut at the limit. Not read for responses without a body (RFC 9112 section 6.3): some servers send one anyway. */
async function bodyOf(response: HttpResponse, limit: number): Promise<Buffer> {
  const { status, headers, body, method } = response
  if (method === 'HEAD' || status === 204 || status === 304) return Buffer.alloc(0)
  const coding = headers['content-encoding']
  const sent = await readUpTo(body, coding ? maxEncodedBytes(limit) : limit)
  if (!sent.cut && response.isBroken()) throw Object.assign(new Error('closed'), { code: 'ECONNRESET' })
  return coding ? await decodeBody(sent, coding, limit) : sent.octets
}

/** Appends a random parameter and leaves the rest of the query as written. */
function withCacheBuster(target: URL): URL {
  const url = new URL(target)
  url.search += `${url.search === '' ? '?' : '&'}bailiwick_check=${randomBytes(8).toString('hex')}`
  return url
}

/** Headers are read as Latin-1, but servers send non-ASCII URLs in UTF-8, and browsers read them so. */
function locationOf(text: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'))
  } catch {
    return text
  }
}

/** Query strings of redirects may contain access tokens, so they are not shown. */
const displayUrl = (url: URL, redirected: boolean): string =>
  redirected && url.search ? `${url.origin}${url.pathname}?...` : url.href

/** Redacts credentials that only this check knows. The engine redacts secrets from the options. */
function redactFacts(facts: Facts, redact: (text: string) => string): void {
  if (facts.request !== null) facts.request = redact(facts.request)
  if (facts.body !== null) facts.body = redact(facts.body)
  if (facts.headers)
    facts.headers = Object.fromEntries(Object.entries(facts.headers).map(([name, value]) => [name, redact(value)]))
}

/** Errors that say nothing about the target are kept. */
function invertedError({ error, status }: Facts): CheckError | null {
  if (!error) return { kind: 'status', message: `HTTP ${status}, expected a failure` }
  return ['internal', 'unsupported', 'blocked_address'].includes(error.kind) ? error : null
}

/** @throws InvalidCheckInput */
function httpTarget(text: string): string {
  const invalid = (rule: string) => new InvalidCheckInput('/target', rule)
  // The URL parser silently drops or rewrites these characters; the stored URL must be the one requested.
  const url = text.length > 2048 || /[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\//i.test(text) ? null : URL.parse(text)
  if (!url) throw invalid('must be an http or https URL of at most 2,048 characters.')
  if (url.username || url.password) throw invalid('must not contain a username or password; use `options.auth`.')
  if (url.port === '0') throw invalid('must have a port between 1 and 65535.')
  if (text.includes('#')) throw invalid('must not contain a fragment; it is never sent.')
  return url.href
}
