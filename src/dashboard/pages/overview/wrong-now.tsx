import { Link } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import type { ReactNode } from 'react'
import type { IncidentView } from '../../../features/incidents/shapes'
import type { OverviewView } from '../../../features/overview/shapes'
import { Button } from '../../parts/button'
import { counted } from '../../parts/counted'
import { Card } from '../../parts/page'
import { StatusIcon, wordsOf } from '../../parts/status'
import { Since } from '../../parts/time'
import { useSend } from '../../queries'
import { usePerson } from '../../session'
import type { Trouble } from './troubles'

interface WrongNowProps {
  seen: OverviewView
  troubles: readonly Trouble[]
}

/** What is wrong at this moment: incidents first, then what nobody was told of yet. */
export function WrongNow({ seen, troubles }: WrongNowProps) {
  const incidents = seen.incidents?.data ?? []
  const hidden = (seen.incidents?.total ?? 0) - incidents.length
  const unlisted = (seen.dns?.records_out_of_sync ?? 0) - (seen.dns?.unsynced_records.length ?? 0)
  if (incidents.length === 0 && troubles.length === 0) {
    return (
      <Card title="Wrong now">
        <p className="flex items-center gap-2 text-muted">
          <CircleCheck className="size-4 text-ok" aria-hidden />
          Nothing: no incident is open, everything is synced and delivered.
        </p>
      </Card>
    )
  }
  return (
    <Card title="Wrong now" flush>
      <ul className="divide-y divide-line">
        {incidents.map(one => (
          <Incident key={one.id} incident={one} />
        ))}
        {hidden > 0 && <More to="/incidents" words={counted(hidden, 'more incident', 'more incidents')} />}
        {troubles.map(one => (
          <Row key={one.id} {...one} />
        ))}
        {unlisted > 0 && (
          <More
            to="/dns"
            search={{ synced: 'false' }}
            words={counted(unlisted, 'more record that is not synced', 'more records that are not synced')}
          />
        )}
      </ul>
    </Card>
  )
}

function Incident({ incident }: { incident: IncidentView }) {
  const { mayWrite } = usePerson()
  const path = `/incidents/${incident.id}`
  const send = useSend({
    done: 'Incident acknowledged',
    undo: () => ({ method: 'POST', path: `${path}/unacknowledge`, body: {} }),
    stale: ['/overview', '/incidents'],
  })
  const isTaken = incident.status === 'acknowledged'
  return (
    <Row
      state={incident.status}
      mood={isTaken ? 'warn' : 'bad'}
      title={incident.title}
      reason={[
        incident.cause !== incident.title && incident.cause,
        isTaken && `${incident.acknowledged_by?.name ?? 'Somebody'} sees to it.`,
      ]
        .filter(Boolean)
        .join(' · ')}
      to={path}
      since={incident.started_at}
    >
      {mayWrite && !isTaken && (
        <Button
          small
          disabled={send.isPending}
          aria-label={`Acknowledge ${incident.title}`}
          onClick={() => send.mutate({ method: 'POST', path: `${path}/acknowledge`, body: {} })}
        >
          Acknowledge
        </Button>
      )}
    </Row>
  )
}

type RowProps = Omit<Trouble, 'id'> & {
  children?: ReactNode
}

const Row = ({ state, isSaid, mood, title, reason, to, search = {}, since, children }: RowProps) => (
  <li className="flex items-start gap-3 px-4 py-2.5 hover:bg-hover">
    <StatusIcon state={state} mood={mood} className="mt-0.5 size-4" />
    <div className="min-w-0 grow">
      <p className="flex flex-wrap items-baseline gap-x-3">
        <Link to={to} search={search} className="font-medium wrap-anywhere hover:underline">
          {title}
        </Link>
        <span className="text-[13px] text-muted">
          {isSaid ? <span className="sr-only">{wordsOf(state)}</span> : wordsOf(state)}
          {since && (
            <>
              {' · '}
              <Since at={since} />
            </>
          )}
        </span>
      </p>
      <p className="line-clamp-2 text-[13px] wrap-anywhere text-muted">{reason}</p>
    </div>
    {children}
  </li>
)

const More = ({ to, search = {}, words }: { to: string; search?: Record<string, string>; words: string }) => (
  <li className="px-4 py-2.5 pl-11">
    <Link to={to} search={search} className="text-accent hover:underline">
      {words}
    </Link>
  </li>
)
