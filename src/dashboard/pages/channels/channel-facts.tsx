import type { NotificationChannelView } from '../../../features/notifications/shapes'
import { Copied } from '../../parts/code'
import { Card, Facts } from '../../parts/page'
import { wordsOf } from '../../parts/status'
import { Ago, span } from '../../parts/time'

const told = (value: unknown): string =>
  Array.isArray(value)
    ? value.map(String).join(', ')
    : typeof value === 'object' && value !== null
      ? Object.entries(value)
          .map(([name, inner]) => `${wordsOf(name)}: ${told(inner)}`)
          .join(', ')
      : String(value)

/** Where a channel leads, and what it takes. */
export function ChannelFacts({ channel }: { channel: NotificationChannelView }) {
  const { quiet_hours: quiet } = channel
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <Card title="Settings">
        <Facts
          rows={[
            ...Object.entries(channel.settings)
              .filter(([, value]) => value !== null && told(value) !== '')
              .map(([name, value]) => [wordsOf(name), told(value)] as const),
            ['Secrets set', channel.secrets_set.length > 0 ? channel.secrets_set.join(', ') : null],
          ]}
        />
      </Card>
      <Card title="What it takes">
        <Facts
          rows={[
            ['Takes', channel.for_everything ? channel.topics.join(', ') || 'nothing by itself' : 'what names it'],
            ['At least', channel.min_severity],
            ['Tagged', channel.for_everything && channel.tags.length > 0 ? channel.tags.join(' or ') : null],
            [
              'Quiet',
              quiet &&
                `${quiet.days.join(', ')} ${quiet.from} to ${quiet.to}, ${quiet.timezone}${
                  quiet.except_severity === null ? '' : `; ${quiet.except_severity} is sent all the same`
                }`,
            ],
            ['Groups', channel.group_seconds === 0 ? 'each alone' : `within ${span(channel.group_seconds * 1000)}`],
            [
              'Reminds',
              channel.remind_every_seconds === null
                ? 'never'
                : `every ${span(channel.remind_every_seconds * 1000)}, ${channel.most_reminders} times at most`,
            ],
            ['Last message', <Ago at={channel.last_sent_at} />],
            ['Made', <Ago at={channel.created_at} />],
            ['Id', <Copied text={channel.id} />],
          ]}
        />
      </Card>
    </div>
  )
}
