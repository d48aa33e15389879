import { FileOutput } from 'lucide-react'
import type { AuditStreamTestResult, AuditStreamView } from '../../features/audit/stream-shapes'
import { CheckboxField, SelectField, TextField, ListField, type Values } from '../parts/form'
import { ListPage, menuColumn, type TableColumns } from '../parts/list'
import { confirm, confirmDelete, openForm } from '../parts/open-dialog'
import { showSecret } from '../parts/secret'
import { OverlapField } from '../parts/secret-fields'
import { Status } from '../parts/status'
import { RelativeTime } from '../parts/time'
import { toast } from '../parts/toast'
import type { Call } from '../client'
import { useSend } from '../queries'
import { usePerson } from '../session'

const invalidates = ['/audit-streams']

/** Lists and manages the audit streams. */
export default function AuditStreams() {
  const { canAdminister } = usePerson()
  const test = useSend<AuditStreamTestResult>({
    onSuccess: ({ delivered, status_code: status, error_message: error }) =>
      delivered
        ? toast.success(`Test message delivered (status ${status})`)
        : toast.error(new Error(error ?? `The receiver responded with status ${status}.`)),
  })
  const columns: TableColumns<AuditStreamView> = [
    { title: 'Name', look: 'strong', render: one => one.name },
    { title: 'Status', width: '8rem', render: one => <Status status={one.status} /> },
    { title: 'URL', showFrom: 'md', look: 'muted', onPhone: 'line', render: one => one.url },
    { title: 'Last error', showFrom: 'lg', look: 'muted', onPhone: 'line', render: one => one.last_error },
    { title: 'Pending entries', width: '9rem', alignRight: true, render: one => one.lag.toLocaleString() },
    { title: 'Last delivery', width: '9rem', render: one => <RelativeTime at={one.last_success_at} /> },
    canAdminister &&
      menuColumn<AuditStreamView>(
        one => one.name,
        one => {
          const path = `/audit-streams/${one.id}`
          const call = (verb: string) => ({ method: 'POST', path: `${path}/${verb}` }) as const
          return [
            { label: 'Send test message', onSelect: () => test.mutate(call('test')) },
            { label: 'Edit stream', onSelect: () => editStream(one) },
            one.next_secret_hint === null
              ? { label: 'Rotate secret', onSelect: () => rotate(one.name, call('secret/rotate')) }
              : { label: 'End rotation now', onSelect: () => endRotation(one.name, call('secret/promote')) },
            '-',
            {
              label: 'Delete stream',
              danger: true,
              onSelect: () =>
                confirmDelete({
                  noun: 'stream',
                  name: one.name,
                  path,
                  invalidates,
                  text: 'New entries are no longer sent. The receiver keeps the entries that were already delivered.',
                }),
            },
          ]
        },
      ),
  ]
  return (
    <ListPage
      label="Audit streams"
      parent="/audit"
      description="Send the audit log to a URL as it is written: signed, in order, and at least once."
      path="/audit-streams"
      create={canAdminister && { label: 'Create stream', onClick: createStream }}
      columns={columns}
      refetchMs={10_000}
      empty={{
        icon: FileOutput,
        title: 'No streams yet',
        text: 'Send a copy of the audit log to another system. Someone who breaks into this server can’t change that copy.',
      }}
    />
  )
}

const rotate = (name: string, call: Call) =>
  openForm<NewStream>({
    title: `Rotate the secret of ${name}?`,
    submitLabel: 'Rotate secret',
    initial: { overlap_seconds: '86400' },
    call: ({ overlap_seconds: seconds }) => ({ ...call, body: { overlap_seconds: Number(seconds) } }),
    send: {
      invalidates,
      onSuccess: one => showSigningSecret(one, 'Add it to the receiver while the old secret still works.'),
    },
    fields: <OverlapField />,
  })

const endRotation = (name: string, call: Call) =>
  confirm({
    title: `End the rotation for ${name}?`,
    text: 'The old secret stops working immediately. Make sure that the receiver already uses the new one.',
    action: 'End rotation now',
    call,
    send: { toast: 'Rotation ended', invalidates },
  })

const createStream = () =>
  openForm<NewStream>({
    title: 'Create stream',
    initial: { name: '', url: '', from: 'now', actions: [] },
    call: values => ({ method: 'POST', path: '/audit-streams', body: bodyOf(values) }),
    send: { invalidates, onSuccess: one => showSigningSecret(one) },
    fields: (
      <>
        <Fields />
        <SelectField
          name="from"
          label="Entries to send"
          choices={{ now: 'New entries only', beginning: 'All stored and new entries' }}
        />
      </>
    ),
  })

const editStream = ({ id, name, url, actions, active }: AuditStreamView) =>
  openForm({
    title: 'Edit stream',
    submitLabel: 'Save changes',
    initial: { name, url, actions: actions ?? [], active },
    call: values => ({ method: 'PATCH', path: `/audit-streams/${id}`, body: bodyOf(values) }),
    send: { toast: 'Stream saved', invalidates },
    fields: (
      <>
        <Fields />
        <CheckboxField
          name="active"
          label="Active"
          hint="Turn this off to pause the stream. When you turn it on again, it continues where it stopped."
        />
      </>
    ),
  })

const Fields = () => (
  <>
    <TextField name="name" label="Name" autoFocus />
    <TextField name="url" label="URL" type="url" placeholder="https://" />
    <ListField
      name="actions"
      label="Actions"
      placeholder="e.g. account.*, heartbeat.delete"
      hint="Actions to send. Leave empty for all. The receiver can’t verify that a filtered log is complete."
    />
  </>
)

const bodyOf = (values: Values): Values => ({
  ...values,
  actions: (values.actions as string[]).length > 0 ? values.actions : null,
})

/** A stream with its new secret. */
type NewStream = AuditStreamView & { secret: string }

const showSigningSecret = ({ name, secret }: NewStream, note = '') =>
  showSecret({
    title: 'Save the signing secret',
    description: `It is shown only once. ${note}`,
    value: secret,
    file: `signing secret ${name}`,
  })
