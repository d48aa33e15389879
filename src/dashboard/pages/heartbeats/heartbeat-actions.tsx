import { useNavigate } from '@tanstack/react-router'
import { CalendarClock, Pencil, RefreshCw, Trash2 } from 'lucide-react'
import type { HeartbeatView } from '../../../features/heartbeats/shapes'
import { LinkButton } from '../../parts/button'
import { Menu } from '../../parts/menu'
import { confirm, confirmDelete } from '../../parts/open-dialog'
import { PauseButton } from '../../parts/send-button'
import { usePerson } from '../../session'

const invalidates = ['/heartbeats', '/incidents', '/overview']

/** The actions for a heartbeat that the user may perform. */
export function HeartbeatActions({ heartbeat: { id, name, status } }: { heartbeat: HeartbeatView }) {
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  if (!canWrite) return null
  const path = `/heartbeats/${id}`
  const rotate = () =>
    confirm({
      title: `Rotate the ping URL of ${name}?`,
      text: 'The current ping URL stops working immediately. Pings are missed until the job uses the new URL.',
      action: 'Rotate ping URL',
      call: { method: 'POST', path: `${path}/rotate` },
      send: { toast: 'Ping URL rotated', invalidates },
    })
  const remove = () =>
    confirmDelete({
      noun: 'heartbeat',
      name,
      path,
      invalidates,
      next: '/heartbeats',
      typed: true,
      text: 'This deletes its pings, logs, and history, and its ping URL stops working. This can’t be undone.',
    })
  return (
    <>
      <PauseButton name={name} path={path} isPaused={status === 'paused'} invalidates={invalidates} />
      <LinkButton to="/heartbeats/$id/edit" params={{ id }} icon={Pencil}>
        Edit
      </LinkButton>
      <Menu
        label="More actions"
        items={[
          {
            label: 'Schedule maintenance',
            icon: CalendarClock,
            onSelect: () => void navigate({ to: `/maintenance/new?heartbeat=${id}` }),
          },
          { label: 'Rotate ping URL', icon: RefreshCw, onSelect: rotate },
          '-',
          { label: 'Delete', icon: Trash2, danger: true, onSelect: remove },
        ]}
      />
    </>
  )
}
