import { useParams } from '@tanstack/react-router'
import { Suspense, type ComponentType } from 'react'
import type { ZoneView } from '../../features/dns/zones/shapes'
import { lazyComponent } from '../lazy'
import { Loaded, Page, Skeleton } from '../parts/page'
import { useOne } from '../queries'
import { ZoneTabs } from './dns/zone-frame'

interface ZoneTab {
  label: string
  /** Renders its own `ZoneFrame`, which shows its buttons. */
  View: ComponentType<{ zone: ZoneView }>
  /** Zones that have the tab. Default: all. */
  for?: (zone: ZoneView) => boolean
}

/** The tabs of a zone, in order, by the last segment of their URL. The URL of the first, the default, has none. */
const tabs: Readonly<Record<string, ZoneTab>> = {
  records: { label: 'Records', View: lazyComponent(() => import('./dns/records/records')) },
  drift: { label: 'Drift', View: lazyComponent(() => import('./dns/sync/drift')), for: zone => zone.sync.targets.length > 0 },
  plans: { label: 'Plans', View: lazyComponent(() => import('./dns/sync/plans')) },
  history: { label: 'History', View: lazyComponent(() => import('./dns/history/history')) },
  templates: { label: 'Templates', View: lazyComponent(() => import('./dns/templates/zone-templates')) },
  secondaries: {
    label: 'Secondaries',
    View: lazyComponent(() => import('./dns/secondaries/secondaries')),
    for: zone => zone.served,
  },
  settings: { label: 'Settings', View: lazyComponent(() => import('./dns/settings/settings')) },
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
        const View = tabs[tab]?.View
        if (!View) return <Page title="Page not found" description={`A zone has no “${tab}” tab.`} parent="/dns" />
        const own = Object.entries(tabs).filter(([, one]) => one.for?.(zone) ?? true)
        return (
          <ZoneTabs value={own.map(([name, { label }]) => ({ name, label }))}>
            <Suspense fallback={<Skeleton />}>
              <View key={zone.id} zone={zone} />
            </Suspense>
          </ZoneTabs>
        )
      }}
    </Loaded>
  )
}
