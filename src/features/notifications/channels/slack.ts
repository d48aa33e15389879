import { Shape } from '../../../core/shapes'
import type { Message } from '../message'
import { judged, saidIn } from './answers'
import { ChannelError, type ChannelKind } from './channel'
import { HttpAddress } from './fields'
import { colorOf, cut } from './looks'

/**
 * An incoming webhook of Slack, and of what understands the same (Mattermost, Rocket.Chat).
 * Limits by docs.slack.dev: a header 150 characters, a section 3,000, a field 2,000, ten fields a section, one message a second.
 */
export const slack: ChannelKind<{ url: string }> = {
  kind: 'slack',
  title: 'Slack',
  settings: Shape({ url: HttpAddress('Address of the incoming webhook. It is a secret.') }),
  secrets: ['url'],
  destination: [],
  paceMs: 1_000,
  goneToDisable: 1,
  async send({ url }, { message }, around) {
    const body = JSON.stringify({
      text: escaped(cut(message.title, 2_900)),
      attachments: [{ color: colorOf(message), blocks: blocksOf(message) }],
    })
    const answer = await around.request({ url, method: 'POST', headers: { 'content-type': 'application/json' }, body })
    const said = saidIn(answer)
    // Words of the body, as api.slack.com/changelog/2016-05-17 lists them; a token that was revoked is a 403 too.
    if (/^(no_service|no_team|channel_not_found|channel_is_archived|action_prohibited|invalid_token|team_disabled)/.test(said))
      throw new ChannelError('gone', `Slack answered with status ${answer.status}: ${said}`)
    return judged(answer, around.clock.now(), [404, 410])
  },
}

function blocksOf(message: Message): object[] {
  const facts = message.facts.slice(0, 20)
  const links = [
    ...(message.link === null ? [] : [button('Open', message.link)]),
    ...(message.acknowledgeLink === null ? [] : [button('Acknowledge', message.acknowledgeLink)]),
  ]
  return [
    { type: 'header', text: { type: 'plain_text', text: cut(message.title, 150) } },
    ...(message.text === '' ? [] : [{ type: 'section', text: mrkdwn(escapedWithin(message.text, 2_900)) }]),
    ...Array.from({ length: Math.ceil(facts.length / 10) }, (_, page) => ({
      type: 'section',
      fields: facts
        .slice(page * 10, page * 10 + 10)
        .map(([name, value]) => mrkdwn(`*${escapedWithin(name, 400)}*\n${escapedWithin(value, 1_500)}`)),
    })),
    ...(links.length === 0 ? [] : [{ type: 'actions', elements: links }]),
  ]
}

const mrkdwn = (text: string) => ({ type: 'mrkdwn', text })
const button = (text: string, url: string) => ({ type: 'button', text: { type: 'plain_text', text }, url })
/** The three characters that Slack gives a meaning of their own: a message must not call everybody. */
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
/** The same of bounded length; an escape counts for five characters at most, and is cut through by nothing. */
function escapedWithin(text: string, most: number): string {
  let short = text
  while (escaped(short).length > most) short = cut(short, Math.min(most, Math.floor(short.length * 0.9)))
  return escaped(short)
}
