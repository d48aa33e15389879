import { mailDouble } from './mail-double'
import { receiver, type Received } from './receiver'

/** A message that a double received. */
export interface ReceivedMessage {
  title: string
  /** The whole request, including headers. */
  whole: string
}

/** A channel type with a double of its service. */
export interface ChannelUnderTest {
  kind: string
  settings: Record<string, unknown>
  /** Secrets in the settings. */
  secrets: string[]
  arrived(): ReceivedMessage[]
  /** Makes the service respond as overloaded, reject messages, or report that the destination no longer exists. */
  busy(): void
  reject(): void
  disappear(): void
  /** Makes the service accept messages again. */
  recover(): void
  /** Response to an accepted message, as shown in the log. */
  response: string
  /** Delay that it requests when busy, in milliseconds; null for none. */
  retryAfterMs: number | null
}

type Responses = Record<'ok' | 'busy' | 'rejected' | 'gone', () => Response>

const json = (value: unknown, status = 200, headers: Record<string, string> = {}) => Response.json(value, { status, headers })
const text = (value: string, status = 200, headers: Record<string, string> = {}) => new Response(value, { status, headers })

function overHttp(
  kind: string,
  settingsFor: (url: string) => { settings: Record<string, unknown>; secrets: string[] },
  responses: Responses,
  titleOf: (body: any, message: Received) => string,
  more: Pick<ChannelUnderTest, 'response' | 'retryAfterMs'>,
): ChannelUnderTest {
  const double = receiver()
  double.answer = responses.ok
  const set = (name: keyof Responses) => () => {
    double.answer = responses[name]
  }
  return {
    kind,
    ...settingsFor(double.url),
    ...more,
    arrived: () =>
      double.received.map(one => ({
        title: titleOf(JSON.parse(one.body), one),
        whole: `${one.path}\n${JSON.stringify([...one.headers])}\n${one.body}`,
      })),
    busy: set('busy'),
    reject: set('rejected'),
    disappear: set('gone'),
    recover: set('ok'),
  }
}

/** Slack: 200 with the text `ok`; errors are plain text (api.slack.com/changelog/2016-05-17). */
const slack = () =>
  overHttp(
    'slack',
    url => ({ settings: { url: `${url}/T0001/B0001/very-secret-slack` }, secrets: ['very-secret-slack'] }),
    {
      ok: () => text('ok'),
      busy: () => text('rate_limited', 429, { 'retry-after': '30' }),
      rejected: () => text('invalid_blocks', 400),
      gone: () => text('channel_is_archived', 410),
    },
    body => body.text,
    { response: 'ok', retryAfterMs: 30_000 },
  )

/** Discord: 204 without a body. The delay is in the body, in fractional seconds. */
const discord = () =>
  overHttp(
    'discord',
    url => ({ settings: { url: `${url}/very-secret-discord`, thread_id: '77' }, secrets: ['very-secret-discord'] }),
    {
      ok: () => new Response(null, { status: 204 }),
      busy: () => json({ message: 'You are being rate limited.', retry_after: 64.57, global: false }, 429),
      rejected: () => json({ message: 'Invalid Form Body', code: 50_035 }, 400),
      gone: () => json({ message: 'Unknown Webhook', code: 10_015 }, 404),
    },
    body => body.embeds[0].title,
    { response: 'Status 204', retryAfterMs: 64_570 },
  )

