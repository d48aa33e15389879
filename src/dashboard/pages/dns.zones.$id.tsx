import { useParams } from '@tanstack/react-router'
import { lazy, Suspense, type ComponentType } from 'react'
import type { ZoneView } from '../../features/dns/zones/shapes'
import { Loaded, Page, Skeleton } from '../parts/page'
import { useOne } from '../queries'

// Each tab renders its own `ZoneFrame`, which shows its buttons. Tabs are listed in zone-tabs.ts.
const views: Record<string, ComponentType<{ zone: ZoneView }>> = {
  records: lazy(() => import('./dns/records/records')),
  drift: lazy(() => import('./dns/sync/drift')),
  plans: lazy(() => import('./dns/sync/plans')),
  templates: lazy(() => import('./dns/templates/zone-templates')),
  history: lazy(() => import('./dns/history/history')),
  secondaries: lazy(() => import('./dns/secondaries/secondaries')),
  settings: lazy(() => import('./dns/settings/settings')),
}
/** Zone page: renders the tab in the URL. */
export default function Zone() {
  const { id, tab = 'records' } = useParams({ strict: false })
  const found = useOne<ZoneView>(`/dns/zones/${id}`)
  // The header shows provider names: wait for them to avoid a layout shift.
  const providers = useOne('/dns/providers')
  if (found.data && providers.isPending) return <Skeleton />
  return (
    <Loaded query={found} parent="/dns">
      {zone => {
        const View = views[tab]
        if (!View) return <Page title="Page not found" description={`A zone has no “${tab}” tab.`} parent="/dns" />
        return (
          <Suspense fallback={<Skeleton />}>
            <View zone={zone} />
          </Suspense>
        )
      }}
    </Loaded>
  )
}
