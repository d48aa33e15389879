import { Link } from '@tanstack/react-router'
import { Circle, CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { OverviewView } from '../../../features/overview/shapes'
import { Button } from '../../parts/button'
import { Card } from '../../parts/page'
import { toast } from '../../parts/toast'
import { useUpdatePreferences, usePreferences } from '../../preferences'
import { usePerson, type Person } from '../../session'
import { PastedTarget } from './pasted-target'

const hintOf = (workspaceId: string) => `first-steps.${workspaceId}`
// Limit of the API per user. The oldest entries are dropped first.
const maxDismissed = 50

interface Step {
  title: string
  description: string
  isDone: boolean
  to: string
  /** Opens a dialog instead of the page. */
  open?: () => void
}

/** A checklist for a new workspace. Disappears once all steps are done or the user hides it. */
export function FirstSteps({ overview }: { overview: OverviewView }) {
  const person = usePerson()
  const dismissed = usePreferences()?.dismissed ?? []
  const prefer = useUpdatePreferences()
  const [isHidden, setHidden] = useState(false)
  const hint = hintOf(person.workspace.id)
  const steps = stepsFor(overview, person)
  const done = steps.filter(one => one.isDone).length
  if (isHidden || dismissed.includes(hint) || !person.canWrite || done === steps.length) return null
  const hide = () => {
    prefer({ dismissed: [...dismissed, hint].slice(-maxDismissed) })
    setHidden(true)
  }
  return (
    <Card
      title="Getting started"
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
      {overview.monitors?.total === 0 && (
        <div className="mb-4">
          <PastedTarget />
        </div>
      )}
      <ol className="grid gap-x-6 gap-y-3 sm:grid-cols-2">
        {steps.map(one => (
          <li key={one.title} className="flex items-start gap-2.5">
            {one.isDone ? (
              <CircleCheck className="mt-0.5 size-4 shrink-0 text-ok" aria-label="Done" />
            ) : (
              <Circle className="mt-0.5 size-4 shrink-0 text-muted" aria-label="Not done" />
            )}
            <div className="min-w-0">
              <StepLink {...one} />
              {!one.isDone && <p className="text-[13px] text-muted">{one.description}</p>}
            </div>
          </li>
        ))}
      </ol>
    </Card>
  )
}

function StepLink({ title, isDone, to, open }: Step) {
  const look = `text-left font-medium hover:underline ${isDone ? 'text-muted' : 'text-accent'}`
  return open ? (
    <button type="button" className={look} onClick={open}>
      {title}
    </button>
  ) : (
    <Link to={to} className={look}>
      {title}
    </Link>
  )
}

const createZone = () => void import('../dns/new-zone').then(dialog => dialog.createZone(), toast.error)

function stepsFor(
  { monitors, channels, heartbeats, dns, members, invitations }: OverviewView,
  { canAdminister }: Person,
): Step[] {
  const steps: (Step | false | null)[] = [
    monitors && {
      title: 'Monitor a website',
      description: 'Enter its URL. The first check runs immediately.',
      isDone: monitors.total > 0,
      to: '/monitors/new',
    },
    channels && {
      title: 'Get notified',
      description: 'Create a channel to get alerts by email, chat, or push.',
      isDone: channels.total > 0,
      to: '/channels/new',
    },
    heartbeats && {
      title: 'Monitor a scheduled job',
      description: 'Your job sends a ping when it finishes. If a ping is missing, you get an alert.',
      isDone: heartbeats.total > 0,
      to: '/heartbeats/new',
    },
    dns && {
      title: 'Add a DNS zone',
      description: 'Start empty, or import a zone file or a zone from a provider.',
      isDone: dns.zones.total > 0,
      to: '/dns',
      ...(dns.zones.total === 0 && { open: createZone }),
    },
    canAdminister &&
      members &&
      invitations && {
        title: 'Invite a member',
        description: 'Share access and alerts with your team.',
        isDone: members.total > 1 || invitations.pending > 0,
        to: '/members',
      },
  ]
  return steps.filter(one => one !== false && one !== null)
}
