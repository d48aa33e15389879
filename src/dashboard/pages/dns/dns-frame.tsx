import type { ReactNode } from 'react'
import { Page } from '../../parts/page'
import { Tabs } from '../../parts/tabs'

const tabs = [
  { to: '/dns', label: 'Zones', exact: true },
  { to: '/dns/templates', label: 'Templates' },
  { to: '/dns/providers', label: 'Providers' },
]

interface DnsFrameProps {
  lead?: ReactNode
  /** Buttons of the tab, the main one first. */
  actions?: ReactNode
  children: ReactNode
}

/** What is around the lists of DNS: zones, templates, providers. */
export const DnsFrame = ({ lead, actions, children }: DnsFrameProps) => (
  <Page title="DNS" lead={lead} actions={actions}>
    {tabs.length > 1 && <Tabs label="DNS" tabs={tabs} />}
    {children}
  </Page>
)
