import type { ActionView } from '../../features/actions/shapes'
import { actorName } from '../parts/actor'
import { CopyableText } from '../parts/code'
import { Json } from '../parts/json'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { ResourceLinks } from '../parts/resource'
import { SendButton } from '../parts/send-button'
import { Status } from '../parts/status'
import { RelativeTime, formatDuration } from '../parts/time'
import { usePerson } from '../session'
import { ActionSteps } from './actions/action-steps'
import { statusLabelOf, titleOf } from './actions/action-title'

const refetchMs = 1500

/** Details of an action: steps, progress, and result. */
export default resourcePage({ path: '/actions', parent: '/actions', refetchMs }, Shown)

function Shown({ resource: action }: { resource: ActionView }) {
  const { canWrite } = usePerson()
  const durationMs =
    action.started_at && action.finished_at
      ? new Date(action.finished_at).getTime() - new Date(action.started_at).getTime()
      : null
  return (
    <Page
      title={titleOf(action)}
      parent="/actions"
      aside={<Status status={action.status} label={statusLabelOf(action)} />}
      actions={
        canWrite &&
        action.cancelable && (
          <SendButton
            kind="danger"
            disabled={action.cancel_requested_at !== null}
            call={{ method: 'POST', path: `/actions/${action.id}/cancel` }}
            send={{ toast: 'Cancellation requested', invalidates: ['/actions'] }}
          >
            Cancel action
          </SendButton>
        )
      }
    >
      <div className="grid gap-4 lg:grid-cols-2">
        <Card title="Progress">
          <ActionSteps action={action} />
        </Card>
        <Card
          title="Details"
          facts={[
            ['Actor', actorName(action.actor)],
            ['Created', <RelativeTime at={action.created_at} />],
            ['Started', <RelativeTime at={action.started_at} fallback="Not yet" />],
            ['Finished', <RelativeTime at={action.finished_at} fallback="Not yet" />],
            ['Duration', durationMs === null ? null : formatDuration(durationMs)],
            ['Resources', action.resources.length > 0 && <ResourceLinks of={action.resources} />],
            ['ID', <CopyableText text={action.id} />],
          ]}
        />
        {action.result && (
          <Card title="Result" className="lg:col-span-2">
            <Json label="result" value={action.result} />
          </Card>
        )}
      </div>
    </Page>
  )
}
