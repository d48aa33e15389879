import { useParams } from '@tanstack/react-router'
import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { EditPage } from '../../parts/edit-page'
import { Loaded } from '../../parts/page'
import { useOne } from '../../queries'
import { heartbeatBody, HeartbeatFields, heartbeatValues } from './heartbeat-fields'

/** Edits a heartbeat; what is sent is what differs. */
export default function EditHeartbeat() {
  const { id } = useParams({ strict: false })
  const path = `/heartbeats/${id}`
  const found = useOne<HeartbeatView>(path)
  return (
    <Loaded found={found} up={{ to: '/heartbeats', label: 'Heartbeats' }}>
      {heartbeat => (
        <EditPage
          key={heartbeat.id}
          thing={heartbeat}
          to={path}
          path={path}
          stale={['/heartbeats', '/overview']}
          valuesOf={opened => heartbeatValues(opened)}
          bodyOf={heartbeatBody}
        >
          {() => <HeartbeatFields />}
        </EditPage>
      )}
    </Loaded>
  )
}
