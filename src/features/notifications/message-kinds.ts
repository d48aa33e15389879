import { noticeKindNames, noticeKinds } from '../notice-kinds'
import { onePage, type Page } from '../../core/shapes'

/** Topics that channels subscribe to. */
const topics = {
  incidents: 'Incidents: status changes, reminders, and flapping monitors',
  notices: 'Notices: expiring tokens, plan limits, failed jobs, and other workspace messages',
} as const
type Topic = keyof typeof topics
export const topicNames = Object.keys(topics) as Topic[]

/** What a channel can subscribe to: a topic or a single kind of notice. */
export const topicChoices = [...topicNames, ...noticeKindNames] as const

/** The topic of a message kind such as `incident.opened`; null for test messages. */
export function topicOf(kind: string): Topic | null {
  if (kind === 'test') return null
  return (noticeKindNames as readonly string[]).includes(kind) ? 'notices' : 'incidents'
}

/** All topics, and the kinds of notices within `notices`, on one page. */
export const listTopics = (): Page<{ topic: string; title: string; parent: Topic | null }> =>
  onePage([
    ...topicNames.map(topic => ({ topic, title: topics[topic], parent: null })),
    ...noticeKindNames.map(kind => ({ topic: kind, title: noticeKinds[kind].title, parent: 'notices' as const })),
  ])
