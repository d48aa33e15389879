import type { MaintenanceWindowView } from '../../features/maintenance/shapes'
import { EditPage } from '../parts/edit-page'
import type { Values } from '../parts/form'
import { resourcePage } from '../parts/resource-page'
import { WindowFields } from './maintenance/window-fields'
import { windowBody, windowValues } from './maintenance/window-values'

/** Edits a window. Only changed fields are sent. */
export default resourcePage<MaintenanceWindowView>({ path: '/maintenance-windows', parent: '/maintenance' }, window => (
  <EditPage
    key={window.id}
    resource={window}
    to={`/maintenance/${window.id}`}
    path={`/maintenance-windows/${window.id}`}
    invalidates={['/maintenance-windows', '/overview']}
    valuesOf={opened => windowValues(opened, '')}
    bodyOf={(values, before) => changed(windowBody(before), windowBody(values))}
  >
    {() => <WindowFields />}
  </EditPage>
))

const changed = (before: Values, after: Values): Values =>
  Object.fromEntries(Object.entries(after).filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name])))
