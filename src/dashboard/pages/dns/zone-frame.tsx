import { createContext, useContext, type ReactNode } from 'react'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import { Page } from '../../parts/page'
import { Status, Tag } from '../../parts/status'
import { Tabs } from '../../parts/tabs'
import { shownSyncState } from './zone-status'
import { ZoneSyncStatus } from './zone-sync-status'

/** The tabs of the zone, by the last segment of their URL. The URL of the first has none. */
export const ZoneTabs = createContext<readonly { name: string; label: string }[]>([])

interface ZoneFrameProps {
  zone: ZoneView
  /** Buttons of the tab, the primary one first. */
  actions?: ReactNode
  children: ReactNode
}

/** Layout of the zone pages: name, sync state and tabs. */
export function ZoneFrame({ zone, actions, children }: ZoneFrameProps) {
  const at = `/dns/zones/${zone.id}`
  return (
    <Page
      title={zone.unicode_name}
      parent="/dns"
      aside={
        <>
          <Status status={shownSyncState(zone)} />
          {zone.status === 'paused' && <Status status="paused" />}
          {zone.blocked && <Status status="blocked" label="blocked" />}
          {zone.name !== zone.unicode_name && <Tag>{zone.name}</Tag>}
          <span className="text-[13px] text-muted">serial {zone.serial}</span>
        </>
      }
      actions={actions}
    >
      <ZoneSyncStatus zone={zone} />
      <Tabs
        label="Zone"
        tabs={useContext(ZoneTabs).map(({ name, label }, index) =>
          index === 0 ? { to: at, label, exact: true } : { to: `${at}/${name}`, label },
        )}
      />
      {children}
    </Page>
  )
}
