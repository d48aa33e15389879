import { randomBytes } from 'node:crypto'
import { attempt, type Attempt } from './attempt'
import { CheckInputRefused, type CheckError, type CheckType, type Facts } from './check'
import { CheckFailed } from './connect-failure'
import { codedMost, decoded, readUpTo, textOf } from './http/body'
import { Conversation, type Ask } from './http/conversation'
import { answerFailure, type Answer } from './http/exchange'
import { hidingSecrets, secretsAmong, withoutBegun } from './hiding'
import { httpDestination, httpOptions, httpSecrets, type HttpOptions } from './http/options'
import { matches } from './pattern'
import { refuseHttpOptions } from './http/refuse-options'
import { isAccepted, statusRanges } from './http/status-ranges'

/** HTTP and HTTPS, versions 1.1 and 2. */
export const http: CheckType<HttpOptions> = {
  name: 'http',
  title: 'HTTP(S)',
  description:
    'Sends a request to a URL and follows its redirects. Down when no answer comes, the certificate is not trusted, or the status is none of those that are accepted.',
  targetForm: 'A URL of the scheme http or https: `https://www.example.com/health`.',
  options: httpOptions,
  secrets: httpSecrets,
  destination: httpDestination,
  sources: ['CONNECTED', 'STATUS', 'RESPONSE_TIME', 'TTFB', 'IP', 'BODY', 'HEADER', 'CERTIFICATE_EXPIRATION', 'TLS_VERSION'],
  target: httpTarget,
  refuse: refuseHttpOptions,
  async run(target, options, around) {
    const url = new URL(target)
    let secrets: readonly string[] = []
    const facts = await attempt(around, async one => {
      const conversation = new Conversation(one, options, url)
      secrets = conversation.secrets
      await look(one, conversation, url, options)
    })
    if (secrets.length > 0) hideIn(facts, hidingSecrets(secrets))
    if (options.invert) facts.error = inverted(facts)
    return facts
  },
}

async function look(attempt: Attempt, conversation: Conversation, target: URL, options: HttpOptions): Promise<void> {
  const { facts } = attempt
  let ask: Ask = {
    url: options.cache_bust ? neverSeen(target) : target,
    method: options.method ?? 'GET',
    body: options.body === undefined ? null : Buffer.from(options.body),
  }
  const most = options.max_redirects ?? 5
  for (let redirects = 0; ; redirects++) {
    facts.request = `${ask.method} ${shownUrl(ask.url, redirects > 0)}`
    const answer = await conversation.ask(ask)
    facts.status = answer.status
    facts.headers = answer.headers
    const next = (options.follow_redirects ?? true) ? redirected(ask, answer) : null
    if (!next) return await judge(attempt, answer, ask.url, options)
    if (redirects >= most) throw new CheckFailed('redirects', `more than ${most} redirect${most === 1 ? '' : 's'}`)
    attempt.close()
    facts.connected = false
    facts.tls = null
    ask = next
  }
}

