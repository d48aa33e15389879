import { CalendarClock } from 'lucide-react'
import type { ServerView } from '../../features/servers/shapes'
import type { SnapshotPolicyView } from '../../features/servers/snapshot-policies/shapes'
import { CheckboxField, Columns, NumberField, SelectField, TextField, type Values } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirm, confirmDelete, openForm } from '../parts/open-dialog'
import { Facts } from '../parts/page'
import { ChooseManyField } from '../parts/pick-field'
import { ResourceLinks } from '../parts/resource'
import { useResourceNames } from '../parts/resource-search'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { displayTimezone } from '../parts/timezone'
import { usePerson } from '../session'

const invalidates = ['/snapshot-policies', '/snapshots']

/** Lists and manages snapshot policies. */
export default function SnapshotPolicies() {
  const { canWrite } = usePerson()
  const columns: TableColumns<SnapshotPolicyView> = [
    { title: 'Name', sort: 'name', look: 'strong', render: one => one.name },
    {
      title: 'Last run',
      width: '11rem',
      onPhone: 'corner',
      render: one => <RunStatus policy={one} />,
    },
    { title: 'Servers', width: 'clamp(9rem, 20cqw, 20rem)', onPhone: 'line', render: describeServers },
    { title: 'Schedule', width: '12rem', look: 'mono', showFrom: 'lg', onPhone: 'line', render: one => one.schedule.cron },
    { title: 'Next run', width: '8rem', showFrom: 'md', render: one => <RelativeTime at={one.next_at} fallback="Paused" /> },
    canWrite &&
      menuColumn<SnapshotPolicyView>(
        one => one.name,
        one => [
          { label: 'Edit policy', onSelect: () => editPolicy(one) },
          {
            label: 'Run now',
            onSelect: () =>
              confirm({
                title: `Run ${one.name} now?`,
                text: 'Snapshots of all its servers are created within a minute. Then old ones are deleted, as after each run.',
                action: 'Run policy',
                call: { method: 'POST', path: `/snapshot-policies/${one.id}/run` },
                send: { toast: `${one.name} runs within a minute`, invalidates },
              }),
          },
          '-',
          {
            label: 'Delete policy',
            danger: true,
            onSelect: () =>
              confirmDelete({
                noun: 'policy',
                name: one.name,
                path: `/snapshot-policies/${one.id}`,
                invalidates,
                text: 'Snapshots are no longer created. Existing ones are kept, and no longer deleted automatically.',
              }),
          },
        ],
      ),
  ]
  return (
    <ListPage
      label="Snapshot policies"
      description="Create snapshots on a schedule, and delete old ones."
      path="/snapshot-policies"
      columns={columns}
      sort="name"
      search
      filters={[{ name: 'paused', label: 'Paused', all: 'All policies', choices: { true: 'Paused', false: 'Active' } }]}
      details={one => ({ title: one.name, content: <Details policy={one} /> })}
      create={canWrite && { label: 'Create policy', onClick: createPolicy }}
      empty={{
        icon: CalendarClock,
        text: 'A policy creates snapshots of the servers that you choose, such as every night, and keeps as many as you need.',
      }}
    />
  )
}

function RunStatus({ policy: { last_run: run } }: { policy: SnapshotPolicyView }) {
  if (!run) return 'Never'
  const status = !run.finished ? 'running' : run.failed.length > 0 ? 'failed' : 'succeeded'
  return <Status status={status} />
}

const describeServers = ({ server_ids: ids, label_selector: selector }: SnapshotPolicyView): string =>
  [selector, ids.length > 0 && `${ids.length} ${ids.length === 1 ? 'server' : 'servers'}`].filter(Boolean).join(', ') || 'None'

function Details({ policy: one }: { policy: SnapshotPolicyView }) {
  const names = useResourceNames(one.server_ids)
  const run = one.last_run
  return (
    <Facts
      rows={[
        ['Schedule', `${one.schedule.cron} (${one.schedule.timezone})`],
        ['Next run', <RelativeTime key="" at={one.next_at} fallback="Paused" />],
        ['Label selector', one.label_selector],
        [
          'Servers',
          one.server_ids.length > 0 && (
            <ResourceLinks key="" of={one.server_ids.map(id => ({ id, type: 'server', name: names.get(id) ?? null }))} />
          ),
        ],
        ['Keep', keptText(one.keep)],
        ['Running servers', one.quiesce === 'shutdown' ? 'Shut down for the snapshot' : 'Keep running'],
        ['Maximum price', one.max_monthly_price && `${one.max_monthly_price} ${one.currency ?? ''} per month and snapshot`],
        ['Last run', run && <RelativeTime key="" at={run.at} />],
        ['Created', run && String(run.made)],
        ['Deleted', run && String(run.pruned)],
        ['Failed', run && run.failed.length > 0 && run.failed.map(failure => failure.detail).join(' ')],
      ]}
    />
  )
}

