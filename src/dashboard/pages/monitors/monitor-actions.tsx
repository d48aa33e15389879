import { useNavigate } from '@tanstack/react-router'
import { CalendarClock, Copy, FileCode, Pencil, Play, RotateCcw, Trash2 } from 'lucide-react'
import type { MonitorView } from '../../../features/monitors/shapes'
import { Button, LinkButton } from '../../parts/button'
import { Code } from '../../parts/code'
import { Menu } from '../../parts/menu'
import { confirm, confirmDelete, openDialog } from '../../parts/open-dialog'
import { PauseButton } from '../../parts/send-button'
import { useSend } from '../../queries'
import { usePerson } from '../../session'
import { checkNow } from './check-now'
import { useExport } from './export'

const invalidates = ['/monitors', '/incidents']

/** The actions for a monitor that the user may perform. */
export function MonitorActions({ monitor }: { monitor: MonitorView }) {
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  const { id, name, status, type } = monitor
  const path = `/monitors/${id}`
  const clone = useSend<MonitorView>({
    invalidates,
    onSuccess: copy => void navigate({ to: `/monitors/${copy.id}/edit` }),
  })
  const isPaused = status === 'paused'
  const view = () =>
    openDialog({
      title: `${name} as YAML`,
      description:
        'You can import this document under Import monitors. Placeholders stand for secrets; importing them keeps the current values.',
      wide: true,
      content: <Exported id={id} />,
    })
  const reset = () =>
    confirm({
      title: `Reset ${name}?`,
      text: 'This discards the current status, failure counts, flapping state, and suppressed alerts, and resolves the incident. The history is kept.',
      action: 'Reset monitor',
      call: { method: 'POST', path: `${path}/reset` },
      send: { toast: 'Monitor reset', invalidates },
    })
  const remove = () =>
    confirmDelete({
      noun: 'monitor',
      name,
      path,
      invalidates,
      next: '/monitors',
      typed: true,
      text:
        type === 'group'
          ? 'This deletes its uptime and history, and removes it from groups and dependencies. Its members are kept. This can’t be undone.'
          : 'This deletes its results, uptime, and history, and removes it from groups and dependencies. This can’t be undone.',
    })
  return (
    <>
      {canWrite && type !== 'group' && (
        <Button kind="primary" icon={Play} disabled={isPaused} onClick={() => checkNow(monitor)}>
          Check now
        </Button>
      )}
      {canWrite && (
        <>
          <PauseButton name={name} path={path} isPaused={isPaused} invalidates={invalidates} />
          <LinkButton to="/monitors/$id/edit" params={{ id }} icon={Pencil}>
            Edit
          </LinkButton>
        </>
      )}
      <Menu
        label="More actions"
        items={[
          { label: 'View as YAML', icon: FileCode, onSelect: view },
          ...(canWrite
            ? ([
                {
                  label: 'Duplicate',
                  icon: Copy,
                  onSelect: () => clone.mutate({ method: 'POST', path: `${path}/clone`, body: {} }),
                },
                {
                  label: 'Schedule maintenance',
                  icon: CalendarClock,
                  onSelect: () => void navigate({ to: `/maintenance/new?monitor=${id}` }),
                },
                { label: 'Reset', icon: RotateCcw, onSelect: reset },
                '-',
                { label: 'Delete', icon: Trash2, danger: true, onSelect: remove },
              ] as const)
            : []),
        ]}
      />
    </>
  )
}

function Exported({ id }: { id: string }) {
  const { data, error } = useExport(id)
  return <Code label="monitoring.yaml" text={data ?? error?.message ?? 'Loading…'} />
}
