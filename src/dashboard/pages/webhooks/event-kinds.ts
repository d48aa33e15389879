import type { EventKindView } from '../../../features/webhooks/endpoints/shapes'
import type { Page as Listing } from '../../client'
import { useOne } from '../../queries'

/** The request for all event kinds. */
export const useAllEventKinds = () => useOne<Listing<EventKindView>>('/event-kinds')

/** The event kinds that can occur, followed by the given ones that can’t occur in this version. */
export function useEventKinds(subscribed: readonly string[] = []): readonly EventKindView[] {
  const all = useAllEventKinds().data?.data ?? []
  return [...all.filter(one => one.available), ...all.filter(one => !one.available && subscribed.includes(one.kind))]
}
