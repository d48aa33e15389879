import { useNavigate } from '@tanstack/react-router'
import { CalendarClock, CirclePause, CirclePlay, Copy, FileCode, Pencil, Play, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { MonitorView } from '../../../features/monitors/shapes'
import { Button, LinkButton } from '../../parts/button'
import { Code } from '../../parts/code'
import { Confirm, Dialog, DeleteDialog } from '../../parts/dialog'
import { Menu } from '../../parts/menu'
import { useSend } from '../../queries'
import { usePerson } from '../../session'
import { useExport } from './export'

interface MonitorActionsProps {
  monitor: MonitorView
  onCheck(): void
}

const invalidates = ['/monitors', '/incidents']

/** The actions for a monitor that the user may perform. */
export function MonitorActions({ monitor, onCheck }: MonitorActionsProps) {
  const { canWrite } = usePerson()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'delete' | 'reset' | 'yaml' | null>(null)
  const path = `/monitors/${monitor.id}`
  const verb = (name: string) => ({ method: 'POST', path: `${path}/${name}` }) as const
  const close = () => setOpen(null)
  const pause = useSend({ toast: `${monitor.name} paused`, undo: () => verb('resume'), invalidates })
  const resume = useSend({ toast: `${monitor.name} resumed`, undo: () => verb('pause'), invalidates })
  const clone = useSend<MonitorView>({
    toast: copy => `${copy.name} created`,
    invalidates,
    onSuccess: copy => void navigate({ to: `/monitors/${copy.id}/edit` }),
  })
  const isPaused = monitor.status === 'paused'
  return (
    <>
      {canWrite && monitor.type !== 'group' && (
        <Button kind="primary" icon={Play} disabled={isPaused} onClick={onCheck}>
          Check now
        </Button>
      )}
      {canWrite && (
        <>
          <Button
            icon={isPaused ? CirclePlay : CirclePause}
            disabled={pause.isPending || resume.isPending}
            onClick={() => (isPaused ? resume.mutate(verb('resume')) : pause.mutate(verb('pause')))}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
          <LinkButton to="/monitors/$id/edit" params={{ id: monitor.id }} icon={Pencil}>
            Edit
          </LinkButton>
        </>
      )}
      <Menu
        label="More actions"
        items={[
          { label: 'View as YAML', icon: FileCode, onSelect: () => setOpen('yaml') },
          ...(canWrite
            ? ([
                { label: 'Duplicate', icon: Copy, onSelect: () => clone.mutate({ ...verb('clone'), body: {} }) },
                {
                  label: 'Schedule maintenance',
                  icon: CalendarClock,
                  onSelect: () => void navigate({ to: `/maintenance/new?monitor=${monitor.id}` }),
                },
                { label: 'Reset', icon: RotateCcw, onSelect: () => setOpen('reset') },
                '-',
                { label: 'Delete', icon: Trash2, danger: true, onSelect: () => setOpen('delete') },
              ] as const)
            : []),
        ]}
      />
      <Dialog
        open={open === 'yaml'}
        onClose={close}
        title={`${monitor.name} as YAML`}
        description="You can import this document. Secrets are replaced with placeholders and keep their current values."
        wide
      >
        {open === 'yaml' && <Exported id={monitor.id} />}
      </Dialog>
      <Confirm
        open={open === 'reset'}
        onClose={close}
        title={`Reset ${monitor.name}?`}
        confirmLabel="Reset monitor"
        call={() => verb('reset')}
        send={{ toast: 'Monitor reset', invalidates, onSuccess: close }}
      >
        This clears the current status, failure counts, flapping, and suppressed alerts, and resolves the incident. The history is
        kept.
      </Confirm>
      <DeleteDialog
        open={open === 'delete'}
        onClose={close}
        noun="monitor"
        name={monitor.name}
        path={path}
        invalidates={invalidates}
        parent="/monitors"
        typed
      >
        This deletes its results, uptime, and history, and removes it from groups and dependencies. This can’t be undone.
      </DeleteDialog>
    </>
  )
}

function Exported({ id }: { id: string }) {
  const { data, error } = useExport(id)
  return <Code label="monitoring.yaml" text={data ?? error?.message ?? 'Loading…'} />
}
