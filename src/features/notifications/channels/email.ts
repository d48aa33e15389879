import { Type } from '@sinclair/typebox'
import { instant } from '../../../core/clock'
import { MailFailed, sendMail, type MailRoute } from '../../../core/net/mail'
import { mailPort, mailTls, type MailServer, type MailTls } from '../../../core/net/mail-server'
import { numbered } from '../../../core/numbered'
import { invalid } from '../../../core/problem'
import { Shape, Words } from '../../../core/shapes'
import type { Message } from '../message'
import { ChannelError, type ChannelKind, type ChannelSurroundings } from './channel'
import { htmlText } from '../../../core/html-text'
import { colorOf, cut } from './looks'

interface EmailSettings {
  to: string[]
  from?: string
  server?: { host: string; port?: number; tls: MailTls; username?: string; password?: string; ca?: string }
}

const mailbox = (description: string) =>
  Type.String({
    maxLength: 254,
    // No comment, no quoted name: what stands here is put into a header and an envelope as it is.
    pattern: '^[^\\s@<>(),;:"\\\\\\u0000-\\u001f\\u007f]+@[^\\s@<>(),;:"\\\\\\u0000-\\u001f\\u007f]+$',
    'x-rule': 'must be an e-mail address.',
    description,
  })

/** Mail, through the server of the installation or one of the workspace's own. */
export const email: ChannelKind<EmailSettings> = {
  kind: 'email',
  title: 'E-mail',
  settings: Shape({
    to: Type.Array(mailbox('An address.'), { minItems: 1, maxItems: 20, uniqueItems: true, description: 'Who is told.' }),
    from: Type.Optional(mailbox('Sender, which goes with a server of your own.')),
    server: Type.Optional(
      Shape(
        {
          host: Type.String({ minLength: 1, maxLength: 253, pattern: '^[A-Za-z0-9.:_-]+$', description: 'Name or address.' }),
          port: Type.Optional(
            Type.Integer({ minimum: 1, maximum: 65_535, description: 'Port; 465 with `implicit`, else 587, when absent.' }),
          ),
          tls: Words(mailTls, {
            description: '`implicit` from the start; `starttls` before the login; `offered` where the server offers it; `none`.',
          }),
          username: Type.Optional(Type.String({ minLength: 1, maxLength: 254, description: 'Name to log in with.' })),
          password: Type.Optional(Type.String({ minLength: 1, maxLength: 500, description: 'Its password.' })),
          ca: Type.Optional(
            Type.String({ maxLength: 20_000, description: 'PEM certificates that are trusted instead of those that all trust.' }),
          ),
        },
        { description: 'A mail server of your own; the one of the installation when absent.' },
      ),
    ),
  }),
  secrets: ['server/password'],
  destination: ['server/host', 'server/port', 'server/username', 'server/ca', 'server/tls'],
  paceMs: 1_000,
  goneToDisable: 3,
  refuse({ from, server }) {
    if (server === undefined) {
      if (from !== undefined)
        throw invalid([{ pointer: '#/settings/from', code: 'not_allowed', detail: 'goes with a `server` of your own alone.' }])
      return
    }
    if (from === undefined)
      throw invalid([{ pointer: '#/settings/from', code: 'required', detail: 'is required with a `server`.' }])
    if ((server.username === undefined) !== (server.password === undefined))
      throw invalid([{ pointer: '#/settings/server/password', code: 'required', detail: 'goes together with `username`.' }])
    if (server.password !== undefined && (server.tls === 'offered' || server.tls === 'none'))
      throw invalid([
        {
          pointer: '#/settings/server/tls',
          code: 'not_allowed',
          detail: 'must be `implicit` or `starttls` where there is a password.',
        },
      ])
  },
  async send(settings, { id, message, thread, first, count }, around) {
    const { server, route, from } = await routeOf(settings, around)
    const idOf = (name: string) => `<${name}@${/@([^>\s]+)>?$/.exec(from)![1]!}>`
    try {
      const { said, refused } = await sendMail(server, route, {
        from,
        to: settings.to,
        subject: cut(message.title, 200),
        text: textOf(message),
        html: htmlOf(message),
        messageId: idOf(first ? thread : id),
        references: first || count > 1 ? [] : [idOf(thread)],
        headers: {
          // RFC 3834: holiday replies and the like are not for programs.
          'Auto-Submitted': 'auto-generated',
          'X-Auto-Response-Suppress': 'All',
          'X-Bailiwick-Notification': id,
        },
        date: around.clock.now(),
      })
      return refused.length === 0
        ? said
        : `${said} (not taken for ${numbered(refused.length, 'recipients')}: ${refused.join(', ')})`
    } catch (error) {
      if (!(error instanceof MailFailed)) throw error
      throw new ChannelError(error.failure === 'passing' ? 'passing' : 'gone', error.message)
    }
  },
}

async function routeOf(
  { server, from }: EmailSettings,
  around: ChannelSurroundings,
): Promise<{ server: MailServer; route: MailRoute; from: string }> {
  if (server === undefined) {
    if (around.mail === null || around.mailFrom === null)
      throw new ChannelError('passing', 'This installation has no mail server: name one in the settings of the channel.')
    // The operator's own, which no policy of a workspace is about.
    return { server: around.mail, route: { address: around.mail.host, helloName: around.hostName }, from: around.mailFrom }
  }
  const port = server.port ?? mailPort(server.tls)
  const { address, host } = await around.vet(server.host, port)
  return {
    server: { host, port, tls: server.tls, user: server.username ?? null, password: server.password ?? null },
    route: { address, helloName: around.hostName, ...(server.ca !== undefined && { ca: server.ca }) },
    from: from!,
  }
}

const textOf = (message: Message): string =>
  [
    message.title,
    message.text,
    message.facts.map(([name, value]) => `${name}: ${value}`).join('\n'),
    [
      message.link === null ? '' : `Open: ${message.link}`,
      message.acknowledgeLink === null ? '' : `Acknowledge: ${message.acknowledgeLink}`,
    ]
      .filter(Boolean)
      .join('\n'),
    instant(message.occurredAt),
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
    message.link === null ? '' : `<a href="${htmlText(message.link)}">Open</a>`,
    message.acknowledgeLink === null ? '' : `<a href="${htmlText(message.acknowledgeLink)}">Acknowledge</a>`,
  ].filter(Boolean)
  return [
    '<!doctype html><html><body style="font-family:sans-serif;font-size:14px;line-height:1.5">',
    `<h1 style="font-size:18px;border-left:4px solid ${colorOf(message)};padding-left:10px">${htmlText(message.title)}</h1>`,
    ...(message.text === '' ? [] : [`<p>${htmlText(message.text).replaceAll('\n', '<br>')}</p>`]),
    ...(rows.length === 0 ? [] : [`<table style="border-collapse:collapse">${rows.join('')}</table>`]),
    ...(links.length === 0 ? [] : [`<p>${links.join(' &nbsp; ')}</p>`]),
    `<p style="color:#6b7280">${instant(message.occurredAt)}</p>`,
    '</body></html>',
  ].join('\n')
}
