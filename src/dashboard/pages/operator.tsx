import { useParams } from '@tanstack/react-router'
import { Page } from '../parts/page'
import { Tabs } from '../parts/tabs'
import { Deprecations } from './operator/deprecations'
import { Plans } from './operator/plans'
import { InstallationStatus } from './operator/status'
import { Workspaces } from './operator/workspaces'

const views = { status: InstallationStatus, workspaces: Workspaces, plans: Plans, deprecations: Deprecations } as const

/** Health and settings of the whole installation, for operators. */
export default function Operator() {
  const { tab = 'status' }: { tab?: string } = useParams({ strict: false })
  const View = views[tab as keyof typeof views] ?? InstallationStatus
  return (
    <Page description="Health and settings of the whole installation.">
      <Tabs
        label="Installation"
        tabs={[
          { to: '/operator', label: 'Status', exact: true },
          { to: '/operator/workspaces', label: 'Workspaces' },
          { to: '/operator/plans', label: 'Plans' },
          { to: '/operator/deprecations', label: 'Deprecations' },
        ]}
      />
      <View />
    </Page>
  )
}
