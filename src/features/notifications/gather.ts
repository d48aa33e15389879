import { instant } from '../../core/clock'
import { numbered } from '../../core/numbered'
import type { Message } from './message'
import { isAtLeast } from './quiet-hours'

/** Most of several messages that are named one by one. */
const mostNamed = 20

/**
 * Several messages as one that lists them, in their order. One alone stays as it is.
 * @param afterQuiet they were held in quiet hours
 */
export function gather(messages: readonly Message[], afterQuiet: boolean): Message {
  const [first, ...others] = messages
  if (others.length === 0) return first!
  const problems = messages.filter(one => one.state === 'problem')
  const recoveries = messages.filter(one => one.state === 'recovery')
  const rest = messages.length - problems.length - recoveries.length
  const counts = [
    problems.length > 0 ? numbered(problems.length, 'problems') : '',
    recoveries.length > 0 ? numbered(recoveries.length, 'recoveries') : '',
    rest > 0 ? numbered(rest, 'messages') : '',
  ].filter(text => text !== '')
  const telling = problems.length > 0 ? problems : messages
  const more = messages.length - mostNamed
  return {
    kind: 'digest',
    state: problems.length > 0 ? 'problem' : recoveries.length === messages.length ? 'recovery' : 'information',
    severity: telling.reduce((most, one) => (isAtLeast(one.severity, most) ? one.severity : most), telling[0]!.severity),
    title: `${afterQuiet ? 'In quiet hours: ' : ''}${counts.join(', ')}`,
    text: '',
    facts: [
      ...messages.slice(0, mostNamed).map(one => [words[one.state], `${one.title} (${instant(one.occurredAt)})`] as const),
      ...(more > 0 ? [['And', `${more} more, in the log of the channel`] as const] : []),
    ],
    link: messages.every(one => one.link === first!.link) ? first!.link : null,
    acknowledgeLink: null,
    thread: first!.thread,
    resource: null,
    tags: [...new Set(messages.flatMap(one => one.tags))],
    occurredAt: Math.max(...messages.map(one => one.occurredAt)),
  }
}

const words = { problem: 'Problem', recovery: 'Recovered', information: 'Notice' } as const
