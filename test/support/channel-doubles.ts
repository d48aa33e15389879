import { mailDouble } from './mail-double'
import { receiver, type Received } from './receiver'

/** What arrived at a double. */
export interface Arrived {
  title: string
  /** All of it, headers too. */
  whole: string
}

/** A kind of channel with a double of the service that it speaks to. */
export interface ChannelUnderTest {
  kind: string
  settings: Record<string, unknown>
  /** What of the settings nobody may see. */
  secrets: string[]
  arrived(): Arrived[]
  /** How the service says that it is busy, that it does not take this message, that it takes none any more. */
  busy(): void
  refuse(): void
  go(): void
  /** The service takes messages again. */
  recover(): void
  /** What the service says to a message that it takes, as the log shows it. */
  said: string
  /** Milliseconds that it asks for when busy; null where it does not say. */
  askedMs: number | null
}

type Answers = Record<'well' | 'busy' | 'refused' | 'gone', () => Response>

const json = (value: unknown, status = 200, headers: Record<string, string> = {}) => Response.json(value, { status, headers })
const text = (value: string, status = 200, headers: Record<string, string> = {}) => new Response(value, { status, headers })

function overHttp(
  kind: string,
  given: (url: string) => { settings: Record<string, unknown>; secrets: string[] },
  answers: Answers,
  titleOf: (body: any, message: Received) => string,
  more: Pick<ChannelUnderTest, 'said' | 'askedMs'>,
): ChannelUnderTest {
  const double = receiver()
  double.answer = answers.well
  const set = (name: keyof Answers) => () => {
    double.answer = answers[name]
  }
  return {
    kind,
    ...given(double.url),
    ...more,
    arrived: () =>
      double.received.map(one => ({
        title: titleOf(JSON.parse(one.body), one),
        whole: `${one.path}\n${JSON.stringify([...one.headers])}\n${one.body}`,
      })),
    busy: set('busy'),
    refuse: set('refused'),
    go: set('gone'),
    recover: set('well'),
  }
}

/** Slack: 200 with the word ok; errors are words too (api.slack.com/changelog/2016-05-17). */
const slack = () =>
  overHttp(
    'slack',
    url => ({ settings: { url: `${url}/T0001/B0001/very-secret-slack` }, secrets: ['very-secret-slack'] }),
    {
      well: () => text('ok'),
      busy: () => text('rate_limited', 429, { 'retry-after': '30' }),
      refused: () => text('invalid_blocks', 400),
      gone: () => text('channel_is_archived', 410),
    },
    body => body.attachments[0].blocks[0].text.text,
    { said: 'ok', askedMs: 30_000 },
  )

/** Discord: 204 without a body; seconds to wait are in the body, with a fraction. */
const discord = () =>
  overHttp(
    'discord',
    url => ({ settings: { url: `${url}/very-secret-discord`, thread_id: '77' }, secrets: ['very-secret-discord'] }),
    {
      well: () => new Response(null, { status: 204 }),
      busy: () => json({ message: 'You are being rate limited.', retry_after: 64.57, global: false }, 429),
      refused: () => json({ message: 'Invalid Form Body', code: 50_035 }, 400),
      gone: () => json({ message: 'Unknown Webhook', code: 10_015 }, 404),
    },
    body => body.embeds[0].title,
    { said: 'Status 204', askedMs: 64_570 },
  )

/** Telegram: what went wrong is in `description`, how long to wait in `parameters`. */
const telegram = () =>
  overHttp(
    'telegram',
    url => ({
      settings: { bot_token: '123456:very-secret-telegram', chat_id: '-100200', message_thread_id: 5, api_url: url },
      secrets: ['very-secret-telegram'],
    }),
    {
      well: () => json({ ok: true, result: { message_id: 42 } }),
      busy: () =>
        json(
          { ok: false, error_code: 429, description: 'Too Many Requests: retry after 40', parameters: { retry_after: 40 } },
          429,
        ),
      refused: () => json({ ok: false, error_code: 400, description: "Bad Request: can't parse entities" }, 400),
      gone: () => json({ ok: false, error_code: 403, description: 'Forbidden: bot was blocked by the user' }, 403),
    },
    body => /<b>(.*?)<\/b>/.exec(body.text)![1]!,
    { said: 'Message 42', askedMs: 40_000 },
  )

/** ntfy: tells the message back; errors have a code of five digits. */
const ntfy = () =>
  overHttp(
    'ntfy',
    url => ({ settings: { server_url: url, topic: 'alerts', token: 'tk_very_secret_ntfy' }, secrets: ['tk_very_secret_ntfy'] }),
    {
      well: () => json({ id: 'sPs71M8A2T', event: 'message' }),
      busy: () => json({ code: 42_901, http: 429, error: 'limit reached: too many requests' }, 429),
      refused: () => json({ code: 40_007, http: 400, error: 'invalid request: priority invalid' }, 400),
      gone: () => json({ code: 40_301, http: 403, error: 'forbidden' }, 403),
    },
    body => body.title,
    { said: 'Message sPs71M8A2T', askedMs: null },
  )

/** A webhook with a template; the double answers with all that it got, as careless services do. */
const webhook = () =>
  overHttp(
    'webhook',
    url => ({
      settings: {
        url: `${url}?key={{secret.key}}`,
        headers: { Authorization: 'Bearer very-secret-header' },
        secrets: { key: 'very-secret-key' },
        body: '{"title": "{{message.title}}", "key": "{{secret.key}}", "state": "{{message.state}}", "name": $NAME_JSON}',
      },
      secrets: ['very-secret-header', 'very-secret-key'],
    }),
    {
      well: () => text('taken, with very-secret-key'),
      busy: () => text('down for maintenance', 503, { 'retry-after': '20' }),
      refused: () => text('no such member: very-secret-key', 422),
      gone: () => text('gone', 410),
    },
    body => body.title,
    { said: 'taken, with •••', askedMs: 20_000 },
  )

const email = async (): Promise<ChannelUnderTest> => {
  const double = await mailDouble()
  mails.push(double)
  const set = (answer: string | null) => () => {
    double.recipient = () => answer
  }
  return {
    kind: 'email',
    settings: {
      to: ['ada@example.com'],
      from: 'alerts@example.com',
      server: { host: '127.0.0.1', port: double.port, tls: 'none' },
    },
    secrets: [],
    arrived: () => double.taken.map(one => ({ title: subjectOf(one.text), whole: one.text })),
    busy: set('451 4.7.1 greylisted, come back later'),
    refuse: set(null),
    go: set('550 5.1.1 no such user'),
    recover: set(null),
    said: '250 2.0.0 queued as 4F1',
    askedMs: null,
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
/** Stops the doubles of mail servers; the others are receivers. */
export const stopMails = (): void => {
  for (const double of mails.splice(0)) double.stop()
}

/** A double for each kind that there is; a kind without one fails its contract. */
export const channelDoubles: Record<string, () => ChannelUnderTest | Promise<ChannelUnderTest>> = {
  email,
  slack,
  discord,
  telegram,
  ntfy,
  webhook,
}