/** Telegram: the error is in `description`, the delay in `parameters`. */
const telegram = () =>
  overHttp(
    'telegram',
    url => ({
      settings: { bot_token: '123456:very-secret-telegram', chat_id: '-100200', message_thread_id: 5, api_url: url },
      secrets: ['very-secret-telegram'],
    }),
    {
      ok: () => json({ ok: true, result: { message_id: 42 } }),
      busy: () =>
        json(
          { ok: false, error_code: 429, description: 'Too Many Requests: retry after 40', parameters: { retry_after: 40 } },
          429,
        ),
      rejected: () => json({ ok: false, error_code: 400, description: "Bad Request: can't parse entities" }, 400),
      gone: () => json({ ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' }, 403),
    },
    body => /<b>(.*?)<\/b>/.exec(body.text)![1]!,
    { response: 'Message 42', retryAfterMs: 40_000 },
  )

/** ntfy: returns the message; errors have a five-digit code. */
const ntfy = () =>
  overHttp(
    'ntfy',
    url => ({ settings: { server_url: url, topic: 'alerts', token: 'tk_very_secret_ntfy' }, secrets: ['tk_very_secret_ntfy'] }),
    {
      ok: () => json({ id: 'sPs71M8A2T', event: 'message' }),
      busy: () => json({ code: 42_901, http: 429, error: 'limit reached: too many requests' }, 429),
      rejected: () => json({ code: 40_007, http: 400, error: 'invalid request: priority invalid' }, 400),
      gone: () => json({ code: 40_301, http: 403, error: 'forbidden' }, 403),
    },
    body => body.title,
    { response: 'Message sPs71M8A2T', retryAfterMs: null },
  )

/** A webhook with a template. The double echoes secrets, as careless services do. */
const webhook = () =>
  overHttp(
    'webhook',
    url => ({
      settings: {
        url: `${url}?key={{secret.key}}`,
        headers: { Authorization: 'Bearer very-secret-header' },
        secrets: { key: 'very-secret-key' },
        body: '{"title": "{{message.title}}", "key": "{{secret.key}}", "facts": "{{message.facts}}", "hub": "{{hub.name}}", "name": $NAME_JSON}',
      },
      secrets: ['very-secret-header', 'very-secret-key'],
    }),
    {
      ok: () => text('accepted, with very-secret-key'),
      busy: () => text('down for maintenance', 503, { 'retry-after': '20' }),
      rejected: () => text('unknown field: very-secret-key', 422),
      gone: () => text('gone', 410),
    },
    body => body.title,
    { response: 'accepted, with [redacted]', retryAfterMs: 20_000 },
  )

const email = async (): Promise<ChannelUnderTest> => {
  const double = await mailDouble()
  mails.push(double)
  const set = (refusal: string | null) => () => {
    double.recipient = () => refusal
  }
  return {
    kind: 'email',
    settings: {
      to: ['ada@example.com'],
      from: 'alerts@example.com',
      server: { host: '127.0.0.1', port: double.port, tls: 'none' },
    },
    secrets: [],
    arrived: () => double.received.map(one => ({ title: subjectOf(one.text), whole: one.text })),
    busy: set('451 4.7.1 greylisted, come back later'),
    reject: set(null),
    disappear: set('550 5.1.1 no such user'),
    recover: set(null),
    response: '250 2.0.0 queued as 4F1',
    retryAfterMs: null,
  }
}

/** The subject of a mail, unfolded and decoded (RFC 2047, encoding Q). */
const subjectOf = (mail: string): string =>
  /^Subject: (.*(?:\n[ \t].*)*)$/m
    .exec(mail)![1]!
    .replaceAll(/\?=\n[ \t]=\?UTF-8\?Q\?/g, '')
    .replaceAll(/\n[ \t]/g, ' ')
    .replaceAll(/=\?UTF-8\?Q\?(.*?)\?=/g, (_, text: string) =>
      decodeURIComponent(text.replaceAll('%', '%25').replaceAll('_', ' ').replaceAll('=', '%')),
    )

const mails: { stop(): void }[] = []
/** Stops the mail server doubles. The others are receivers. */
export const stopMails = (): void => {
  for (const double of mails.splice(0)) double.stop()
}

/** A double for each channel type. The contract test requires one for every type. */
export const channelDoubles: Record<string, () => ChannelUnderTest | Promise<ChannelUnderTest>> = {
  email,
  slack,
  discord,
  telegram,
  ntfy,
  webhook,
}
