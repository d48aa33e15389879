import { useNavigate } from '@tanstack/react-router'
import { CalendarClock, CirclePause, CirclePlay, Pencil, RefreshCw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { Button, LinkButton } from '../../parts/button'
import { Confirm, DeleteDialog } from '../../parts/dialog'
import { Menu } from '../../parts/menu'
import { useSend } from '../../queries'
import { usePerson } from '../../session'

const invalidates = ['/heartbeats', '/incidents', '/overview']

/** The actions for a heartbeat that the user may perform. */
export function HeartbeatActions({ heartbeat }: { heartbeat: HeartbeatView }) {
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'rotate' | 'delete' | null>(null)
  const { name } = heartbeat
  const path = `/heartbeats/${heartbeat.id}`
  const close = () => setOpen(null)
  const verb = (action: string) => ({ method: 'POST', path: `${path}/${action}` }) as const
  const pause = useSend({ toast: `${name} paused`, undo: () => verb('resume'), invalidates })
  const resume = useSend({ toast: `${name} resumed`, undo: () => verb('pause'), invalidates })
  if (!canWrite) return null
  const isPaused = heartbeat.status === 'paused'
  return (
    <>
      <Button
        icon={isPaused ? CirclePlay : CirclePause}
        disabled={pause.isPending || resume.isPending}
        onClick={() => (isPaused ? resume.mutate(verb('resume')) : pause.mutate(verb('pause')))}
      >
        {isPaused ? 'Resume' : 'Pause'}
      </Button>
      <LinkButton to="/heartbeats/$id/edit" params={{ id: heartbeat.id }} icon={Pencil}>
        Edit
      </LinkButton>
      <Menu
        label="More actions"
        items={[
          {
            label: 'Schedule maintenance',
            icon: CalendarClock,
            onSelect: () => void navigate({ to: `/maintenance/new?heartbeat=${heartbeat.id}` }),
          },
          { label: 'Rotate ping URL', icon: RefreshCw, onSelect: () => setOpen('rotate') },
          '-',
          { label: 'Delete', icon: Trash2, danger: true, onSelect: () => setOpen('delete') },
        ]}
      />
      <Confirm
        open={open === 'rotate'}
        onClose={close}
        title={`Rotate the ping URL of ${name}?`}
        confirmLabel="Rotate ping URL"
        call={() => verb('rotate')}
        send={{ toast: 'Ping URL rotated', invalidates, onSuccess: close }}
      >
        The current ping URL stops working immediately. Pings are missed until the job uses the new URL.
      </Confirm>
      <DeleteDialog
        open={open === 'delete'}
        onClose={close}
        noun="heartbeat"
        name={name}
        path={path}
        invalidates={invalidates}
        parent="/heartbeats"
        typed
      >
        This deletes its pings, logs, and history, and its ping URL stops working. This can’t be undone.
      </DeleteDialog>
    </>
  )
}
