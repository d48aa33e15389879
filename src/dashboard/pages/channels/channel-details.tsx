import type { NotificationChannelView, NotificationTopicView } from '../../../features/notifications/shapes'
import { CopyableText } from '../../parts/code'
import { Card } from '../../parts/page'
import { labelOf } from '../../parts/labels'
import { severityLabels } from '../../parts/severity'
import { humanize } from '../../parts/status'
import { RelativeTime, formatDuration, formatTimeOfDay } from '../../parts/time'
import { useOne } from '../../queries'
import { dayLabels } from './channel-values'

const textOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(String).join(', ')
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([name, inner]) => `${humanize(name)}: ${textOf(inner)}`)
          .join(', ')
      : typeof value === 'boolean'
        ? value
          ? 'Yes'
          : 'No'
        : String(value)

const exceptions = {
  critical: ', except critical notifications',
  warning: ', except warnings and critical notifications',
  info: '. No effect: all notifications are exempt',
}
const daysText = (days: readonly (keyof typeof dayLabels)[]): string =>
  days.length === 7 ? 'Every day,' : days.map(one => dayLabels[one]).join(', ')

/** Short titles of topics, without what they include. Blank while loading. */
export function useTopicTitles(): (topic: string) => string {
  const { data } = useOne<{ data: NotificationTopicView[] }>('/notification-channels/topics')
  return topic => (data ? (data.data.find(one => one.topic === topic)?.title.split(':')[0] ?? topic) : '\u00a0')
}

/** Settings and notification rules of a channel. */
export function ChannelDetails({ channel }: { channel: NotificationChannelView }) {
  const { quiet_hours: quiet } = channel
  const topicTitle = useTopicTitles()
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Card
        title="Settings"
        facts={[
          ...Object.entries(channel.settings)
            .filter(([, value]) => value !== null && textOf(value) !== '')
            .map(([name, value]) => [labelOf(name), textOf(value)] as const),
          ['Secrets', channel.secrets_set.map(labelOf).join(', ')],
        ]}
      />
      <Card
        title="Notification rules"
        facts={[
          ['Default channel', channel.is_default ? 'Yes' : 'No, only for resources that select it'],
          ['Topics', channel.is_default ? channel.topics.map(topicTitle).join(', ') || 'None' : null],
          ['Minimum severity', severityLabels[channel.min_severity]],
          ['Tags', channel.is_default && channel.tags.length > 0 ? channel.tags.join(' or ') : null],
          [
            'Quiet hours',
            quiet &&
              `${daysText(quiet.days)} ${formatTimeOfDay(quiet.from)} to ${formatTimeOfDay(quiet.to)}, ${quiet.timezone}${
                quiet.except_severity === null ? '' : exceptions[quiet.except_severity]
              }`,
          ],
          ['Grouping', channel.group_seconds === 0 ? 'Off' : `Within ${formatDuration(channel.group_seconds * 1000)}`],
          [
            'Reminders',
            channel.remind_every_seconds === null
              ? 'Off'
              : `Every ${formatDuration(channel.remind_every_seconds * 1000)}, up to ${channel.max_reminders} times`,
          ],
          ['Last sent', <RelativeTime at={channel.last_sent_at} />],
          ['Created', <RelativeTime at={channel.created_at} />],
          ['ID', <CopyableText text={channel.id} />],
        ]}
      />
    </div>
  )
}
