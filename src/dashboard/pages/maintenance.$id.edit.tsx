import type { MaintenanceWindowView } from '../../features/maintenance/shapes'
import { EditPage } from '../parts/edit-page'
import { resourcePage } from '../parts/resource-page'
import { changedFields } from '../parts/values'
import { WindowFields } from './maintenance/window-fields'
import { windowBody, windowValues } from './maintenance/window-values'

/** Edits a window. Only changed fields are sent. */
export default resourcePage<MaintenanceWindowView>(
  { path: '/maintenance-windows', parent: '/maintenance' },
  ({ resource: window }) => (
    <EditPage
      resource={window}
      to={`/maintenance/${window.id}`}
      path={`/maintenance-windows/${window.id}`}
      invalidates={['/maintenance-windows', '/overview']}
      defaults={windowValues(null, '')}
      valuesOf={opened => windowValues(opened, '')}
      bodyOf={(values, before) => changedFields(windowBody(before), windowBody(values))}
    >
      {() => <WindowFields />}
    </EditPage>
  ),
)
