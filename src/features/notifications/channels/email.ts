import { Type } from '@sinclair/typebox'
import { destination, secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { formatUtcSecond } from '../../../core/clock'
import { MailError, sendMail, type MailRoute } from '../../../core/net/mail'
import { mailPort, mailTls, type MailServer } from '../../../core/net/mail-server'
import { pluralize } from '../../../core/pluralize'
import { invalid } from '../../../core/problem'
import { Shape, Words } from '../../../core/shapes'
import type { Message } from '../message'
import { ChannelError, type ChannelKind, type ChannelContext } from './channel'
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
  to: Type.Array(mailbox('Email address.'), { minItems: 1, maxItems: 20, uniqueItems: true, description: 'Recipients.' }),
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
          Type.String({ ...destination, maxLength: 20_000, description: 'PEM certificates to trust instead of the public CAs.' }),
        ),
      },
      { description: 'Your own mail server. Default: the mail server of the installation.' },
    ),
  ),
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
  async send(settings, { id, message, thread, first, count }, context) {
    const { server, route, from } = await routeOf(settings, context)
    const idOf = (name: string) => `<${name}@${/@([^>\s]+)>?$/.exec(from)![1]!}>`
    try {
      const { response, rejected } = await sendMail(server, route, {
        from,
        to: settings.to,
        subject: truncate(message.title, 200),
        text: textOf(message),
        html: htmlOf(message),
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
      throw new ChannelError('temporary', 'This installation has no mail server. Set one in the settings of the channel.')
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

const textOf = (message: Message): string =>
  [
    message.title,
    message.text,
    message.facts.map(([name, value]) => `${name}: ${value}`).join('\n'),
    [
      message.link === null ? '' : `View details: ${message.link}`,
      message.acknowledgeLink === null ? '' : `Acknowledge: ${message.acknowledgeLink}`,
    ]
      .filter(Boolean)
      .join('\n'),
    formatUtcSecond(message.occurredAt),
  ]
    .filter(Boolean)
    .join('\n\n')

function htmlOf(message: Message): string {
  const cell = 'padding:4px 12px 4px 0;vertical-align:top;text-align:left'
  const rows = message.facts.map(
    ([name, value]) =>
      `<tr><th style="${cell};color:#6b7280;font-weight:normal">${htmlText(name)}</th><td style="${cell}">${htmlText(value)}</td></tr>`,
  )
  const links = [
    message.link === null ? '' : `<a href="${htmlText(message.link)}">View details</a>`,
    message.acknowledgeLink === null ? '' : `<a href="${htmlText(message.acknowledgeLink)}">Acknowledge</a>`,
  ].filter(Boolean)
  return [
    '<!doctype html><html><body style="font-family:sans-serif;font-size:14px;line-height:1.5">',
    `<h1 style="font-size:18px;border-left:4px solid ${colorOf(message)};padding-left:10px">${htmlText(message.title)}</h1>`,
    ...(message.text === '' ? [] : [`<p>${htmlText(message.text).replaceAll('\n', '<br>')}</p>`]),
    ...(rows.length === 0 ? [] : [`<table style="border-collapse:collapse">${rows.join('')}</table>`]),
    ...(links.length === 0 ? [] : [`<p>${links.join(' &nbsp; ')}</p>`]),
    `<p style="color:#6b7280">${formatUtcSecond(message.occurredAt)}</p>`,
    '</body></html>',
  ].join('\n')
}
