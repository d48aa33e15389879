import { secret, settingsForm, type SettingsOf } from '../../../adapters/settings-form'
import type { Message } from '../message'
import { checkResponse, postJson, responseText } from './responses'
import { ChannelError, type ChannelKind, type Outgoing } from './channel'
import { HttpUrl, Timezone } from './fields'
import { colorOf, truncate } from './styles'

const form = settingsForm({ url: HttpUrl('Incoming webhook URL. Stored encrypted.', secret), timezone: Timezone() })
type SlackSettings = SettingsOf<typeof form>

/**
 * An incoming webhook of Slack or a compatible service (Mattermost, Rocket.Chat).
 * Limits (docs.slack.dev): section 3,000 characters, field 2,000, ten fields per section, one message a second.
 */
export const slack: ChannelKind<SlackSettings> = {
  kind: 'slack',
  title: 'Slack',
  ...form,
  paceMs: 1_000,
  goneBeforeDisable: 1,
  async send({ url }, { message, hub }, context) {
    const response = await postJson(context, url, {
      text: escapeText(truncate(message.title, 2_900)),
      attachments: [{ color: colorOf(message), blocks: blocksOf(message, hub) }],
    })
    const text = responseText(response)
    // Error codes listed at api.slack.com/changelog/2016-05-17. A revoked token also yields a 403.
    if (/^(no_service|no_team|channel_not_found|channel_is_archived|action_prohibited|invalid_token|team_disabled)/.test(text))
      throw new ChannelError('gone', `Slack responded with status ${response.status}: ${text}`)
    return checkResponse(context, response, [404, 410])
  },
}

/** Everything but the title, which is the text above the blocks. */
function blocksOf(message: Message, hub: Outgoing['hub']): object[] {
  const facts = message.facts.slice(0, 20)
  const links = [
    ...(message.link === null ? [] : [button('View details', message.link)]),
    ...(message.acknowledgeLink === null ? [] : [button('Acknowledge', message.acknowledgeLink)]),
  ]
  return [
    ...(message.text === '' ? [] : [{ type: 'section', text: mrkdwn(escapeWithin(message.text, 2_900)) }]),
    ...Array.from({ length: Math.ceil(facts.length / 10) }, (_, page) => ({
      type: 'section',
      fields: facts
        .slice(page * 10, page * 10 + 10)
        .map(([name, value]) => mrkdwn(`*${escapeWithin(name, 400)}*\n${escapeWithin(value, 1_500)}`)),
    })),
    ...(links.length === 0 ? [] : [{ type: 'actions', elements: links }]),
    { type: 'context', elements: [mrkdwn(`<${hub.url}|${escapeText(hub.name)}>`)] },
  ]
}

const mrkdwn = (text: string) => ({ type: 'mrkdwn', text })
const button = (text: string, url: string) => ({ type: 'button', text: { type: 'plain_text', text }, url })
/** Escapes the three special characters of Slack, so that messages can't mention anyone. */
const escapeText = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** Escapes and truncates a text, without cutting an escape sequence. */
function escapeWithin(text: string, maxLength: number): string {
  let truncated = text
  while (escapeText(truncated).length > maxLength)
    truncated = truncate(truncated, Math.min(maxLength, Math.floor(truncated.length * 0.9)))
  return escapeText(truncated)
}
