import { Link } from '@tanstack/react-router'
import { Circle, CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { OverviewView } from '../../../features/overview/shapes'
import { Button } from '../../parts/button'
import { Card } from '../../parts/page'
import { usePrefer, usePreferences } from '../../preferences'
import { usePerson, type Person } from '../../session'
import { PastedTarget } from './pasted-target'

const hintOf = (workspaceId: string) => `first-steps.${workspaceId}`
// What the API keeps of one person; the oldest are of workspaces that were begun long ago.
const mostDismissed = 50

interface Step {
  title: string
  words: string
  isDone: boolean
  to: string
}

/** What a new workspace is for, step by step. Each is ticked off once there is such a thing; it goes when all are, or when told to. */
export function FirstSteps({ seen }: { seen: OverviewView }) {
  const person = usePerson()
  const dismissed = usePreferences()?.dismissed ?? []
  const prefer = usePrefer()
  const [isHidden, setHidden] = useState(false)
  const hint = hintOf(person.workspace.id)
  const steps = stepsFor(seen, person)
  const done = steps.filter(one => one.isDone).length
  if (isHidden || dismissed.includes(hint) || !person.mayWrite || done === steps.length) return null
  const hide = () => {
    prefer({ dismissed: [...dismissed, hint].slice(-mostDismissed) })
    setHidden(true)
  }
  return (
    <Card
      title="First steps"
      actions={
        <>
          <span className="text-[13px] text-muted">
            {done} of {steps.length} done
          </span>
          <Button small kind="quiet" onClick={hide}>
            Hide
          </Button>
        </>
      }
    >
      {seen.monitors?.total === 0 && (
        <div className="mb-4">
          <PastedTarget />
        </div>
      )}
      <ol className="grid gap-x-6 gap-y-3 sm:grid-cols-2 lg:grid-cols-3">
        {steps.map(one => (
          <li key={one.title} className="flex items-start gap-2.5">
            {one.isDone ? (
              <CircleCheck className="mt-0.5 size-4 shrink-0 text-ok" aria-label="Done" />
            ) : (
              <Circle className="mt-0.5 size-4 shrink-0 text-muted" aria-label="To do" />
            )}
            <div className="min-w-0">
              <Link to={one.to} className={`font-medium hover:underline ${one.isDone ? 'text-muted' : 'text-accent'}`}>
                {one.title}
              </Link>
              <p className="text-[13px] text-muted">{one.words}</p>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function stepsFor(
  { monitors, channels, heartbeats, dns, members, invitations }: OverviewView,
  { mayAdminister }: Person,
): Step[] {
  const steps: (Step | false | null)[] = [
    monitors && {
      title: 'Watch a site',
      words: 'Its address is enough; it is checked at once.',
      isDone: monitors.total > 0,
      to: '/monitors/new',
    },
    channels && {
      title: 'Be told when it fails',
      words: 'By e-mail, in a chat, or by a webhook of your own.',
      isDone: channels.total > 0,
      to: '/channels/new',
    },
    heartbeats && {
      title: 'Watch a job',
      words: 'It pings when it is done; you hear when it is not.',
      isDone: heartbeats.total > 0,
      to: '/heartbeats/new',
    },
    dns && {
      title: 'Add a zone',
      words: 'New, from a zone file, or taken over from a provider.',
      isDone: dns.zones.total > 0,
      to: '/dns',
    },
    mayAdminister &&
      members &&
      invitations && {
        title: 'Invite somebody',
        words: 'Somebody else should hear of it, too.',
        isDone: members.total > 1 || invitations.pending > 0,
        to: '/members',
      },
  ]
  return steps.filter(one => one !== false && one !== null)
}
