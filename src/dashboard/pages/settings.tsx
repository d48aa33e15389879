import type { PlanView } from '../../features/plans/shapes'
import type { WorkspaceView } from '../../features/workspaces/shapes'
import { Link } from '@tanstack/react-router'
import { CopyableText } from '../parts/code'
import { Card, Facts, Loaded, Page } from '../parts/page'
import { capitalize } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { useOne } from '../queries'
import { usePerson } from '../session'
import { WorkspaceForm } from './operator/workspace-form'

/** Settings of the workspace, editable by the operator and read-only for others. */
export default function Settings() {
  const { workspace, operator } = usePerson()
  const found = useOne<WorkspaceView>(`/workspaces/${workspace.id}`)
  const plan = useOne<PlanView>(found.data ? `/plans/${found.data.plan}` : null)
  return (
    <Loaded query={found}>
      {own => (
        <Page narrow description="Settings of this workspace.">
          <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
            <Card title="Workspace">
              {operator ? (
                <WorkspaceForm workspace={own} />
              ) : (
                <>
                  <Facts
                    rows={[
                      ['Name', own.name],
                      ['Plan', plan.data?.title ?? '…'],
                      ['Connections to private addresses', own.network_policy.allow_private ? 'Allowed' : 'Blocked'],
                      ['Additional allowed addresses', own.network_policy.allow_ranges.join(', ') || 'None'],
                    ]}
                  />
                  <p className="mt-3 text-[13px] text-muted">Only the operator of this installation can change these settings.</p>
                </>
              )}
            </Card>
            <div className="flex flex-col gap-4">
              <Card
                title="Details"
                facts={[
                  ['ID', <CopyableText text={own.id} />],
                  ['Created', <RelativeTime at={own.created_at} />],
                  ['Your role', capitalize(workspace.role)],
                ]}
              />
              <Card title="More settings">
                <ul className="flex flex-col gap-2">
                  {links.map(([to, label, description]) => (
                    <li key={to}>
                      <Link to={to} className="text-accent underline">
                        {label}
                      </Link>
                      <span className="block text-muted">{description}</span>
                    </li>
                  ))}
                </ul>
              </Card>
            </div>
          </div>
        </Page>
      )}
    </Loaded>
  )
}

const links: readonly (readonly [to: string, label: string, description: string])[] = [
  ['/monitors/import', 'Import monitors', 'Create and update monitors from YAML or JSON'],
  ['/audit-streams', 'Audit streams', 'Forward the audit log to your own systems'],
  ['/channels', 'Channels', 'Where alerts are sent'],
  ['/plan', 'Plan and limits', 'Current usage and limits'],
  ['/profile', 'Your profile', 'Password, two-factor authentication, and sessions'],
]
