import { Type } from '@sinclair/typebox'
import { Shape } from '../../../core/shapes'
import type { Message } from '../message'
import { jsonIn, judged } from './answers'
import { ChannelError, type ChannelKind, type ChannelSurroundings } from './channel'
import { HttpAddress } from './fields'
import { htmlText } from '../../../core/html-text'
import { cut, lookOf } from './looks'

interface TelegramSettings {
  bot_token: string
  chat_id: string
  message_thread_id?: number
  api_url: string
}

const signs = { critical: '🔴', warning: '🟠', good: '🟢', plain: 'ℹ️' } as const

/** A bot of Telegram (core.telegram.org/bots/api, sendMessage): 4,096 characters a message, about one a second a chat. */
export const telegram: ChannelKind<TelegramSettings> = {
  kind: 'telegram',
  title: 'Telegram',
  settings: Shape({
    bot_token: Type.String({
      pattern: '^\\d{1,20}:[A-Za-z0-9_-]{10,100}$',
      'x-rule': 'must be a token as @BotFather gives it, such as 123456:ABC-DEF.',
      description: 'Token of the bot.',
    }),
    chat_id: Type.String({
      pattern: '^(-?\\d{1,20}|@[A-Za-z0-9_]{1,64})$',
      'x-rule': 'must be the number of a chat or the @name of a channel.',
      description: 'The chat: its number, or the @name of a public channel.',
    }),
    message_thread_id: Type.Optional(
      Type.Integer({ minimum: 1, maximum: 2 ** 52, description: 'Topic of a group that has topics.' }),
    ),
    api_url: HttpAddress('Address of the Bot API, where it is one of your own.', 'https://api.telegram.org'),
  }),
  secrets: ['bot_token'],
  destination: ['api_url'],
  paceMs: 1_000,
  goneToDisable: 1,
  async send(settings, { message }, around) {
    const first = await ask(settings, settings.chat_id, message, around)
    // A group that grew into a supergroup has another number from then on.
    const moved = first.told['parameters']?.migrate_to_chat_id
    if (first.answer.status !== 400 || moved === undefined) return verdict(first, around.clock.now())
    const said = verdict(await ask(settings, String(moved), message, around), around.clock.now())
    return `${said} The chat has a new number: ${String(moved)}.`
  },
}

type Asked = Awaited<ReturnType<typeof ask>>

async function ask(
  { api_url, bot_token, message_thread_id }: TelegramSettings,
  chatId: string,
  message: Message,
  around: ChannelSurroundings,
) {
  const answer = await around.request({
    url: `${api_url.replace(/\/+$/, '')}/bot${bot_token}/sendMessage`,
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      chat_id: chatId,
      ...(message_thread_id !== undefined && { message_thread_id }),
      text: textOf(message),
      parse_mode: 'HTML',
      disable_notification: message.severity === 'info',
      link_preview_options: { is_disabled: true },
    }),
  })
  return { answer, told: jsonIn(answer) }
}

function verdict({ answer, told }: Asked, nowMs: number): string {
  const description = typeof told['description'] === 'string' ? cut(told['description'], 200) : ''
  if (
    answer.status === 400 &&
    /chat not found|bot is not a member|need administrator rights|have no rights|chat_write_forbidden|group is deactivated/i.test(
      description,
    )
  )
    throw new ChannelError('gone', `Telegram answered with status 400: ${description}`)
  const seconds = Number(told['parameters']?.retry_after)
  // 401 and 404: the token is none of a bot. 403: the bot was blocked, or removed from the chat.
  return judged(answer, nowMs, [401, 403, 404], {
    said: answer.status === 200 ? `Message ${String(told['result']?.message_id ?? '')}`.trim() : description,
    retryAfterMs: seconds > 0 ? seconds * 1_000 : null,
  })
}

function textOf(message: Message): string {
  const links = [
    message.link === null ? '' : `<a href="${htmlText(message.link)}">Open</a>`,
    message.acknowledgeLink === null ? '' : `<a href="${htmlText(message.acknowledgeLink)}">Acknowledge</a>`,
  ].filter(Boolean)
  const lines = [
    `${signs[lookOf(message)]} <b>${htmlText(cut(message.title, 300))}</b>`,
    ...(message.text === '' ? [] : [htmlText(cut(message.text, 1_500))]),
  ]
  // Entities count for more before they are read; half of the limit leaves room for them.
  let left = 2_000
  for (const [name, value] of message.facts) {
    const shown = cut(value, 300)
    left -= name.length + shown.length
    if (left < 0) break
    lines.push(`<b>${htmlText(name)}:</b> ${htmlText(shown)}`)
  }
  return [...lines, ...(links.length === 0 ? [] : [links.join(' · ')])].join('\n')
}
