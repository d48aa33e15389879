import { useParams } from '@tanstack/react-router'
import { Page } from '../../parts/page'
import { Tabs } from '../../parts/tabs'
import { Deprecations } from './deprecations'
import { Plans } from './plans'
import { Workspaces } from './workspaces'

const views = { workspaces: Workspaces, plans: Plans, deprecations: Deprecations } as const

/** The installation as a whole, for those who run it. */
export default function Operator() {
  const { tab = 'workspaces' }: { tab?: string } = useParams({ strict: false })
  const View = views[tab as keyof typeof views] ?? Workspaces
  return (
    <Page
      title="Installation"
      lead="The hub as a whole, for those who run it. Its health is at /readyz, its figures for Prometheus at /metrics."
    >
      <Tabs
        label="Installation"
        tabs={[
          { to: '/operator', label: 'Workspaces', exact: true },
          { to: '/operator/plans', label: 'Plans' },
          { to: '/operator/deprecations', label: 'Deprecations' },
        ]}
      />
      <View />
    </Page>
  )
}