/** “3 latest, 7 daily” */
const keptText = (keep: SnapshotPolicyView['keep']): string =>
  rules.flatMap(([rule, label]) => (keep[rule] > 0 ? [`${keep[rule]} ${label.toLowerCase()}`] : [])).join(', ')

const text = (value: unknown): string | null => (value === '' || value == null ? null : String(value))

const valuesOf = (one: SnapshotPolicyView): Values => ({
  ...{ name: one.name, server_ids: one.server_ids, label_selector: one.label_selector ?? '', quiesce: one.quiesce },
  ...{ 'schedule.cron': one.schedule.cron, 'schedule.timezone': one.schedule.timezone, paused: one.paused },
  ...Object.fromEntries(Object.entries(one.keep).map(([rule, count]) => [`keep.${rule}`, count])),
  ...{ max_monthly_price: one.max_monthly_price ?? '', currency: one.currency ?? '' },
})

const bodyOf = (values: Values) => ({
  name: values.name,
  server_ids: values.server_ids,
  label_selector: text(values.label_selector),
  schedule: { cron: values['schedule.cron'], timezone: values['schedule.timezone'] },
  keep: Object.fromEntries(rules.map(([rule]) => [rule, Number(values[`keep.${rule}`])])),
  quiesce: values.quiesce,
  paused: values.paused,
  max_monthly_price: text(values.max_monthly_price),
  currency: text(values.currency),
})

const rules = [
  ['last', 'Latest'],
  ['hourly', 'Hourly'],
  ['daily', 'Daily'],
  ['weekly', 'Weekly'],
  ['monthly', 'Monthly'],
] as const

const createPolicy = () =>
  openForm<SnapshotPolicyView>({
    title: 'Create policy',
    wide: true,
    initial: {
      ...{ name: '', server_ids: [], label_selector: '', quiesce: 'none', paused: false, max_monthly_price: '', currency: '' },
      ...{ 'schedule.cron': '0 3 * * *', 'schedule.timezone': displayTimezone() },
      ...{ 'keep.last': 3, 'keep.hourly': 0, 'keep.daily': 7, 'keep.weekly': 4, 'keep.monthly': 0 },
    },
    call: values => ({ method: 'POST', path: '/snapshot-policies', body: bodyOf(values) }),
    send: { toast: 'Policy created', invalidates },
    fields: <PolicyFields />,
  })

const editPolicy = (one: SnapshotPolicyView) =>
  openForm<SnapshotPolicyView>({
    title: 'Edit policy',
    submitLabel: 'Save changes',
    wide: true,
    initial: valuesOf(one),
    call: values => ({ method: 'PATCH', path: `/snapshot-policies/${one.id}`, body: bodyOf(values) }),
    send: { toast: 'Policy saved', invalidates },
    fields: <PolicyFields />,
  })

function PolicyFields() {
  return (
    <>
      <TextField name="name" label="Name" placeholder="e.g. nightly" autoFocus />
      <TextField
        name="label_selector"
        label="Label selector"
        placeholder="e.g. role=database"
        mono
        hint="All servers whose labels match, now and later."
      />
      <ChooseManyField<ServerView>
        name="server_ids"
        label="Servers"
        list="/servers"
        isOffered={one => one.account_id !== null}
        none={null}
      />
      <Columns>
        <TextField name="schedule.cron" label="Schedule" mono hint="Cron: minute, hour, day, month, weekday." />
        <TextField name="schedule.timezone" label="Time zone" />
      </Columns>
      <fieldset className="grid grid-cols-2 gap-4 sm:grid-cols-5">
        <legend className="mb-1 font-medium">Snapshots to keep</legend>
        {rules.map(([rule, label]) => (
          <NumberField key={rule} name={`keep.${rule}`} label={label} min={0} max={1000} />
        ))}
      </fieldset>
      <SelectField
        name="quiesce"
        label="Running servers"
        choices={{ none: 'Keep them running', shutdown: 'Shut them down first, and start them again' }}
      />
      <Columns>
        <TextField
          name="max_monthly_price"
          label="Maximum price per month"
          placeholder="e.g. 1.00"
          hint="Of each snapshot. Not needed on your own hardware."
        />
        <TextField name="currency" label="Currency" placeholder="e.g. EUR" />
      </Columns>
      <CheckboxField name="paused" label="Paused" hint="No snapshots are created until you resume the policy." />
    </>
  )
}
