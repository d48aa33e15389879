import { useNavigate } from '@tanstack/react-router'
import { CalendarClock, CirclePause, CirclePlay, Copy, FileCode, Pencil, Play, RotateCcw, Trash2 } from 'lucide-react'
import { useState } from 'react'
import type { MonitorView } from '../../../features/monitors/shapes'
import { Button, LinkButton } from '../../parts/button'
import { Code } from '../../parts/code'
import { Confirm, Dialog } from '../../parts/dialog'
import { Menu } from '../../parts/menu'
import { useSend } from '../../queries'
import { usePerson } from '../../session'
import { useExport } from './export'

interface MonitorActionsProps {
  monitor: MonitorView
  onCheck(): void
}

const icon = 'size-4'
const stale = ['/monitors', '/incidents']

/** What can be done with a monitor, as far as the person may. */
export function MonitorActions({ monitor, onCheck }: MonitorActionsProps) {
  const { mayWrite } = usePerson()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'delete' | 'reset' | 'yaml' | null>(null)
  const path = `/monitors/${monitor.id}`
  const verb = (name: string) => ({ method: 'POST', path: `${path}/${name}` }) as const
  const close = () => setOpen(null)
  const pause = useSend({ done: `Paused ${monitor.name}`, undo: () => verb('resume'), stale })
  const resume = useSend({ done: `Resumed ${monitor.name}`, undo: () => verb('pause'), stale })
  const reset = useSend({ done: 'It stands as if it were new', stale, onDone: close })
  const remove = useSend({ done: `Deleted ${monitor.name}`, stale, onDone: () => void navigate({ to: '/monitors' }) })
  const clone = useSend<MonitorView>({
    done: copy => `Made ${copy.name}`,
    stale,
    onDone: copy => void navigate({ to: `/monitors/${copy.id}/edit` }),
  })
  const isPaused = monitor.status === 'paused'
  return (
    <>
      {mayWrite && monitor.type !== 'group' && (
        <Button kind="main" icon={<Play className={icon} aria-hidden />} disabled={isPaused} onClick={onCheck}>
          Check now
        </Button>
      )}
      {mayWrite && (
        <>
          <Button
            icon={isPaused ? <CirclePlay className={icon} aria-hidden /> : <CirclePause className={icon} aria-hidden />}
            disabled={pause.isPending || resume.isPending}
            onClick={() => (isPaused ? resume.mutate(verb('resume')) : pause.mutate(verb('pause')))}
          >
            {isPaused ? 'Resume' : 'Pause'}
          </Button>
          <LinkButton to="/monitors/$id/edit" params={{ id: monitor.id }} icon={<Pencil className={icon} aria-hidden />}>
            Edit
          </LinkButton>
        </>
      )}
      <Menu
        label="More to do"
        items={[
          { label: 'As YAML', icon: <FileCode className={icon} aria-hidden />, onSelect: () => setOpen('yaml') },
          ...(mayWrite
            ? ([
                {
                  label: 'Copy it',
                  icon: <Copy className={icon} aria-hidden />,
                  onSelect: () => clone.mutate({ ...verb('clone'), body: {} }),
                },
                {
                  label: 'Plan maintenance',
                  icon: <CalendarClock className={icon} aria-hidden />,
                  onSelect: () => void navigate({ to: `/maintenance/new?monitor=${monitor.id}` }),
                },
                { label: 'Begin anew', icon: <RotateCcw className={icon} aria-hidden />, onSelect: () => setOpen('reset') },
                '-',
                { label: 'Delete', icon: <Trash2 className={icon} aria-hidden />, bad: true, onSelect: () => setOpen('delete') },
              ] as const)
            : []),
        ]}
      />
      <Dialog
        open={open === 'yaml'}
        onClose={close}
        title={`${monitor.name} as YAML`}
        description="The import takes it as it stands. Secrets are left out: they stay what they are."
        wide
      >
        {open === 'yaml' && <Exported id={monitor.id} />}
      </Dialog>
      <Confirm
        open={open === 'reset'}
        onClose={close}
        title={`Begin ${monitor.name} anew?`}
        action="Begin anew"
        pending={reset.isPending}
        onConfirm={() => reset.mutate(verb('reset'))}
      >
        It stands as if it were new: streaks, flapping and alerts that are held back are forgotten, and its incident is resolved.
        Its history stays.
      </Confirm>
      <Confirm
        open={open === 'delete'}
        onClose={close}
        title={`Delete ${monitor.name}?`}
        action="Delete monitor"
        typed={monitor.name}
        pending={remove.isPending}
        onConfirm={() => remove.mutate({ method: 'DELETE', path })}
      >
        Its results, uptime and history are lost. Groups and monitors that name it name it no more. This cannot be undone.
      </Confirm>
    </>
  )
}

function Exported({ id }: { id: string }) {
  const { data, error } = useExport(id)
  return <Code label="monitoring.yaml" text={data ?? error?.message ?? 'Reading…'} />
}
