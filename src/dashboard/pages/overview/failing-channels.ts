import type { NotificationChannelView } from '../../../features/notifications/shapes'
import type { OverviewView } from '../../../features/overview/shapes'
import type { Page } from '../../client'
import { useOne } from '../../queries'

/** A channel that can’t deliver messages. */
export type FailingChannel = Pick<
  NotificationChannelView,
  'id' | 'name' | 'status' | 'disabled_reason' | 'last_error' | 'failing_since_at'
>

const refetchMs = 30_000

/** The channels that are failing or disabled. Empty until they have loaded. */
export function useFailingChannels({ channels }: OverviewView): readonly FailingChannel[] {
  const count = channels ? channels.failing + channels.disabled : 0
  const { data } = useOne<Page<NotificationChannelView>>(
    count === 0 ? null : '/notification-channels',
    { limit: 100, fields: 'name,status,active,failing,disabled_reason,last_error,failing_since_at' },
    { refetchMs },
  )
  if (count === 0 || !data) return []
  return data.data.filter(one => one.status === 'disabled' || (one.active && one.failing))
}
