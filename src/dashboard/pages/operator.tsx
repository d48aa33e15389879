import { useParams } from '@tanstack/react-router'
import { Page } from '../parts/page'
import { Tabs } from '../parts/tabs'
import { Deprecations } from './operator/deprecations'
import { Plans } from './operator/plans'
import { Workspaces } from './operator/workspaces'

const views = { workspaces: Workspaces, plans: Plans, deprecations: Deprecations } as const

/** Settings of the whole installation, for operators. */
export default function Operator() {
  const { tab = 'workspaces' }: { tab?: string } = useParams({ strict: false })
  const View = views[tab as keyof typeof views] ?? Workspaces
  return (
    <Page description="Settings of the whole installation. The health check is at /readyz, and Prometheus metrics are at /metrics.">
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
