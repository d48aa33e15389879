import { Type } from '@sinclair/typebox'
import { destination, secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { MailError, sendMail, type MailRoute } from '../../../core/net/mail'
import { mailPort, mailTls, type MailServer } from '../../../core/net/mail-server'
import { pluralize } from '../../../core/pluralize'
import { invalid } from '../../../core/problem'
import { grouped, Shape, Words } from '../../../core/shapes'
import type { Message } from '../message'
import { ChannelError, type ChannelKind, type ChannelContext, type Outgoing } from './channel'
import { Timezone } from './fields'
import { htmlText } from '../../../core/html-text'
import { colorOf, truncate } from './styles'

const mailbox = (description: string) =>
  Type.String({
    maxLength: 254,
    // No comments or quoted names: the value is used unchanged in headers and the envelope.
    pattern: '^[^\\s@<>(),;:"\\\\\\u0000-\\u001f\\u007f]+@[^\\s@<>(),;:"\\\\\\u0000-\\u001f\\u007f]+$',
    'x-rule': 'must be an email address.',
    description,
  })

const form = settingsForm({
  to: Type.Array(mailbox('Email address.'), {
    minItems: 1,
    maxItems: 20,
    uniqueItems: true,
    title: 'Recipients',
    description: 'Recipients.',
  }),
  ...grouped('Mail server', {
    from: Type.Optional(
      mailbox(
        'Sender address. Required with your own mail server. Can’t be set otherwise: the sender address of the installation is used.',
      ),
    ),
    server: Type.Optional(
      Shape(
        {
          host: Type.String({
            ...destination,
            minLength: 1,
            maxLength: 253,
            pattern: '^[A-Za-z0-9.:_-]+$',
            description: 'Hostname or IP address.',
          }),
          port: Type.Optional(
            Type.Integer({
              ...destination,
              minimum: 1,
              maximum: 65_535,
              description: 'Port. Default: 465 with `implicit`, otherwise 587.',
            }),
          ),
          tls: Words(mailTls, {
            ...destination,
            description:
              '`implicit`: implicit TLS, encrypted from the start. `starttls`: STARTTLS is required. `opportunistic`: STARTTLS if available, ' +
              'otherwise unencrypted. `none`: unencrypted. A password requires `implicit` or `starttls`.',
          }),
          username: Type.Optional(Type.String({ ...destination, minLength: 1, maxLength: 254, description: 'Username.' })),
          password: Type.Optional(
            Type.String({ ...secret, minLength: 1, maxLength: 500, description: 'Password. Stored encrypted.' }),
          ),
          ca: Type.Optional(
            Type.String({
              ...destination,
              maxLength: 20_000,
              description: 'PEM certificates to trust instead of the public CAs.',
            }),
          ),
        },
        { description: 'Your own mail server. Default: the mail server of the installation.' },
      ),
    ),
  }),
  timezone: Timezone('If all recipients are members with the same time zone in their profiles, that one is used instead.'),
})
type EmailSettings = SettingsOf<typeof form>

/** Email, through the mail server of the installation or one of the workspace. */
export const email: ChannelKind<EmailSettings> = {
  kind: 'email',
  title: 'Email',
  ...form,
  paceMs: 1_000,
  goneBeforeDisable: 3,
  validate({ from, server }) {
    if (server === undefined) {
      if (from !== undefined)
        throw invalid([{ pointer: '#/settings/from', code: 'not_allowed', detail: 'can only be set together with `server`.' }])
      return
    }
    if (from === undefined)
      throw invalid([{ pointer: '#/settings/from', code: 'required', detail: 'is required when `server` is set.' }])
    if ((server.username === undefined) !== (server.password === undefined))
      throw invalid([
        { pointer: '#/settings/server/password', code: 'required', detail: 'must be set together with `username`.' },
      ])
    if (server.password !== undefined && (server.tls === 'opportunistic' || server.tls === 'none'))
      throw invalid([
        {
          pointer: '#/settings/server/tls',
          code: 'not_allowed',
          detail: 'must be `implicit` or `starttls` if a password is set.',
        },
      ])
  },
  async send(settings, outgoing, context) {
    const { id, message, thread, first, count } = outgoing
    const { server, route, from } = await routeOf(settings, context)
    const idOf = (name: string) => `<${name}@${/@([^>\s]+)>?$/.exec(from)![1]!}>`
    try {
      const { response, rejected } = await sendMail(server, route, {
        from,
        to: settings.to,
        subject: truncate(message.title, 200),
        text: textOf(outgoing),
        html: htmlOf(outgoing),
        messageId: idOf(first ? thread : id),
        references: first || count > 1 ? [] : [idOf(thread)],
        headers: {
          // Suppresses automatic replies (RFC 3834).
          'Auto-Submitted': 'auto-generated',
          'X-Auto-Response-Suppress': 'All',
          'X-Bailiwick-Notification': id,
        },
        date: context.clock.now(),
      })
      return rejected.length === 0
        ? response
        : `${response} (rejected for ${pluralize(rejected.length, 'recipients')}: ${rejected.join(', ')})`
    } catch (error) {
      if (!(error instanceof MailError)) throw error
      throw new ChannelError(error.failure === 'temporary' ? 'temporary' : 'gone', error.message)
    }
  },
}

async function routeOf(
  { server, from }: EmailSettings,
  context: ChannelContext,
): Promise<{ server: MailServer; route: MailRoute; from: string }> {
  if (server === undefined) {
    if (context.mail === null || context.mailFrom === null)
      // A retry would fail too, until a mail server is configured.
      throw new ChannelError(
        'rejected',
        'This installation has no mail server. Ask the operator to set BAILIWICK_SMTP_URL and BAILIWICK_MAIL_FROM, or set a mail server in the settings of the channel.',
      )
    // Configured by the operator, so the network policy of the workspace doesn't apply.
    return { server: context.mail, route: { address: context.mail.host, helloName: context.hostName }, from: context.mailFrom }
  }
  const port = server.port ?? mailPort(server.tls)
  const { address, host } = await context.vet(server.host, port)
  return {
    server: { host, port, tls: server.tls, user: server.username ?? null, password: server.password ?? null },
    route: { address, helloName: context.hostName, ...(server.ca !== undefined && { ca: server.ca }) },
    from: from!,
  }
}

// The subject is the title, so the body doesn’t repeat it.

const textOf = ({ message, time, hub }: Outgoing): string =>
  [
    message.text,
    factsOf(message, time)
      .map(([name, value]) => `${name}: ${value}`)
      .join('\n'),
    linksOf(message)
      .map(([label, url]) => `${label}: ${url}`)
      .join('\n'),
    `Sent by Bailiwick at ${hub.url}`,
  ]
    .filter(Boolean)
    .join('\n\n')

function htmlOf({ message, time, hub }: Outgoing): string {
  const muted = 'opacity:0.7'
  const cell = 'padding:3px 16px 3px 0;vertical-align:top;text-align:left;overflow-wrap:anywhere'
  const rows = factsOf(message, time).map(
    ([name, value]) =>
      `<tr><th style="${cell};${muted};font-weight:normal;white-space:nowrap">${htmlText(name)}</th><td style="${cell}">${htmlText(value)}</td></tr>`,
  )
  const links = linksOf(message).map(([label, url]) => `<a href="${htmlText(url)}">${label}</a>`)
  return [
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">',
    '<meta name="color-scheme" content="light dark"></head>',
    '<body style="font-family:system-ui,sans-serif;font-size:15px;line-height:1.5">',
    `<div style="border-left:4px solid ${colorOf(message)};padding-left:14px">`,
    ...(message.text === ''
      ? []
      : [`<p style="margin:0 0 8px;font-size:17px">${htmlText(message.text).replaceAll('\n', '<br>')}</p>`]),
    ...(rows.length === 0 ? [] : [`<table style="border-collapse:collapse">${rows.join('')}</table>`]),
    '</div>',
    ...(links.length === 0 ? [] : [`<p>${links.join(' &nbsp; ')}</p>`]),
    `<p style="${muted};font-size:13px">Sent by Bailiwick at <a href="${htmlText(hub.url)}" style="color:inherit">${htmlText(hub.name)}</a></p>`,
    '</body></html>',
  ].join('\n')
}

/** The facts, with a time: an email that was held or delayed has a later date. */
const factsOf = ({ facts }: Message, time: string): Message['facts'] =>
  facts.some(([, value]) => / UTC\b/.test(value)) ? facts : [...facts, ['Time', time]]

const linksOf = ({ link, acknowledgeLink }: Message): [label: string, url: string][] => [
  ...(link === null ? [] : [['View details', link] as [string, string]]),
  ...(acknowledgeLink === null ? [] : [['Acknowledge', acknowledgeLink] as [string, string]]),
]
