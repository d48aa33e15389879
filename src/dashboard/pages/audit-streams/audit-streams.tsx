import { useState } from 'react'
import { FileOutput, Plus } from 'lucide-react'
import type { AuditStreamTest, AuditStreamView } from '../../../features/audit/stream-shapes'
import { Button } from '../../parts/button'
import { Copied } from '../../parts/code'
import { Confirm, Dialog } from '../../parts/dialog'
import { Empty } from '../../parts/empty'
import { CheckField, Form, SelectField, TextField, WordsField } from '../../parts/form'
import { Menu } from '../../parts/menu'
import { Page } from '../../parts/page'
import { Status } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago } from '../../parts/time'
import { toast } from '../../parts/toast'
import { useList, useSend } from '../../queries'
import { usePerson } from '../../session'

type Asked = { what: 'edit' | 'delete'; stream: AuditStreamView } | { what: 'new' } | null

/** URLs that receive the audit log as it is written. */
export default function AuditStreams() {
  const { mayAdminister } = usePerson()
  const [asked, setAsked] = useState<Asked>(null)
  const [secret, setSecret] = useState<string | null>(null)
  const list = useList<AuditStreamView>('/audit-streams', {}, { everyMs: 10_000 })
  const close = () => setAsked(null)
  const create = useSend<{ secret: string }>({
    quiet: true,
    stale: ['/audit-streams'],
    onDone: made => {
      close()
      setSecret(made.secret)
    },
  })
  const change = useSend({ quiet: true, done: 'Stream saved', stale: ['/audit-streams'], onDone: close })
  const remove = useSend({ done: 'Stream deleted', stale: ['/audit-streams'], onDone: close })
  const rotate = useSend<{ secret: string }>({ stale: ['/audit-streams'], onDone: made => setSecret(made.secret) })
  const act = useSend({ done: 'Done', stale: ['/audit-streams'] })
  const test = useSend<AuditStreamTest>({
    onDone: ({ delivered, status_code: status, error_message: error }) =>
      delivered ? toast.done(`Taken, with ${status}`) : toast.failed(new Error(error ?? `The receiver answered ${status}.`)),
  })
  const columns: readonly Column<AuditStreamView>[] = [
    { name: 'name', title: 'Name', render: one => <span className="font-medium">{one.name}</span> },
    {
      name: 'status',
      title: 'State',
      width: '8rem',
      render: one => <Status state={one.status} mood={one.status === 'off' ? 'idle' : one.status === 'ok' ? 'ok' : 'bad'} />,
    },
    { name: 'url', title: 'URL', from: 'md', render: one => one.url },
    { name: 'error', title: 'Last error', from: 'lg', render: one => one.last_error ?? '–' },
    { name: 'lag', title: 'Behind', width: '6rem', from: 'sm', right: true, render: one => one.lag.toLocaleString() },
    { name: 'taken', title: 'Last taken', width: '9rem', from: 'sm', render: one => <Ago at={one.last_success_at} /> },
    ...(mayAdminister
      ? [
          {
            name: 'more',
            title: '',
            width: '4rem',
            right: true,
            render: (one: AuditStreamView) => {
              const path = `/audit-streams/${one.id}`
              return (
                <Menu
                  label={`More for ${one.name}`}
                  items={[
                    { label: 'Send a test', onSelect: () => test.mutate({ method: 'POST', path: `${path}/test` }) },
                    { label: 'Edit', onSelect: () => setAsked({ what: 'edit', stream: one }) },
                    one.next_secret_hint === null
                      ? {
                          label: 'Rotate the secret',
                          onSelect: () => rotate.mutate({ method: 'POST', path: `${path}/secret/rotate`, body: {} }),
                        }
                      : {
                          label: 'End the old secret',
                          onSelect: () => act.mutate({ method: 'POST', path: `${path}/secret/promote` }),
                        },
                    '-',
                    { label: 'Delete', bad: true, onSelect: () => setAsked({ what: 'delete', stream: one }) },
                  ]}
                />
              )
            },
          },
        ]
      : []),
  ]
  const newButton = mayAdminister && (
    <Button kind="main" data-new icon={<Plus className="size-4" aria-hidden />} onClick={() => setAsked({ what: 'new' })}>
      New stream
    </Button>
  )
  return (
    <Page
      title="Audit streams"
      up={{ to: '/audit', label: 'Audit log' }}
      lead="URLs that receive the audit log as it is written, signed, in order, and at least once."
      actions={newButton}
    >
      <Table
        label="Audit streams"
        columns={columns}
        list={list}
        idOf={one => one.id}
        empty={
          <Empty icon={FileOutput} title="No streams" action={newButton}>
            Keep a copy of the log where nobody who runs the hub can change it.
          </Empty>
        }
      />
      <Dialog open={asked?.what === 'new'} onClose={close} title="New stream">
        <Form
          initial={{ name: '', url: '', from: 'now', actions: [] }}
          call={values => ({ method: 'POST', path: '/audit-streams', body: { ...values, actions: filtered(values.actions) } })}
          send={create.mutateAsync}
          pending={create.isPending}
          onCancel={close}
          action="Make the stream"
        >
          <TextField name="name" label="Name" autoFocus />
          <TextField name="url" label="URL" type="url" placeholder="https://" />
          <SelectField
            name="from"
            label="Begins"
            choices={[
              ['now', 'With what is written from now on'],
              ['beginning', 'With the oldest entry that is kept'],
            ]}
          />
          <Which />
        </Form>
      </Dialog>
      <Dialog open={asked?.what === 'edit'} onClose={close} title="Edit the stream">
        {asked?.what === 'edit' && (
          <Form
            initial={{
              name: asked.stream.name,
              url: asked.stream.url,
              actions: asked.stream.actions ?? [],
              active: asked.stream.active,
            }}
            call={values => ({
              method: 'PATCH',
              path: `/audit-streams/${asked.stream.id}`,
              body: { ...values, actions: filtered(values.actions) },
            })}
            send={change.mutateAsync}
            pending={change.isPending}
            onCancel={close}
            action="Save"
          >
            <TextField name="name" label="Name" />
            <TextField name="url" label="URL" type="url" />
            <Which />
            <CheckField name="active" label="Sends" hint="Switched off it stays where it is; on again, it goes on from there." />
          </Form>
        )}
      </Dialog>
      <Confirm
        open={asked?.what === 'delete'}
        onClose={close}
        title="Delete the stream?"
        action="Delete stream"
        pending={remove.isPending}
        onConfirm={() =>
          asked?.what === 'delete' && remove.mutate({ method: 'DELETE', path: `/audit-streams/${asked.stream.id}` })
        }
      >
        The receiver gets nothing from now on. What it has stays there.
      </Confirm>
      <Dialog
        open={secret !== null}
        onClose={() => setSecret(null)}
        title="Keep the signing secret"
        description="It is shown this once."
      >
        {secret && <Copied text={secret} label="the secret" />}
      </Dialog>
    </Page>
  )
}

const Which = () => (
  <WordsField
    name="actions"
    label="Only these actions"
    placeholder="heartbeat.*, token.create"
    hint="Empty is all. A log with entries left out cannot be proven whole by its receiver."
  />
)

const filtered = (actions: unknown) => ((actions as string[]).length > 0 ? actions : null)
