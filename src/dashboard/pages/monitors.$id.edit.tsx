import { useParams } from '@tanstack/react-router'
import type { MonitorTypeView, MonitorView } from '../../features/monitors/shapes'
import { EditPage } from '../parts/edit-page'
import { TextField } from '../parts/form'
import { TextWithCode } from '../parts/text-with-code'
import { Loaded } from '../parts/page'
import { Tag } from '../parts/status'
import { useOne } from '../queries'
import { MonitorFields, TagsField } from './monitors/monitor-fields'
import { monitorValues, patchFrom } from './monitors/monitor-values'

/** Edits a monitor. Sends only changed fields. */
export default function EditMonitor() {
  const { id } = useParams({ strict: false })
  const found = useOne<MonitorView>(`/monitors/${id}`)
  const types = useOne<{ data: MonitorTypeView[] }>('/monitors/types')
  const type = types.data?.data.find(one => one.type === found.data?.type)
  const data = found.data && type && { monitor: found.data, type }
  const path = `/monitors/${id}`
  return (
    <Loaded query={{ ...found, data, error: found.error ?? types.error }} parent="/monitors">
      {({ monitor, type }) => (
        <EditPage
          key={monitor.id}
          resource={monitor}
          to={path}
          path={path}
          invalidates={['/monitors']}
          aside={<Tag>{type.title}</Tag>}
          valuesOf={opened => monitorValues(type, opened)}
          bodyOf={(values, before) => patchFrom(before, values, type)}
        >
          {opened => (
            <>
              {type.type !== 'group' && (
                <TextField name="target" label="Target" hint={<TextWithCode text={type.target ?? ''} />} mono />
              )}
              <div className="grid gap-4 sm:grid-cols-2">
                <TextField name="name" label="Name" />
                <TagsField />
              </div>
              <MonitorFields type={type} id={opened.id} secretsSet={opened.secrets_set} />
            </>
          )}
        </EditPage>
      )}
    </Loaded>
  )
}
