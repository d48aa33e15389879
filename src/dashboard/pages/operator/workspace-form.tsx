import type { PlanView } from '../../../features/plans/shapes'
import type { WorkspaceView } from '../../../features/workspaces/shapes'
import { limitNames, limitTable } from '../../../access/limit-table'
import { Advanced, Group } from '../../parts/advanced'
import { CheckboxField, Columns, Form, SelectField, TextField, ListField } from '../../parts/form'
import { flattened, nested } from '../../parts/values'
import { useOne } from '../../queries'

/** Edits name, plan and network policy of a workspace; for operators. */
export function WorkspaceForm({ workspace, onSuccess }: { workspace: WorkspaceView; onSuccess?: () => void }) {
  const plans = useOne<{ data: PlanView[] }>('/plans')
  const path = `/workspaces/${workspace.id}`
  const { name, plan, network_policy: policy, limit_overrides: overrides } = workspace
  const before = Object.fromEntries(limitNames.map(one => [one, overrides[one] ?? null]))
  return (
    <Form
      key={workspace.version}
      initial={{
        name,
        plan,
        ...flattened('network_policy', policy),
        ...Object.fromEntries(limitNames.map(one => [`limit_overrides.${one}`, String(overrides[one] ?? '')])),
      }}
      defaults={Object.fromEntries(limitNames.map(one => [`limit_overrides.${one}`, '']))}
      call={values => ({
        method: 'PATCH',
        path,
        ifMatch: workspace.version,
        body: {
          name: values.name,
          plan: values.plan,
          network_policy: nested('network_policy', values),
          limit_overrides: Object.fromEntries(limitNames.map(one => [one, overrideOf(String(values[`limit_overrides.${one}`]))])),
        },
      })}
      send={{
        toast: 'Workspace saved',
        undo: () => ({ method: 'PATCH', path, body: { name, plan, network_policy: policy, limit_overrides: before } }),
        invalidates: ['/workspaces', '/sessions', '/limits', '/plans'],
        ...(onSuccess && { onSuccess }),
      }}
      submitLabel="Save changes"
      {...(onSuccess && { onCancel: onSuccess })}
    >
      <TextField name="name" label="Name" />
      <SelectField
        name="plan"
        label="Plan"
        choices={(plans.data?.data ?? [{ id: plan, title: plan }]).map(one => [one.id, one.title] as const)}
      />
      <CheckboxField
        name="network_policy.allow_private"
        label="Allow private addresses"
        hint="Lets all outgoing connections of this workspace, such as monitors, webhooks, channels, and DNS providers, reach private addresses, including over plain HTTP."
      />
      <ListField
        name="network_policy.allow_ranges"
        label="Additional allowed addresses"
        placeholder="e.g. 192.0.2.0/24, nas.lan"
        hint="CIDR ranges, IP addresses, and hostnames."
      />
      <Advanced>
        <Group label="Limits">
          <p className="text-[13px] text-muted">
            Override the limits of the plan with a number, or with “unlimited”. Leave empty for the limit of the plan.
          </p>
          <Columns>
            {limitNames.map(one => (
              <TextField
                key={one}
                name={`limit_overrides.${one}`}
                label={limitTable[one].label}
                placeholder="Limit of the plan"
              />
            ))}
          </Columns>
        </Group>
      </Advanced>
    </Form>
  )
}

/** Null for the limit of the plan. Other text is sent unchanged, for the API to check. */
const overrideOf = (text: string): number | string | null =>
  text.trim() === '' ? null : /^\d+$/.test(text.trim()) ? Number(text) : text.trim()
