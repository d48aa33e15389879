import { Type } from '@sinclair/typebox'
import { instant } from '../../../core/clock'
import { Line, Shape } from '../../../core/shapes'
import type { Message } from '../message'
import { jsonIn, judged } from './answers'
import type { ChannelKind } from './channel'
import { HttpAddress } from './fields'
import { colorOf, cut } from './looks'

interface DiscordSettings {
  url: string
  username: string
  thread_id?: string
}

// Message flag SUPPRESS_NOTIFICATIONS, 1 << 12.
const silently = 4_096

/**
 * A webhook of Discord. Limits of an embed by docs.discord.com, resources/message: title 256 characters, description 4,096, 25 fields of
 * 256 and 1,024, 6,000 in all; five messages in two seconds a webhook.
 */
export const discord: ChannelKind<DiscordSettings> = {
  kind: 'discord',
  title: 'Discord',
  settings: Shape({
    url: HttpAddress('Address of the webhook. It is a secret.'),
    // Names with `discord` in them are refused there.
    username: Line({ minLength: 1, maxLength: 80, default: 'Bailiwick', description: 'Name that messages appear under.' }),
    thread_id: Type.Optional(Type.String({ pattern: '^\\d{1,20}$', description: 'Id of a thread of the channel.' })),
  }),
  secrets: ['url'],
  destination: [],
  paceMs: 500,
  goneToDisable: 1,
  async send({ url, username, thread_id }, { message }, around) {
    const address = new URL(url)
    if (thread_id !== undefined) address.searchParams.set('thread_id', thread_id)
    const answer = await around.request({
      url: address.href,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        username,
        embeds: [embedOf(message)],
        // Nobody is called by a name that stands in a message.
        allowed_mentions: { parse: [] },
        ...(message.severity === 'info' && { flags: silently }),
      }),
    })
    const told = jsonIn(answer)
    const seconds = Number(told['retry_after'])
    return judged(answer, around.clock.now(), [401, 403, 404], {
      ...(typeof told['message'] === 'string' && { said: cut(told['message'], 200) }),
      retryAfterMs: answer.status === 429 && seconds > 0 ? Math.ceil(seconds * 1_000) : null,
    })
  },
}

function embedOf(message: Message): object {
  const title = cut(escaped(message.title), 256)
  const description = cut(escaped(message.text), 2_000)
  const acknowledge =
    message.acknowledgeLink === null ? [] : [{ name: 'Acknowledge', value: cut(message.acknowledgeLink, 1_024), inline: false }]
  let left =
    5_900 - title.length - description.length - acknowledge.reduce((sum, one) => sum + one.name.length + one.value.length, 0)
  const fields: object[] = []
  for (const [name, value] of message.facts.slice(0, 24)) {
    const field = { name: cut(escaped(name), 256) || '–', value: cut(escaped(value), 1_024) || '–' }
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
  }
}

/**
 * A text in which Discord reads no Markdown: names show as they are, and what a server under watch says leads nowhere under another
 * name. Addresses stay as they are, since they are found before backslashes are taken away.
 */
const escaped = (text: string): string =>
  text
    .split(/(https?:\/\/[^\s<]+)/)
    .map((part, place) =>
      place % 2 === 1 ? part : part.replaceAll(/[\\*~`|[\]]|\b_|_\b/g, '\\$&').replaceAll(/^([#>-])/gm, '\\$1'),
    )
    .join('')
