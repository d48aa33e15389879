import { Building2 } from 'lucide-react'
import type { PlanView } from '../../../features/plans/shapes'
import type { WorkspaceView } from '../../../features/workspaces/shapes'
import { SelectField, TextField } from '../../parts/form'
import { CreateButton, List, menuColumn, type Column } from '../../parts/list'
import { closeDialog, openDialog, openForm } from '../../parts/open-dialog'
import { Status, Tag } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useOne, useSend } from '../../queries'
import { inviteMember } from '../members/invitations'
import { WorkspaceForm } from './workspace-form'

/** The workspaces of the installation. */
export function Workspaces() {
  const plans = useOne<{ data: PlanView[] }>('/plans').data?.data
  const resume = useSend({ toast: 'Workspace resumed', invalidates: ['/workspaces'] })
  const columns: readonly Column<WorkspaceView>[] = [
    { title: 'Name', look: 'strong', render: one => one.name },
    {
      title: 'Plan',
      width: '9rem',
      render: one => <Tag>{plans?.find(plan => plan.id === one.plan)?.title ?? one.plan}</Tag>,
    },
    { title: 'Status', width: '9rem', render: one => <Status status={one.suspended_at ? 'suspended' : 'active'} /> },
    { title: 'Created', width: '9rem', showFrom: 'md', render: one => <RelativeTime at={one.created_at} /> },
    menuColumn(
      one => one.name,
      one => [
        { label: 'Edit workspace', onSelect: () => editWorkspace(one) },
        { label: 'Invite member', onSelect: () => inviteMember(`/workspaces/${one.id}/invitations`, 'owner') },
        one.suspended_at
          ? { label: 'Resume workspace', onSelect: () => resume.mutate({ method: 'POST', path: `/workspaces/${one.id}/resume` }) }
          : one.operator
            ? null
            : { label: 'Suspend workspace', danger: true, onSelect: () => suspend(one) },
      ],
    ),
  ]
  return (
    <List
      label="Workspaces"
      path="/workspaces"
      columns={columns}
      search
      counted
      filters={[{ name: 'suspended', label: 'Status', all: 'All statuses', choices: { false: 'Active', true: 'Suspended' } }]}
      controls={<CreateButton create={{ label: 'Create workspace', onClick: () => createWorkspace(plans ?? []) }} />}
      empty={{ icon: Building2 }}
    />
  )
}

const editWorkspace = (workspace: WorkspaceView) =>
  openDialog({ title: workspace.name, content: <WorkspaceForm workspace={workspace} onSuccess={closeDialog} /> })

const createWorkspace = (plans: readonly PlanView[]) =>
  openForm({
    title: 'Create workspace',
    initial: { name: '', plan: plans.find(one => one.default)?.id },
    call: values => ({ method: 'POST', path: '/workspaces', body: values }),
    send: { toast: 'Workspace created', link: '/operator/workspaces', invalidates: ['/workspaces'] },
    fields: (
      <>
        <TextField name="name" label="Name" autoFocus />
        <SelectField name="plan" label="Plan" choices={plans.map(one => [one.id, one.title] as const)} />
      </>
    ),
  })

function suspend({ id, name }: WorkspaceView): void {
  const path = `/workspaces/${id}`
  openForm({
    title: `Suspend ${name}?`,
    submitLabel: 'Suspend workspace',
    initial: { reason: '' },
    call: values => ({ method: 'POST', path: `${path}/suspend`, body: { reason: values.reason || null } }),
    send: {
      toast: 'Workspace suspended',
      undo: () => ({ method: 'POST', path: `${path}/resume` }),
      invalidates: ['/workspaces'],
    },
    fields: (
      <>
        <p className="text-muted">
          All requests to this workspace are rejected until you resume it. Pings are still accepted, webhook deliveries are
          paused, and nothing is deleted.
        </p>
        <TextField name="reason" label="Reason" hint="Optional. Shown to the members of the workspace." />
      </>
    ),
  })
}
