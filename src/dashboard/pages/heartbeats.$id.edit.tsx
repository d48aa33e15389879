import type { HeartbeatView } from '../../features/heartbeats/shapes'
import { EditPage } from '../parts/edit-page'
import { resourcePage } from '../parts/resource-page'
import { heartbeatBody, HeartbeatFields, heartbeatValues } from './heartbeats/heartbeat-fields'

/** Edits a heartbeat. Only changed fields are sent. */
export default resourcePage<HeartbeatView>({ path: '/heartbeats', parent: '/heartbeats' }, ({ resource: heartbeat }) => (
  <EditPage
    resource={heartbeat}
    to={`/heartbeats/${heartbeat.id}`}
    path={`/heartbeats/${heartbeat.id}`}
    invalidates={['/heartbeats', '/overview']}
    // Every heartbeat has a slug, by default from its name.
    defaults={{ ...heartbeatValues(null), slug: heartbeat.slug }}
    valuesOf={opened => heartbeatValues(opened)}
    bodyOf={heartbeatBody}
  >
    {() => <HeartbeatFields />}
  </EditPage>
))
