import { Building2 } from 'lucide-react'
import { useState } from 'react'
import type { PlanView } from '../../../features/plans/shapes'
import type { WorkspaceView } from '../../../features/workspaces/shapes'
import { Dialog } from '../../parts/dialog'
import { Form, SelectField, TextField } from '../../parts/form'
import { CreateButton, List, menuColumn, type Column } from '../../parts/list'
import { Status, Tag } from '../../parts/status'
import { RelativeTime } from '../../parts/time'
import { useOne, useSend } from '../../queries'
import { Invite } from '../members/invitations'
import { WorkspaceForm } from './workspace-form'

type OpenDialog = { what: 'edit' | 'suspend' | 'invite'; of: WorkspaceView } | { what: 'new' } | null

/** The workspaces of the installation. */
export function Workspaces() {
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const resume = useSend({ toast: 'Workspace resumed', invalidates: ['/workspaces'] })
  const close = () => setDialog(null)
  const of = dialog !== null && dialog.what !== 'new' ? dialog.of : null
  const columns: readonly Column<WorkspaceView>[] = [
    { title: 'Name', render: one => <span className="font-medium">{one.name}</span> },
    { title: 'Plan', width: '9rem', showFrom: 'sm', render: one => <Tag>{one.plan}</Tag> },
    { title: 'Status', width: '9rem', render: one => <Status status={one.suspended_at ? 'suspended' : 'active'} /> },
    { title: 'Created', width: '9rem', showFrom: 'md', render: one => <RelativeTime at={one.created_at} /> },
    menuColumn(
      one => one.name,
      one => [
        { label: 'Edit workspace', onSelect: () => setDialog({ what: 'edit', of: one }) },
        { label: 'Invite member', onSelect: () => setDialog({ what: 'invite', of: one }) },
        one.suspended_at
          ? { label: 'Resume workspace', onSelect: () => resume.mutate({ method: 'POST', path: `/workspaces/${one.id}/resume` }) }
          : one.operator
            ? null
            : { label: 'Suspend workspace', danger: true, onSelect: () => setDialog({ what: 'suspend', of: one }) },
      ],
    ),
  ]
  return (
    <>
      <List
        label="Workspaces"
        path="/workspaces"
        columns={columns}
        search
        counted
        filters={[{ name: 'suspended', label: 'Status', all: 'All statuses', choices: { false: 'Active', true: 'Suspended' } }]}
        controls={<CreateButton create={{ label: 'Create workspace', onClick: () => setDialog({ what: 'new' }) }} />}
        empty={{ icon: Building2 }}
      />
      <Dialog open={dialog?.what === 'new'} onClose={close} title="Create workspace">
        <NewWorkspace onClose={close} />
      </Dialog>
      <Dialog open={dialog?.what === 'edit'} onClose={close} title={of?.name ?? ''}>
        {of && <WorkspaceForm workspace={of} onSuccess={close} />}
      </Dialog>
      <Dialog open={dialog?.what === 'suspend'} onClose={close} title={`Suspend ${of?.name}?`}>
        {of && <Suspend workspace={of} onClose={close} />}
      </Dialog>
      {of && <Invite open={dialog?.what === 'invite'} onClose={close} path={`/workspaces/${of.id}/invitations`} role="owner" />}
    </>
  )
}

function NewWorkspace({ onClose }: { onClose(): void }) {
  const plans = useOne<{ data: PlanView[] }>('/plans')
  const preset = plans.data?.data.find(one => one.default)?.id
  if (preset === undefined) return null
  return (
    <Form
      initial={{ name: '', plan: preset }}
      call={values => ({ method: 'POST', path: '/workspaces', body: values })}
      send={{ toast: 'Workspace created', invalidates: ['/workspaces'], onSuccess: onClose }}
      onCancel={onClose}
      submitLabel="Create workspace"
    >
      <TextField name="name" label="Name" autoFocus />
      <SelectField name="plan" label="Plan" choices={plans.data!.data.map(one => [one.id, one.title] as const)} />
    </Form>
  )
}

function Suspend({ workspace, onClose }: { workspace: WorkspaceView; onClose(): void }) {
  const path = `/workspaces/${workspace.id}`
  return (
    <Form
      initial={{ reason: '' }}
      call={values => ({ method: 'POST', path: `${path}/suspend`, body: { reason: values.reason || null } })}
      send={{
        toast: 'Workspace suspended',
        undo: () => ({ method: 'POST', path: `${path}/resume` }),
        invalidates: ['/workspaces'],
        onSuccess: onClose,
      }}
      onCancel={onClose}
      submitLabel="Suspend workspace"
    >
      <p className="text-muted">
        All requests to this workspace are refused until you resume it. Pings are still accepted, webhook deliveries are paused,
        and nothing is deleted.
      </p>
      <TextField name="reason" label="Reason" hint="Shown to members of the workspace." />
    </Form>
  )
}
