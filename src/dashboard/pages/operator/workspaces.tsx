import { Building2, Plus } from 'lucide-react'
import { useState } from 'react'
import type { PlanView, WorkspaceView } from '../../../access/workspace-shapes'
import { useAddress } from '../../parts/address'
import { Button } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { Empty } from '../../parts/empty'
import { Choice, Filters, SearchField } from '../../parts/filters'
import { Form, SelectField, TextField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { Status, Tag } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { useList, useOne, useSend } from '../../queries'
import { Invite } from '../members/invitations'
import { WorkspaceForm } from './workspace-form'

type Asked = { what: 'edit' | 'suspend' | 'invite'; of: WorkspaceView } | { what: 'new' } | null

/** Every workspace of the installation. */
export function Workspaces() {
  const [asked, setAsked] = useState<Asked>(null)
  const [{ suspended, q }, set] = useAddress({ suspended: '', q: '' })
  const list = useList<WorkspaceView>('/workspaces', { suspended, q, include: 'total' })
  const resume = useSend({ done: 'It is open again', stale: ['/workspaces'] })
  const close = () => setAsked(null)
  const of = asked !== null && asked.what !== 'new' ? asked.of : null
  const columns: readonly Column<WorkspaceView>[] = [
    { name: 'name', title: 'Name', render: one => <span className="font-medium">{one.name}</span> },
    { name: 'plan', title: 'Plan', width: '9rem', from: 'sm', render: one => <Tag>{one.plan}</Tag> },
    {
      name: 'state',
      title: 'State',
      width: '9rem',
      render: one => <Status state={one.suspended_at ? 'suspended' : 'active'} />,
    },
    { name: 'made', title: 'Made', width: '9rem', from: 'md', render: one => <Ago at={one.created_at} /> },
    {
      name: 'more',
      title: '',
      width: '4rem',
      right: true,
      render: one => (
        <Menu
          label={`More for ${one.name}`}
          items={[
            { label: 'Edit', onSelect: () => setAsked({ what: 'edit', of: one }) },
            { label: 'Invite a person', onSelect: () => setAsked({ what: 'invite', of: one }) },
            one.suspended_at
              ? { label: 'Resume', onSelect: () => resume.mutate({ method: 'POST', path: `/workspaces/${one.id}/resume` }) }
              : one.operator
                ? null
                : { label: 'Suspend', bad: true, onSelect: () => setAsked({ what: 'suspend', of: one }) },
          ]}
        />
      ),
    },
  ]
  return (
    <>
      <Filters>
        <SearchField label="Search workspaces" value={q} onChange={text => set({ q: text })} />
        <Choice
          label="State"
          value={suspended}
          onChange={value => set({ suspended: value })}
          choices={[
            ['', 'All'],
            ['false', 'Active'],
            ['true', 'Suspended'],
          ]}
        />
        <Button kind="main" data-new icon={<Plus className="size-4" aria-hidden />} onClick={() => setAsked({ what: 'new' })}>
          New workspace
        </Button>
      </Filters>
      <Table
        label="Workspaces"
        columns={columns}
        list={list}
        idOf={one => one.id}
        empty={<Empty icon={Building2} title="None like that" />}
      />
      <Dialog open={asked?.what === 'new'} onClose={close} title="New workspace">
        <NewWorkspace onClose={close} />
      </Dialog>
      <Dialog open={asked?.what === 'edit'} onClose={close} title={of?.name ?? ''}>
        {of && <WorkspaceForm workspace={of} onDone={close} />}
      </Dialog>
      <Dialog open={asked?.what === 'suspend'} onClose={close} title={`Suspend ${of?.name}?`}>
        {of && <Suspend workspace={of} onClose={close} />}
      </Dialog>
      {of && <Invite open={asked?.what === 'invite'} onClose={close} path={`/workspaces/${of.id}/invitations`} role="owner" />}
    </>
  )
}

function NewWorkspace({ onClose }: { onClose(): void }) {
  const plans = useOne<{ data: PlanView[] }>('/plans')
  const send = useSend({ quiet: true, done: 'Workspace made', stale: ['/workspaces'], onDone: onClose })
  const preset = plans.data?.data.find(one => one.default)?.id
  if (preset === undefined) return null
  return (
    <Form
      initial={{ name: '', plan: preset }}
      call={values => ({ method: 'POST', path: '/workspaces', body: values })}
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={onClose}
      action="Make the workspace"
    >
      <TextField name="name" label="Name" autoFocus />
      <SelectField name="plan" label="Plan" choices={plans.data!.data.map(one => [one.id, one.title] as const)} />
    </Form>
  )
}

function Suspend({ workspace, onClose }: { workspace: WorkspaceView; onClose(): void }) {
  const path = `/workspaces/${workspace.id}`
  const send = useSend({
    quiet: true,
    done: 'Nobody gets in any more',
    undo: () => ({ method: 'POST', path: `${path}/resume` }),
    stale: ['/workspaces'],
    onDone: onClose,
  })
  return (
    <Form
      initial={{ reason: '' }}
      call={values => ({ method: 'POST', path: `${path}/suspend`, body: { reason: values.reason || null } })}
      send={send.mutateAsync}
      pending={send.isPending}
      onCancel={onClose}
      action="Suspend"
    >
      <p className="text-muted">
        Every request to it is refused until it is resumed. Pings are taken, webhook deliveries wait, nothing is deleted.
      </p>
      <TextField name="reason" label="Reason" hint="What those who are kept out are told." />
    </Form>
  )
}
