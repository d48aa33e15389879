import { noticeKindNames, noticeKinds } from '../../core/notices'
import type { Page } from '../../core/shapes'

/** What channels choose by: areas of what is told. */
export const topics = {
  incidents: 'Incidents: opened, resolved, reminders, and what else is said of them; flapping monitors.',
  notices: 'Notices: what the people of a workspace should know of.',
} as const
export type Topic = keyof typeof topics
export const topicNames = Object.keys(topics) as Topic[]

/** What a channel may name: a topic, or one kind of notice. */
export const topicWords = [...topicNames, ...noticeKindNames] as const

/** The topic of a kind of message, such as `incident.opened`; null for a test, which is nobody's choice. */
export function topicOf(kind: string): Topic | null {
  if (kind === 'test') return null
  return (noticeKindNames as readonly string[]).includes(kind) ? 'notices' : 'incidents'
}

/** Everything that a channel may name, on one page: whole topics, and below `notices` its kinds. */
export const listTopics = (): Page<{ topic: string; title: string; within: Topic | null }> => ({
  data: [
    ...topicNames.map(topic => ({ topic, title: topics[topic], within: null })),
    ...noticeKindNames.map(kind => ({ topic: kind, title: noticeKinds[kind].title, within: 'notices' as const })),
  ],
  pagination: { has_more: false, next_cursor: null },
})
