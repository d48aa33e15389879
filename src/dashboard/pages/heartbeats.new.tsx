import { CreatePage } from '../parts/edit-page'
import { heartbeatBody, HeartbeatFields, heartbeatValues } from './heartbeats/heartbeat-fields'

/** Creates a heartbeat and opens its page, which shows the ping URL. */
export default function NewHeartbeat() {
  return (
    <CreatePage
      parent="/heartbeats"
      page="/heartbeats/$id"
      path="/heartbeats"
      invalidates={['/heartbeats', '/overview']}
      description="Enter the schedule of your job. You then get a URL that the job pings when it finishes."
      initial={heartbeatValues(null)}
      bodyOf={values => heartbeatBody(values, null)}
    >
      <HeartbeatFields isNew />
    </CreatePage>
  )
}
