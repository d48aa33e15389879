import { Type } from '@sinclair/typebox'
import { secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import { instant } from '../../../core/clock'
import { grouped, Line } from '../../../core/shapes'
import { checkResponse, objectOf, postJson } from './responses'
import type { ChannelKind, Outgoing } from './channel'
import { HttpUrl, Timezone } from './fields'
import { colorOf, truncate } from './styles'

// Message flag SUPPRESS_NOTIFICATIONS, 1 << 12.
const silently = 4_096

const form = settingsForm({
  url: HttpUrl('Webhook URL. Stored encrypted.', secret),
  ...grouped('Message', {
    // Discord rejects names that contain “discord”.
    username: Line({
      minLength: 1,
      maxLength: 80,
      default: 'Bailiwick',
      title: 'Sender name',
      description: 'Name shown with the messages.',
    }),
    thread_id: Type.Optional(Type.String({ pattern: '^\\d{1,20}$', description: 'ID of a thread in the channel.' })),
  }),
  timezone: Timezone(),
})
type DiscordSettings = SettingsOf<typeof form>

/**
 * A Discord webhook. Embed limits (docs.discord.com, resources/message): title 256 characters, description 4,096, 25 fields of 256 and
 * 1,024, 6,000 in total. Rate limit: five messages in two seconds per webhook.
 */
export const discord: ChannelKind<DiscordSettings> = {
  kind: 'discord',
  title: 'Discord',
  ...form,
  paceMs: 500,
  goneBeforeDisable: 1,
  async send({ url, username, thread_id }, outgoing, context) {
    const { message } = outgoing
    const address = new URL(url)
    if (thread_id !== undefined) address.searchParams.set('thread_id', thread_id)
    const response = await postJson(context, address.href, {
      username,
      embeds: [embedOf(outgoing)],
      // Messages must not mention anyone.
      allowed_mentions: { parse: [] },
      ...(message.severity === 'info' && { flags: silently }),
    })
    const body = objectOf(response)
    const seconds = Number(body['retry_after'])
    return checkResponse(context, response, [401, 403, 404], {
      ...(typeof body['message'] === 'string' && { text: truncate(body['message'], 200) }),
      retryAfterMs: response.status === 429 && seconds > 0 ? Math.ceil(seconds * 1_000) : null,
    })
  },
}

function embedOf({ message, hub }: Outgoing): object {
  const title = truncate(escapeMarkdown(message.title), 256)
  const description = truncate(escapeMarkdown(message.text), 2_000)
  const acknowledge =
    message.acknowledgeLink === null
      ? []
      : [{ name: 'Acknowledge', value: truncate(message.acknowledgeLink, 1_024), inline: false }]
  let left =
    5_800 - title.length - description.length - acknowledge.reduce((sum, one) => sum + one.name.length + one.value.length, 0)
  const fields: object[] = []
  for (const [name, value] of message.facts.slice(0, 24)) {
    const field = { name: truncate(escapeMarkdown(name), 256) || '–', value: truncate(escapeMarkdown(value), 1_024) || '–' }
    left -= field.name.length + field.value.length
    if (left < 0) break
    fields.push({ ...field, inline: value.length <= 40 })
  }
  return {
    title,
    ...(description !== '' && { description }),
    ...(message.link !== null && { url: message.link }),
    color: Number.parseInt(colorOf(message).slice(1), 16),
    timestamp: instant(message.occurredAt),
    fields: [...fields, ...acknowledge],
    footer: { text: truncate(hub.name, 100) },
  }
}

/**
 * Escapes Markdown, so that names appear literally and text from monitored servers can't disguise links. URLs are left unchanged, because
 * Discord detects links before it removes backslashes.
 */
const escapeMarkdown = (text: string): string =>
  text
    .split(/(https?:\/\/[^\s<]+)/)
    .map((part, index) =>
      index % 2 === 1 ? part : part.replaceAll(/[\\*~`|[\]]|\b_|_\b/g, '\\$&').replaceAll(/^([#>-])/gm, '\\$1'),
    )
    .join('')
