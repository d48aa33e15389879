import type { PlanView, WorkspaceView } from '../../../access/workspace-shapes'
import { CheckField, Form, SelectField, TextField, WordsField } from '../../parts/form'
import { useOne, useSend } from '../../queries'

interface WorkspaceFormProps {
  workspace: WorkspaceView
  onDone?: () => void
}

/** Name, plan and network policy of a workspace; for operators. */
export function WorkspaceForm({ workspace, onDone }: WorkspaceFormProps) {
  const plans = useOne<{ data: PlanView[] }>('/plans')
  const path = `/workspaces/${workspace.id}`
  const { name, plan, network_policy: policy } = workspace
  const send = useSend({
    quiet: true,
    done: 'Workspace saved',
    undo: () => ({ method: 'PATCH', path, body: { name, plan, network_policy: policy } }),
    stale: ['/workspaces', '/sessions', '/limits', '/plans'],
    ...(onDone && { onDone }),
  })
  return (
    <Form
      key={workspace.version}
      initial={{ name, plan, allow_private: policy.allow_private, allow_ranges: policy.allow_ranges }}
      call={values => ({
        method: 'PATCH',
        path,
        ifMatch: workspace.version,
        body: {
          name: values.name,
          plan: values.plan,
          network_policy: { allow_private: values.allow_private, allow_ranges: values.allow_ranges },
        },
      })}
      send={send.mutateAsync}
      pending={send.isPending}
      action="Save"
      {...(onDone && { onCancel: onDone })}
    >
      <TextField name="name" label="Name" />
      <SelectField
        name="plan"
        label="Plan"
        choices={(plans.data?.data ?? [{ id: plan, title: plan }]).map(one => [one.id, one.title] as const)}
      />
      <CheckField
        name="allow_private"
        label="May reach private addresses"
        hint="Checks, webhooks and channels of this workspace may then call machines in the hub’s own network, over plain HTTP too."
      />
      <WordsField
        name="allow_ranges"
        label="May reach besides"
        placeholder="192.0.2.0/24, nas.lan"
        hint="Ranges, addresses and host names."
      />
    </Form>
  )
}
