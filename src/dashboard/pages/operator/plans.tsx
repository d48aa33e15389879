import { useState } from 'react'
import { limitNames, limitTable } from '../../../access/limit-table'
import type { PlanView } from '../../../features/plans/shapes'
import { Confirm, Dialog } from '../../parts/dialog'
import { CheckboxField, Columns, Form, NumberField, SelectField, TextField, type Values } from '../../parts/form'
import { CreateButton, menuColumn } from '../../parts/list'
import { Tag } from '../../parts/status'
import { Table, staticList, type Column } from '../../parts/table'
import { useOne } from '../../queries'

type OpenDialog = { what: 'edit' | 'delete'; plan: PlanView } | { what: 'new' } | null

/** The plans of the installation. */
export function Plans() {
  const [dialog, setDialog] = useState<OpenDialog>(null)
  const found = useOne<{ data: PlanView[] }>('/plans')
  const plans = found.data?.data ?? []
  const close = () => setDialog(null)
  const columns: readonly Column<PlanView>[] = [
    {
      title: 'Plan',
      render: one => (
        <>
          <span className="font-medium">{one.title}</span> {one.default && <Tag>default</Tag>}
        </>
      ),
    },
    { title: 'ID', showFrom: 'sm', render: one => <code className="font-mono text-[13px]">{one.id}</code> },
    { title: 'API access', width: '7rem', render: one => one.api_access },
    {
      title: limitTable.monitors.label,
      width: '8rem',
      showFrom: 'md',
      alignRight: true,
      render: one => limitText(one.limits.monitors),
    },
    {
      title: limitTable.dns_zones.label,
      width: '8rem',
      showFrom: 'md',
      alignRight: true,
      render: one => limitText(one.limits.dns_zones),
    },
    menuColumn(
      one => one.title,
      one => [
        { label: 'Edit plan', onSelect: () => setDialog({ what: 'edit', plan: one }) },
        { label: 'Delete plan', danger: true, onSelect: () => setDialog({ what: 'delete', plan: one }) },
      ],
    ),
  ]
  return (
    <>
      <div className="mb-3 flex justify-end">
        <CreateButton create={{ label: 'Create plan', onClick: () => setDialog({ what: 'new' }) }} />
      </div>
      <Table label="Plans" columns={columns} list={staticList(plans, found.isPending)} idOf={one => one.id} empty={null} />
      <Dialog open={dialog?.what === 'new'} onClose={close} title="Create plan" wide>
        <PlanForm onClose={close} />
      </Dialog>
      <Dialog open={dialog?.what === 'edit'} onClose={close} title="Edit plan" wide>
        {dialog?.what === 'edit' && <PlanForm plan={dialog.plan} onClose={close} />}
      </Dialog>
      <Confirm
        open={dialog?.what === 'delete'}
        onClose={close}
        title="Delete plan?"
        confirmLabel="Delete plan"
        call={() => (dialog?.what === 'delete' ? { method: 'DELETE', path: `/plans/${dialog.plan.id}` } : null)}
        send={{ toast: 'Plan deleted', invalidates: ['/plans'], onSuccess: () => setDialog(null) }}
      >
        A plan that is used by workspaces can’t be deleted.
      </Confirm>
    </>
  )
}

const limitText = (limit: number | null) => (limit === null ? 'No limit' : limit.toLocaleString())

function PlanForm({ plan, onClose }: { plan?: PlanView; onClose(): void }) {
  const initial: Values = {
    id: '',
    title: plan?.title ?? '',
    api_access: plan?.api_access ?? 'full',
    default: plan?.default ?? false,
    ...Object.fromEntries(limitNames.map(name => [`limits.${name}`, plan?.limits[name] ?? null])),
  }
  return (
    <Form
      initial={initial}
      call={values => ({
        method: plan ? 'PATCH' : 'POST',
        path: plan ? `/plans/${plan.id}` : '/plans',
        ...(plan && { ifMatch: plan.version }),
        body: {
          ...(!plan && { id: values.id }),
          title: values.title,
          api_access: values.api_access,
          ...((values.default !== plan?.default || !plan) && { default: values.default }),
          limits: Object.fromEntries(limitNames.map(name => [name, values[`limits.${name}`]])),
        },
      })}
      send={{ toast: 'Plan saved', invalidates: ['/plans', '/limits'], onSuccess: onClose }}
      onCancel={onClose}
      submitLabel={plan ? 'Save changes' : 'Create plan'}
    >
      {!plan && (
        <TextField
          name="id"
          label="ID"
          mono
          hint="Lowercase letters, digits, hyphens, and underscores. Can’t be changed later."
          autoFocus
        />
      )}
      <Columns>
        <TextField name="title" label="Name" />
        <SelectField
          name="api_access"
          label="API access"
          choices={{ none: 'No access', read: 'Read-only', full: 'Read and write' }}
        />
      </Columns>
      <CheckboxField name="default" label="Default for new workspaces" />
      <fieldset>
        <legend className="mb-2 font-semibold">Limits</legend>
        <p className="mb-3 text-muted">Leave empty for no limit.</p>
        <Columns>
          {limitNames.map(name => (
            <NumberField key={name} name={`limits.${name}`} label={limitTable[name].label} min={0} />
          ))}
        </Columns>
      </fieldset>
    </Form>
  )
}
