import { useParams } from '@tanstack/react-router'
import type { MaintenanceWindowView } from '../../../features/maintenance/shapes'
import { EditPage } from '../../parts/edit-page'
import type { Values } from '../../parts/form'
import { Loaded } from '../../parts/page'
import { useOne } from '../../queries'
import { WindowFields } from './window-fields'
import { windowBody, windowValues } from './window-values'

/** Edits a window; what is sent is what differs. */
export default function EditWindow() {
  const { id } = useParams({ strict: false })
  const found = useOne<MaintenanceWindowView>(`/maintenance-windows/${id}`)
  return (
    <Loaded found={found} up={{ to: '/maintenance', label: 'Maintenance' }}>
      {window => (
        <EditPage
          key={window.id}
          thing={window}
          to={`/maintenance/${id}`}
          path={`/maintenance-windows/${id}`}
          stale={['/maintenance-windows', '/overview']}
          valuesOf={opened => windowValues(opened, '')}
          bodyOf={(values, before) => changed(windowBody(before), windowBody(values))}
        >
          {() => <WindowFields />}
        </EditPage>
      )}
    </Loaded>
  )
}

const changed = (before: Values, after: Values): Values =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])))
