import type { MonitorTypeView } from '../../features/monitors/definition/shapes'
import type { MonitorView } from '../../features/monitors/shapes'
import { EditPage } from '../parts/edit-page'
import { TextField } from '../parts/form'
import { TextWithCode } from '../parts/text-with-code'
import { Loaded } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Tag } from '../parts/status'
import { useOne } from '../queries'
import { ServerField } from './monitors/server-field'
import { MonitorFields, NameFields } from './monitors/monitor-fields'
import { monitorValues, patchFrom, unsetValues } from './monitors/monitor-values'

/** Edits a monitor. Sends only changed fields. */
export default resourcePage({ path: '/monitors', parent: '/monitors' }, EditMonitor)

function EditMonitor({ resource: monitor }: { resource: MonitorView }) {
  const types = useOne<{ data: MonitorTypeView[] }>('/monitors/types')
  const type = types.data?.data.find(one => one.type === monitor.type)
  const path = `/monitors/${monitor.id}`
  return (
    <Loaded query={{ ...types, data: type }} parent="/monitors">
      {type => (
        <EditPage
          resource={monitor}
          to={path}
          path={path}
          invalidates={['/monitors']}
          aside={<Tag>{type.title}</Tag>}
          defaults={unsetValues(type, monitor)}
          valuesOf={opened => monitorValues(type, opened)}
          bodyOf={(values, before) => patchFrom(before, values, type)}
        >
          {opened => (
            <>
              {type.type === 'server' && <ServerField />}
              {type.type !== 'group' && type.type !== 'server' && (
                <TextField name="target" label="Target" hint={<TextWithCode text={type.target ?? ''} />} mono />
              )}
              <NameFields type={type} />
              <MonitorFields type={type} id={opened.id} secretsSet={opened.secrets_set} />
            </>
          )}
        </EditPage>
      )}
    </Loaded>
  )
}