/** Reads the body of the last answer and says what is wrong with it all. @throws CheckFailed */
async function judge(attempt: Attempt, answer: Answer, url: URL, options: HttpOptions): Promise<void> {
  const { facts } = attempt
  const limit = options.body_limit_bytes ?? bodyMost
  let broken: unknown = null
  try {
    const octets = await attempt.within(bodyOf(answer, limit), 'no end of the answer')
    const text = textOf(octets, answer.headers['content-type'])
    facts.body = octets.length < limit ? text : withoutBegun(text, secretsAmong(options, httpSecrets))
  } catch (error) {
    broken = error
  }
  const ranges = statusRanges(options.accepted_status)
  if (!isAccepted(answer.status, ranges)) {
    const texts = ranges.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`))
    throw new CheckFailed('status', `HTTP ${answer.status} where ${texts.join(', ')} ${texts.length > 1 ? 'are' : 'is'} accepted`)
  }
  if (broken !== null) throw answerFailure(broken, true)
  const secure = url.protocol === 'https:'
  if (options.tls === 'required' && !secure) throw new CheckFailed('tls', 'the answer came without TLS, which is required')
  if (options.tls === 'forbidden' && secure) throw new CheckFailed('tls', 'the answer came over TLS, which is forbidden')
  for (const [name, pattern] of Object.entries(options.expected_headers ?? {})) {
    const value = answer.headers[name.toLowerCase()]
    if (value === undefined) throw new CheckFailed('content', `the answer has no header ${name}`)
    if (!matches(value, pattern)) throw new CheckFailed('content', `the header ${name} is not ${JSON.stringify(pattern)}`)
  }
}

/**
 * Where an answer leads (RFC 9110 section 15.4); null when nowhere. A POST becomes a GET after 301 and 302, as browsers do, and
 * whatever is no HEAD after 303.
 * @throws CheckFailed `redirects`
 */
function redirected({ url, method, body }: Ask, { status, headers }: Answer): Ask | null {
  const location = headers.location
  if (![301, 302, 303, 307, 308].includes(status) || location === undefined) return null
  const next = URL.parse(locationOf(location), url)
  if (!next || (next.protocol !== 'http:' && next.protocol !== 'https:')) {
    const where = next ? `a URL of the scheme ${next.protocol.slice(0, -1).slice(0, 20)}` : 'what is no URL'
    throw new CheckFailed('redirects', `redirected to ${where}`)
  }
  // Nobody but the owner of the monitor gives this check credentials.
  next.username = ''
  next.password = ''
  next.hash = ''
  const byGet = (status === 303 && method !== 'HEAD') || ((status === 301 || status === 302) && method === 'POST')
  return byGet ? { url: next, method: 'GET', body: null } : { url: next, method, body }
}

const bodyMost = 1024 * 1024

/** The decoded body, cut at the limit. Answers that have none by definition (RFC 9112 section 6.3) are not read: some servers send one. */
async function bodyOf(answer: Answer, limit: number): Promise<Buffer> {
  const { status, headers, body, method } = answer
  if (method === 'HEAD' || status === 204 || status === 304) return Buffer.alloc(0)
  const coding = headers['content-encoding']
  const sent = await readUpTo(body, coding ? codedMost(limit) : limit)
  if (!sent.cut && answer.isBroken()) throw Object.assign(new Error('closed'), { code: 'ECONNRESET' })
  return coding ? await decoded(sent, coding, limit) : sent.octets
}

/** The rest of the query stays as it was written. */
function neverSeen(target: URL): URL {
  const url = new URL(target)
  url.search += `${url.search === '' ? '?' : '&'}bailiwick_check=${randomBytes(8).toString('hex')}`
  return url
}

/** A header's octets came as Latin-1. Servers that send a URL beyond ASCII write it in UTF-8, and browsers read it so. */
function locationOf(text: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(text, 'latin1'))
  } catch {
    return text
  }
}

/** Redirects may carry what lets people in: their parameters are not shown. */
const shownUrl = (url: URL, redirected: boolean): string =>
  redirected && url.search ? `${url.origin}${url.pathname}?...` : url.href

/** Secrets of the options are hidden by whoever shows the facts; what came of them only this check knows. */
function hideIn(facts: Facts, hide: (text: string) => string): void {
  if (facts.request !== null) facts.request = hide(facts.request)
  if (facts.body !== null) facts.body = hide(facts.body)
  if (facts.headers) facts.headers = Object.fromEntries(Object.entries(facts.headers).map(([name, value]) => [name, hide(value)]))
}

/** What says nothing of the target stays what it is. */
function inverted({ error, status }: Facts): CheckError | null {
  if (!error) return { kind: 'status', message: `HTTP ${status} where a failure is expected` }
  return ['internal', 'unsupported', 'blocked_address'].includes(error.kind) ? error : null
}

/** @throws CheckInputRefused */
function httpTarget(text: string): string {
  const refused = (rule: string) => new CheckInputRefused('/target', rule)
  // The URL parser drops or rewrites these; what was saved must be what is called.
  const url = text.length > 2048 || /[\s\p{Cc}\\]/u.test(text) || !/^https?:\/\//i.test(text) ? null : URL.parse(text)
  if (!url) throw refused('must be a URL of the scheme http or https, of at most 2,048 characters.')
  if (url.username || url.password) throw refused('must not hold a user name or password: they belong into `options.auth`.')
  if (url.port === '0') throw refused('must have a port from 1 to 65535.')
  if (text.includes('#')) throw refused('must not hold a fragment, which is never sent.')
  return url.href
}
