import { useParams } from '@tanstack/react-router'
import { lazy, Suspense, type ComponentType } from 'react'
import type { ZoneView } from '../../../features/dns/zone-shapes'
import { Loaded, Page, Skeleton } from '../../parts/page'
import { useOne } from '../../queries'

// What each tab shows, `ZoneFrame` around it included, since its buttons are up there. Its name stands in zone-tabs.ts too.
const views: Record<string, ComponentType<{ zone: ZoneView }>> = {
  records: lazy(() => import('./records/records')),
  drift: lazy(() => import('./sync/drift')),
  plans: lazy(() => import('./sync/plans')),
  templates: lazy(() => import('./templates/zone-templates')),
  history: lazy(() => import('./history/history')),
  secondaries: lazy(() => import('./secondaries/secondaries')),
  settings: lazy(() => import('./settings/settings')),
}
const up = { to: '/dns', label: 'Zones' }

/** A zone: the tab that the address names. */
export default function Zone() {
  const { id, tab = 'records' } = useParams({ strict: false })
  const found = useOne<ZoneView>(`/dns/zones/${id}`)
  // Their names are in its head: with them it has the height that it keeps.
  const providers = useOne('/dns/providers')
  if (found.data && providers.isPending) return <Skeleton />
  return (
    <Loaded found={found} up={up}>
      {zone => {
        const View = views[tab]
        if (!View) return <Page title="No such page" lead={`A zone has no «${tab}».`} up={up} />
        return (
          <Suspense fallback={<Skeleton />}>
            <View zone={zone} />
          </Suspense>
        )
      }}
    </Loaded>
  )
}
