import type { ActionView } from '../../features/actions/shapes'
import { actorName } from '../parts/actor'
import { CopyableText } from '../parts/code'
import { Json } from '../parts/json'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { ErrorDetail } from '../parts/problem'
import { ResourceLinks } from '../parts/resource'
import { SendButton } from '../parts/send-button'
import { Status, StatusIcon, humanize, capitalize } from '../parts/status'
import { RelativeTime, formatDuration } from '../parts/time'
import { usePerson } from '../session'
import { statusLabelOf, titleOf } from './actions/action-title'
import { Progress } from './actions/progress'

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
          <Progress action={action} />
          {action.error && (
            <p className="mt-3 rounded-md bg-bad-soft p-3 text-bad wrap-anywhere">
              <ErrorDetail {...action.error} />
            </p>
          )}
          <ol className="mt-4 flex flex-col gap-2">
            {action.steps.map(step => (
              <li key={step.name} className="flex items-start gap-2">
                <StatusIcon status={step.status} className="mt-0.5 size-4" />
                <span className="min-w-0 grow">
                  <span className="font-medium">{capitalize(humanize(step.name))}</span>
                  {step.detail && <span className="block text-muted wrap-anywhere">{step.detail}</span>}
                </span>
                <span className="text-[13px] text-muted">{humanize(step.status)}</span>
              </li>
            ))}
          </ol>
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
