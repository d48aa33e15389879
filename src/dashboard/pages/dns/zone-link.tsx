import type { ZoneView } from '../../../features/dns/zones/shapes'
import { useOne } from '../../queries'
import { ResourceLink } from '../../parts/resource'

/** The name of a zone, linked to its page. Without `dns.read`, the name is unknown. */
export function ZoneLink({ id }: { id: string }) {
  const zone = useOne<Pick<ZoneView, 'id' | 'name'>>(`/dns/zones/${id}`, { fields: 'id,name' })
  if (zone.isPending) return null
  return <ResourceLink type="zone" id={id} name={zone.data?.name ?? 'Show zone'} />
}
