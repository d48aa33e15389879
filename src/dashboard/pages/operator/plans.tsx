import { limitNames, limitTable } from '../../../access/limit-table'
import type { PlanView } from '../../../features/plans/shapes'
import { Advanced, Group } from '../../parts/advanced'
import { CheckboxField, Columns, NumberField, SelectField, TextField } from '../../parts/form'
import { CreateButton, menuColumn } from '../../parts/list'
import { confirmDelete, openForm } from '../../parts/open-dialog'
import { Tag } from '../../parts/status'
import { Table, requestedList, type Column } from '../../parts/table'
import { nested } from '../../parts/values'
import { useOne } from '../../queries'
import { apiAccessLabels } from '../plan/api-access'

/** The plans of the installation. */
export function Plans() {
  const found = useOne<{ data: PlanView[] }>('/plans')
  const plans = found.data?.data ?? []
  const columns: readonly Column<PlanView>[] = [
    {
      title: 'Plan',
      render: one => (
        <>
          <span className="font-medium">{one.title}</span> {one.default && <Tag>default</Tag>}
        </>
      ),
    },
    { title: 'ID', look: 'mono', render: one => one.id },
    { title: 'API access', width: '9rem', render: one => apiAccessLabels[one.api_access] },
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
        { label: 'Edit plan', onSelect: () => openPlan(one) },
        { label: 'Delete plan', danger: true, onSelect: () => deletePlan(one) },
      ],
    ),
  ]
  return (
    <>
      <div className="mb-3 flex justify-end">
        <CreateButton create={{ label: 'Create plan', onClick: () => openPlan() }} />
      </div>
      <Table label="Plans" columns={columns} list={requestedList(found, plans)} idOf={one => one.id} empty={null} />
    </>
  )
}

const limitText = (limit: number | null) => (limit === null ? 'No limit' : limit.toLocaleString())

const deletePlan = ({ id, title }: PlanView) =>
  confirmDelete({
    noun: 'plan',
    name: title,
    path: `/plans/${id}`,
    invalidates: ['/plans'],
    text: 'You can’t delete a plan while workspaces use it. This can’t be undone.',
  })

/** Opens a plan to edit, or a new one. */
const openPlan = (plan?: PlanView) =>
  openForm({
    title: plan ? 'Edit plan' : 'Create plan',
    submitLabel: plan ? 'Save changes' : 'Create plan',
    wide: true,
    initial: {
      id: '',
      title: plan?.title ?? '',
      api_access: plan?.api_access ?? 'full',
      default: plan?.default ?? false,
      ...Object.fromEntries(limitNames.map(name => [`limits.${name}`, plan?.limits[name] ?? null])),
    },
    defaults: Object.fromEntries(limitNames.map(name => [`limits.${name}`, null])),
    call: values => ({
      method: plan ? 'PATCH' : 'POST',
      path: plan ? `/plans/${plan.id}` : '/plans',
      ...(plan && { ifMatch: plan.version }),
      body: {
        ...(!plan && { id: values.id }),
        title: values.title,
        api_access: values.api_access,
        ...((values.default !== plan?.default || !plan) && { default: values.default }),
        limits: nested('limits', values),
      },
    }),
    send: { toast: 'Plan saved', link: '/operator/plans', invalidates: ['/plans', '/limits'] },
    fields: (
      <>
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
          <SelectField name="api_access" label="API access" choices={apiAccessLabels} />
        </Columns>
        <CheckboxField name="default" label="Default plan for new workspaces" />
        <Advanced>
          <Group label="Limits" contents={['Requests', 'Resources', 'Retention']}>
            <p className="text-[13px] text-muted">Leave empty for no limit.</p>
            <Columns>
              {limitNames.map(name => (
                <NumberField key={name} name={`limits.${name}`} label={limitTable[name].label} min={0} />
              ))}
            </Columns>
          </Group>
        </Advanced>
      </>
    ),
  })
