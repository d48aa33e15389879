import { formatUtcSecond } from '../../../core/clock'
import { oneLine } from '../../../core/one-line'
import { pluralize } from '../../../core/pluralize'
import { addressFact, type Message } from '../message'
import { isAtLeast } from './quiet-hours'

/** Maximum number of messages listed individually. */
const maxListed = 20

/**
 * Combines several messages into one that lists them in order. A single message is returned unchanged.
 * @param afterQuiet whether they were held by quiet hours
 * @param hubUrl where to find the incidents, if the messages have different links
 */
export function digest(messages: readonly Message[], afterQuiet: boolean, hubUrl: string): Message {
  const [first, ...others] = messages
  if (others.length === 0) return first!
  const problems = messages.filter(one => one.state === 'problem')
  const recoveries = messages.filter(one => one.state === 'recovery')
  const rest = messages.length - problems.length - recoveries.length
  const counts = [
    problems.length > 0 ? pluralize(problems.length, 'problems') : '',
    recoveries.length > 0 ? `${recoveries.length} resolved` : '',
    rest > 0 ? pluralize(rest, 'updates') : '',
  ].filter(text => text !== '')
  const decisive = problems.length > 0 ? problems : messages
  const more = messages.length - maxListed
  return {
    kind: 'digest',
    state: problems.length > 0 ? 'problem' : recoveries.length === messages.length ? 'recovery' : 'information',
    severity: decisive.reduce(
      (highest, one) => (isAtLeast(one.severity, highest) ? one.severity : highest),
      decisive[0]!.severity,
    ),
    title: `${afterQuiet ? 'During quiet hours: ' : ''}${counts.join(', ')}`,
    text: afterQuiet
      ? 'These notifications were held during quiet hours.'
      : 'These notifications were combined into one message.',
    facts: [
      ...messages.slice(0, maxListed).map(one => [labels[one.state], lineOf(one)] as const),
      ...(more > 0 ? [['More', `${more} more in the channel log`] as const] : []),
    ],
    link: commonLink(messages, hubUrl),
    acknowledgeLink: null,
    thread: first!.thread,
    resource: null,
    tags: [...new Set(messages.flatMap(one => one.tags))],
    occurredAt: Math.max(...messages.map(one => one.occurredAt)),
  }
}

/** The page of all messages: their own, or a list that contains what they are about. */
function commonLink(messages: readonly Message[], hubUrl: string): string | null {
  const [first, ...others] = new Set(messages.map(one => one.link))
  if (others.length === 0) return first!
  const incidents = `${hubUrl}/incidents`
  return messages.every(({ link }) => link?.startsWith(`${incidents}/`)) ? incidents : `${hubUrl}/`
}

const maxTextLength = 200

/** `Shop is down: Connection refused (https://shop.example.com/, 2026-11-21 10:00:00 UTC)` */
function lineOf({ title, text, facts, occurredAt }: Message): string {
  const reason = oneLine(text, maxTextLength).replace(/\.$/, '')
  const address = facts.find(([name]) => name === addressFact)?.[1]
  // The label says so already.
  return `${title.replace(/^Resolved: /, '')}${reason && `: ${reason}`} (${address ? `${address}, ` : ''}${formatUtcSecond(occurredAt)})`
}

const labels = { problem: 'Problem', recovery: 'Resolved', information: 'Update' } as const
