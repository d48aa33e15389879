import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import type { MonitorTypeView, MonitorView } from '../../../features/monitors/shapes'
import { Form, TextField } from '../../parts/form'
import { Marked } from '../../parts/marked'
import { Card, Loaded, Page } from '../../parts/page'
import { Tag } from '../../parts/status'
import { useOne, useSend } from '../../queries'
import { MonitorFields, TagsField } from './monitor-fields'
import { monitorValues, patchFrom } from './monitor-values'

const monitors = { to: '/monitors', label: 'Monitors' }

/** Edits a monitor; what is sent is what differs. */
export default function EditMonitor() {
  const { id } = useParams({ strict: false })
  const found = useOne<MonitorView>(`/monitors/${id}`)
  const types = useOne<{ data: MonitorTypeView[] }>('/monitors/types')
  const type = types.data?.data.find(one => one.type === found.data?.type)
  return (
    <Loaded found={{ ...found, data: type && found.data, error: found.error ?? types.error }} up={monitors}>
      {monitor => <Edited key={monitor.id} monitor={monitor} type={type!} />}
    </Loaded>
  )
}

function Edited({ monitor, type }: { monitor: MonitorView; type: MonitorTypeView }) {
  const navigate = useNavigate()
  // As it was when the page was opened: what another person changes meanwhile is theirs, and the version tells.
  const [opened] = useState(monitor)
  const [before] = useState(() => monitorValues(type, opened))
  const to = `/monitors/${opened.id}`
  const send = useSend({ quiet: true, done: 'Saved', stale: ['/monitors'], onDone: () => void navigate({ to }) })
  return (
    <Page title={`Edit ${opened.name}`} up={{ to, label: opened.name }} aside={<Tag>{type.title}</Tag>}>
      <Card className="max-w-3xl">
        <Form
          initial={before}
          call={values => ({
            method: 'PATCH',
            path: to,
            body: patchFrom(before, values, type),
            ifMatch: opened.version,
          })}
          send={send.mutateAsync}
          pending={send.isPending}
          onCancel={() => void navigate({ to })}
          action="Save"
        >
          {type.type !== 'group' && <TextField name="target" label="Target" hint={<Marked text={type.target ?? ''} />} mono />}
          <div className="grid gap-4 sm:grid-cols-2">
            <TextField name="name" label="Name" />
            <TagsField />
          </div>
          <MonitorFields type={type} id={opened.id} secretsSet={opened.secrets_set} />
        </Form>
      </Card>
    </Page>
  )
}
