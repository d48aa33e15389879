import { noticeKindNames } from '../../core/notices'

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
