import { Link } from '@tanstack/react-router'
import type { WorkspaceView } from '../../../access/workspace-shapes'
import { Copied } from '../../parts/code'
import { Card, Facts, Loaded, Page } from '../../parts/page'
import { Ago } from '../../parts/time'
import { useOne } from '../../queries'
import { usePerson } from '../../session'
import { WorkspaceForm } from '../operator/workspace-form'

/** What holds for the workspace as a whole. Its operator changes it; the others see it. */
export default function Settings() {
  const { workspace, operator } = usePerson()
  const found = useOne<WorkspaceView>(`/workspaces/${workspace.id}`)
  return (
    <Loaded found={found}>
      {own => (
        <Page title="Settings" lead="What holds for this workspace as a whole.">
          <div className="grid gap-4 lg:grid-cols-2 lg:items-start">
            <Card title="Workspace">
              {operator ? (
                <WorkspaceForm workspace={own} />
              ) : (
                <>
                  <Facts
                    rows={[
                      ['Name', own.name],
                      ['Plan', own.plan],
                      ['Private addresses', own.network_policy.allow_private ? 'may be reached' : 'may not be reached'],
                      ['Reached besides', own.network_policy.allow_ranges.join(', ') || 'nothing'],
                    ]}
                  />
                  <p className="mt-3 text-[13px] text-muted">The operator of this installation changes these.</p>
                </>
              )}
            </Card>
            <div className="flex flex-col gap-4">
              <Card title="Facts">
                <Facts
                  rows={[
                    ['Id', <Copied text={own.id} />],
                    ['Made', <Ago at={own.created_at} />],
                    ['Your role', workspace.role],
                  ]}
                />
              </Card>
              <Card title="More of it">
                <ul className="flex flex-col gap-2">
                  {elsewhere.map(([to, label, what]) => (
                    <li key={to}>
                      <Link to={to} className="text-accent underline">
                        {label}
                      </Link>
                      <span className="text-muted"> {what}</span>
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

const elsewhere: readonly (readonly [to: string, label: string, what: string])[] = [
  ['/monitors/import', 'Export and import', 'of monitors as YAML'],
  ['/audit-streams', 'Audit streams', 'to where the log is copied'],
  ['/channels', 'Channels', 'who is told of what'],
  ['/plan', 'Plan and limits', 'what may be used, and is'],
  ['/profile', 'Your profile', 'password, second factor, sessions'],
]
