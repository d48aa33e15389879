import { useParams } from '@tanstack/react-router'
import type { ActionView } from '../../../features/actions/shapes'
import { Button } from '../../parts/button'
import { Copied } from '../../parts/code'
import { Json } from '../../parts/json'
import { Card, Facts, Loaded, Page } from '../../parts/page'
import { ResourceLink } from '../../parts/resource'
import { Status, StatusIcon, wordsOf } from '../../parts/status'
import { Ago, span } from '../../parts/time'
import { useOne, useSend } from '../../queries'
import { usePerson } from '../../session'
import { titleOf } from './action-words'
import { Progress } from './progress'

const up = { to: '/actions', label: 'Actions' }
const lookMs = 1500

/** One piece of work: its steps, how far it is, what came of it. */
export default function Action() {
  const { id } = useParams({ strict: false })
  const found = useOne<ActionView>(`/actions/${id}`, {}, { everyMs: lookMs })
  return (
    <Loaded found={found} up={up}>
      {action => <Shown action={action} />}
    </Loaded>
  )
}

function Shown({ action }: { action: ActionView }) {
  const { mayWrite } = usePerson()
  const cancel = useSend({ done: 'It is called off', stale: ['/actions'] })
  const path = `/actions/${action.id}/cancel`
  const lasted =
    action.started_at && action.finished_at
      ? new Date(action.finished_at).getTime() - new Date(action.started_at).getTime()
      : null
  return (
    <Page
      title={titleOf(action)}
      up={up}
      aside={<Status state={action.status} />}
      actions={
        mayWrite &&
        action.cancellable && (
          <Button
            kind="bad"
            disabled={cancel.isPending || action.cancel_requested_at !== null}
            onClick={() => cancel.mutate({ method: 'POST', path })}
          >
            Call it off
          </Button>
        )
      }
    >
      <div className="grid gap-4 lg:grid-cols-2">
        <Card title="Progress">
          <Progress action={action} />
          {action.error && (
            <p className="mt-3 rounded-md bg-bad-soft p-3 text-bad wrap-anywhere">
              {action.error.detail}{' '}
              <a className="underline" href={action.error.type}>
                {action.error.code}
              </a>
            </p>
          )}
          <ol className="mt-4 flex flex-col gap-2">
            {action.steps.map(step => (
              <li key={step.name} className="flex items-start gap-2">
                <StatusIcon state={step.status} className="mt-0.5 size-4" />
                <span className="min-w-0 grow">
                  <span className="font-medium">{wordsOf(step.name)}</span>
                  <span className="sr-only">: {step.status}</span>
                  {step.detail && <span className="block text-muted wrap-anywhere">{step.detail}</span>}
                </span>
                <span className="text-[13px] text-muted">{wordsOf(step.status)}</span>
              </li>
            ))}
          </ol>
        </Card>
        <Card title="Facts">
          <Facts
            rows={[
              ['Asked by', action.actor.name ?? action.actor.type],
              ['Asked', <Ago at={action.created_at} />],
              ['Began', <Ago at={action.started_at} never="not yet" />],
              ['Ended', <Ago at={action.finished_at} never="not yet" />],
              ['Took', lasted === null ? null : span(lasted)],
              [
                'Works on',
                action.resources.map(one => (
                  <div key={one.id}>
                    <ResourceLink {...one} />
                  </div>
                )),
              ],
              ['Id', <Copied text={action.id} />],
            ]}
          />
        </Card>
        {action.result && (
          <Card title="What came of it" className="lg:col-span-2">
            <Json label="result" value={action.result} />
          </Card>
        )}
      </div>
    </Page>
  )
}
