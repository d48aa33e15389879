import type { ZoneView } from '../../../features/dns/zones/shapes'
import type { Page } from '../../client'
import { useOne } from '../../queries'

/** Returns the name of a zone by its id; undefined until the zones have loaded, or if there are more than a page of them. */
export function useZoneNames(): (id: string) => string | undefined {
  const { data } = useOne<Page<Pick<ZoneView, 'id' | 'name'>>>('/dns/zones', { fields: 'id,name', limit: '1000' })
  return id => data?.data.find(one => one.id === id)?.name
}
