import { Type } from '@sinclair/typebox'
import { destination, secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { checkResponse, objectOf, postJson } from './responses'
import { ChannelError, type ChannelKind, type ChannelContext, type Outgoing } from './channel'
import { HttpUrl, Timezone } from './fields'
import { htmlText } from '../../../core/html-text'
import { grouped } from '../../../core/shapes'
import { truncate, styleOf } from './styles'

const icons = { critical: '🔴', warning: '🟠', good: '🟢', plain: 'ℹ️' } as const

const form = settingsForm({
  bot_token: Type.String({
    ...secret,
    pattern: '^\\d{1,20}:[A-Za-z0-9_-]{10,100}$',
    'x-rule': 'must be a bot token from @BotFather, such as 123456:ABC-DEF.',
    description: 'Bot token. Stored encrypted.',
  }),
  chat_id: Type.String({
    pattern: '^(-?\\d{1,20}|@[A-Za-z0-9_]{1,64})$',
    'x-rule': 'must be a numeric chat ID or the @name of a channel.',
    description: 'Numeric chat ID, or the @name of a public channel.',
  }),
  ...grouped('Topic and Bot API', {
    message_thread_id: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2 ** 52,
        title: 'Topic ID',
        description: 'For a group with topics.',
      }),
    ),
    api_url: HttpUrl('Only if you run your own Bot API server.', {
      ...destination,
      title: 'Bot API URL',
      default: 'https://api.telegram.org',
    }),
  }),
  timezone: Timezone(),
})
type TelegramSettings = SettingsOf<typeof form>

/** A Telegram bot (core.telegram.org/bots/api, sendMessage). Limits: 4,096 characters per message, about one a second per chat. */
export const telegram: ChannelKind<TelegramSettings> = {
  kind: 'telegram',
  title: 'Telegram',
  ...form,
  paceMs: 1_000,
  goneBeforeDisable: 1,
  async send(settings, outgoing, context) {
    const first = await sendMessage(settings, settings.chat_id, outgoing, context)
    // A group that was upgraded to a supergroup has a new chat id.
    const newChatId: unknown = first.body['parameters']?.migrate_to_chat_id
    if (first.response.status !== 400 || !Number.isSafeInteger(newChatId)) return resultOf(first, context)
    const chat_id = String(newChatId)
    context.replaceSettings({ chat_id })
    const text = resultOf(await sendMessage(settings, chat_id, outgoing, context), context)
    return `${text}. The chat has a new id: ${chat_id}.`
  },
}

type Reply = Awaited<ReturnType<typeof sendMessage>>

async function sendMessage(
  { api_url, bot_token, message_thread_id }: TelegramSettings,
  chatId: string,
  outgoing: Outgoing,
  context: ChannelContext,
) {
  const response = await postJson(context, `${api_url.replace(/\/+$/, '')}/bot${bot_token}/sendMessage`, {
    chat_id: chatId,
    ...(message_thread_id !== undefined && { message_thread_id }),
    text: textOf(outgoing),
    parse_mode: 'HTML',
    disable_notification: outgoing.message.severity === 'info',
    link_preview_options: { is_disabled: true },
  })
  return { response, body: objectOf(response) }
}

function resultOf({ response, body }: Reply, context: ChannelContext): string {
  const description = typeof body['description'] === 'string' ? truncate(body['description'], 200) : ''
  if (
    response.status === 400 &&
    /chat not found|bot is not a member|need administrator rights|have no rights|chat_write_forbidden|group is deactivated/i.test(
      description,
    )
  )
    throw new ChannelError('gone', `Telegram responded with status 400: ${description}`)
  const seconds = Number(body['parameters']?.retry_after)
  // 401 and 404: invalid bot token. 403: the bot was blocked or removed from the chat.
  return checkResponse(context, response, [401, 403, 404], {
    text: response.status === 200 ? `Message ${String(body['result']?.message_id ?? '')}`.trim() : description,
    retryAfterMs: seconds > 0 ? seconds * 1_000 : null,
  })
}

function textOf({ message, hub }: Outgoing): string {
  const links = [
    message.link === null ? '' : `<a href="${htmlText(message.link)}">View details</a>`,
    message.acknowledgeLink === null ? '' : `<a href="${htmlText(message.acknowledgeLink)}">Acknowledge</a>`,
  ].filter(Boolean)
  const lines = [
    `${icons[styleOf(message)]} <b>${htmlText(truncate(message.title, 300))}</b>`,
    ...(message.text === '' ? [] : [htmlText(truncate(message.text, 1_500))]),
  ]
  // HTML entities count at full length; keep well below the limit.
  let remaining = 2_000
  for (const [name, value] of message.facts) {
    const shown = truncate(value, 300)
    remaining -= name.length + shown.length
    if (remaining < 0) break
    lines.push(`<b>${htmlText(name)}:</b> ${htmlText(shown)}`)
  }
  return [...lines, ...(links.length === 0 ? [] : [links.join(' · ')]), `<i>${htmlText(hub.name)}</i>`].join('\n')
}
