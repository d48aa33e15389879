import type { ReactNode } from 'react'
import type { ZoneView } from '../../../features/dns/zone-shapes'
import { Page } from '../../parts/page'
import { Status, Tag } from '../../parts/status'
import { Tabs } from '../../parts/tabs'
import { ZoneStanding } from './zone-standing'
import { zoneTabs } from './zone-tabs'

interface ZoneFrameProps {
  zone: ZoneView
  /** Buttons of the tab, the main one first. */
  actions?: ReactNode
  children: ReactNode
}

/** What is around each tab of a zone: its name, how it stands, and the other tabs. */
export function ZoneFrame({ zone, actions, children }: ZoneFrameProps) {
  const at = `/dns/zones/${zone.id}`
  return (
    <Page
      title={zone.unicode_name}
      up={{ to: '/dns', label: 'Zones' }}
      aside={
        <>
          <Status state={zone.sync.state} />
          {zone.status === 'paused' && <Status state="paused" />}
          {zone.blocked && <Status state="blocked" label="held back" />}
          {zone.name !== zone.unicode_name && <Tag>{zone.name}</Tag>}
          <span className="text-[13px] text-muted">serial {zone.serial}</span>
        </>
      }
      actions={actions}
    >
      <ZoneStanding zone={zone} />
      <Tabs
        label="Zone"
        tabs={zoneTabs
          .filter(tab => tab.for?.(zone) ?? true)
          .map(({ name, label }) => ({ to: name === 'records' ? at : `${at}/${name}`, label, exact: name === 'records' }))}
      />
      {children}
    </Page>
  )
}
