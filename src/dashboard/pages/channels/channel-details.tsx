import type { NotificationChannelView } from '../../../features/notifications/shapes'
import { CopyableText } from '../../parts/code'
import { Card } from '../../parts/page'
import { labelOf } from '../../parts/option-fields'
import { humanize } from '../../parts/status'
import { RelativeTime, formatDuration } from '../../parts/time'

const textOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(String).join(', ')
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([name, inner]) => `${humanize(name)}: ${textOf(inner)}`)
          .join(', ')
      : String(value)

/** Settings and notification rules of a channel. */
export function ChannelDetails({ channel }: { channel: NotificationChannelView }) {
  const { quiet_hours: quiet } = channel
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Card
        title="Settings"
        facts={[
          ...Object.entries(channel.settings)
            .filter(([, value]) => value !== null && textOf(value) !== '')
            .map(([name, value]) => [labelOf(name), textOf(value)] as const),
          ['Secrets', channel.secrets_set.length > 0 ? channel.secrets_set.join(', ') : null],
        ]}
      />
      <Card
        title="Notification rules"
        facts={[
          ['Scope', channel.is_default ? channel.topics.join(', ') || 'none' : 'only resources that use this channel'],
          ['Minimum severity', channel.min_severity],
          ['Tags', channel.is_default && channel.tags.length > 0 ? channel.tags.join(' or ') : null],
          [
            'Quiet hours',
            quiet &&
              `${quiet.days.join(', ')} ${quiet.from} to ${quiet.to}, ${quiet.timezone}${
                quiet.except_severity === null ? '' : `, except ${quiet.except_severity} and above`
              }`,
          ],
          ['Grouping', channel.group_seconds === 0 ? 'off' : `within ${formatDuration(channel.group_seconds * 1000)}`],
          [
            'Reminders',
            channel.remind_every_seconds === null
              ? 'off'
              : `every ${formatDuration(channel.remind_every_seconds * 1000)}, up to ${channel.max_reminders} times`,
          ],
          ['Last message', <RelativeTime at={channel.last_sent_at} />],
          ['Created', <RelativeTime at={channel.created_at} />],
          ['ID', <CopyableText text={channel.id} />],
        ]}
      />
    </div>
  )
}
