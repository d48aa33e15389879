import { useNavigate } from '@tanstack/react-router'
import { CalendarClock, CirclePause, CirclePlay, Pencil, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { Button, LinkButton } from '../../parts/button'
import { Confirm } from '../../parts/dialog'
import { Menu } from '../../parts/menu'
import { useSend } from '../../queries'
import { usePerson } from '../../session'

const icon = 'size-4'
const stale = ['/heartbeats', '/incidents', '/overview']

/** What can be done with a heartbeat, as far as the person may. */
export function HeartbeatActions({ heartbeat }: { heartbeat: HeartbeatView }) {
  const { mayWrite } = usePerson()
  const navigate = useNavigate()
  const [asked, setAsked] = useState<'rotate' | 'delete' | null>(null)
  const { name } = heartbeat
  const path = `/heartbeats/${heartbeat.id}`
  const close = () => setAsked(null)
  const verb = (word: string) => ({ method: 'POST', path: `${path}/${word}` }) as const
  const pause = useSend({ done: `Paused ${name}`, undo: () => verb('resume'), stale })
  const resume = useSend({ done: `${name} waits for its next ping`, undo: () => verb('pause'), stale })
  const rotate = useSend({ done: 'It has a new address', stale, onDone: close })
  const remove = useSend({ done: `Deleted ${name}`, stale, onDone: () => void navigate({ to: '/heartbeats' }) })
  if (!mayWrite) return null
  const isPaused = heartbeat.status === 'paused'
  return (
    <>
      <Button
        icon={isPaused ? <CirclePlay className={icon} aria-hidden /> : <CirclePause className={icon} aria-hidden />}
        disabled={pause.isPending || resume.isPending}
        onClick={() => (isPaused ? resume.mutate(verb('resume')) : pause.mutate(verb('pause')))}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <LinkButton to="/heartbeats/$id/edit" params={{ id: heartbeat.id }} icon={<Pencil className={icon} aria-hidden />}>
        Edit
      </LinkButton>
      <Menu
        label="More to do"
        items={[
          {
            label: 'Plan maintenance',
            icon: <CalendarClock className={icon} aria-hidden />,
            onSelect: () => void navigate({ to: `/maintenance/new?heartbeat=${heartbeat.id}` }),
          },
          { label: 'New address', icon: <RefreshCw className={icon} aria-hidden />, onSelect: () => setAsked('rotate') },
          '-',
          { label: 'Delete', icon: <Trash2 className={icon} aria-hidden />, bad: true, onSelect: () => setAsked('delete') },
        ]}
      />
      <Confirm
        open={asked === 'rotate'}
        onClose={close}
        title={`Give ${name} a new address?`}
        action="Make a new address"
        pending={rotate.isPending}
        onConfirm={() => rotate.mutate(verb('rotate'))}
      >
        The address that the job calls now stops working at once. Until the job has the new one, its pings do not come.
      </Confirm>
      <Confirm
        open={asked === 'delete'}
        onClose={close}
        title={`Delete ${name}?`}
        action="Delete heartbeat"
        typed={name}
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path })}
      >
        Its pings, their logs and its history are lost, and its address stops working. This cannot be undone.
      </Confirm>
    </>
  )
}
