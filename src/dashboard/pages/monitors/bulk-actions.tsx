import { CirclePause, CirclePlay, Play, Tag as TagIcon, Trash2 } from 'lucide-react'
import { useRef, useState } from 'react'
import type { MonitorView } from '../../../features/monitors/shapes'
import { call, type Call } from '../../client'
import { Button } from '../../parts/button'
import { SelectField, ListField } from '../../parts/form'
import { confirm, openForm } from '../../parts/open-dialog'
import { toast } from '../../parts/toast'
import { useSend } from '../../queries'

interface BulkActionsProps {
  /** The selected monitors that are in the list. */
  selected: readonly MonitorView[]
  onSuccess(): void
}

const maxOperations = 500
const maxChecked = 20
const invalidates = ['/monitors']

const bulk = (operations: readonly object[]): Call => ({ method: 'POST', path: '/monitors/bulk', body: { operations } })
const count = (n: number) => `${n.toLocaleString()} ${n === 1 ? 'monitor' : 'monitors'}`

/** Bulk actions for the selected monitors, applied to all or none. */
export function BulkActions({ selected, onSuccess }: BulkActionsProps) {
  const ids = selected.map(one => one.id).slice(0, maxOperations)
  const each = (op: string) => bulk(ids.map(id => ({ op, id })))
  // Undo restores the status that each monitor had when the button was clicked: some may already have been paused.
  const before = useRef<readonly object[]>([])
  const undo = () => bulk(before.current)
  const pause = useSend({ toast: `${count(ids.length)} paused`, undo, invalidates, onSuccess })
  const resume = useSend({ toast: `${count(ids.length)} resumed`, undo, invalidates, onSuccess })
  const run = (send: typeof pause, op: string) => {
    before.current = selected
      .slice(0, maxOperations)
      .map(({ id, status }) => ({ op: status === 'paused' ? 'pause' : 'resume', id }))
    send.mutate(each(op))
  }
  const checked = selected.filter(one => one.type !== 'group' && one.status !== 'paused').slice(0, maxChecked)
  const remove = () =>
    confirm({
      title: `Delete ${count(ids.length)}?`,
      text: 'This deletes their check results, uptime, and history. Members of deleted groups are kept. This can’t be undone.',
      action: `Delete ${count(ids.length)}`,
      typeToConfirm: ids.length > 1 ? String(ids.length) : undefined,
      call: each('delete'),
      send: { toast: `${count(ids.length)} deleted`, invalidates, onSuccess },
    })
  const [isChecking, setChecking] = useState(false)
  const check = async () => {
    setChecking(true)
    try {
      await Promise.all(checked.map(one => call({ method: 'POST', path: `/monitors/${one.id}/check` })))
      toast.success(`${count(checked.length)} checked`)
    } catch (error) {
      toast.error(error)
    } finally {
      setChecking(false)
    }
  }
  return (
    <>
      {checked.length > 0 && (
        <Button small icon={Play} onClick={() => void check()} disabled={isChecking}>
          Check now{checked.length < selected.length ? ` (${checked.length})` : ''}
        </Button>
      )}
      <Button small icon={CirclePause} onClick={() => run(pause, 'pause')}>
        Pause
      </Button>
      <Button small icon={CirclePlay} onClick={() => run(resume, 'resume')}>
        Resume
      </Button>
      <Button small icon={TagIcon} onClick={() => editTags(selected.slice(0, maxOperations), onSuccess)}>
        Edit tags
      </Button>
      <Button small kind="danger" icon={Trash2} onClick={remove}>
        Delete
      </Button>
    </>
  )
}

const editTags = (selected: readonly MonitorView[], onSuccess: () => void) =>
  openForm({
    title: `Edit tags for ${count(selected.length)}`,
    submitLabel: 'Update tags',
    initial: { mode: 'add', tags: [] },
    call: ({ mode, tags }) =>
      bulk(
        selected.map(one => ({
          op: 'update',
          id: one.id,
          body: { tags: changedTags(one.tags, mode as string, tags as string[]) },
        })),
      ),
    send: {
      toast: `Tags of ${count(selected.length)} updated`,
      undo: () => bulk(selected.map(({ id, tags }) => ({ op: 'update', id, body: { tags } }))),
      invalidates,
      onSuccess,
    },
    fields: (
      <>
        <SelectField name="mode" label="Action" choices={{ add: 'Add tags', remove: 'Remove tags', set: 'Replace tags' }} />
        <ListField name="tags" label="Tags" placeholder="prod, web" />
      </>
    ),
  })

function changedTags(before: readonly string[], mode: string, tags: readonly string[]): string[] {
  if (mode === 'set') return [...tags]
  if (mode === 'remove') return before.filter(tag => !tags.includes(tag))
  return [...new Set([...before, ...tags])]
}
