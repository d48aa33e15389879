import { CirclePause, CirclePlay, Play, Tag as TagIcon, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import type { MonitorView } from '../../../features/monitors/shapes'
import { call, type Call } from '../../client'
import { Button } from '../../parts/button'
import { Confirm, Dialog } from '../../parts/dialog'
import { Form, SelectField, WordsField } from '../../parts/form'
import { toast } from '../../parts/toast'
import { useSend } from '../../queries'

interface BulkBarProps {
  /** Those that were chosen, as far as they are in the list. */
  chosen: readonly MonitorView[]
  onDone(): void
}

const mostOperations = 500
const mostChecked = 20
const stale = ['/monitors']

const bulk = (operations: readonly object[]): Call => ({ method: 'POST', path: '/monitors/bulk', body: { operations } })
const count = (n: number) => `${n.toLocaleString()} ${n === 1 ? 'monitor' : 'monitors'}`

/** What can be done with the monitors that were chosen, all of them or none. */
export function BulkBar({ chosen, onDone }: BulkBarProps) {
  const [asking, setAsking] = useState<'delete' | 'tag' | null>(null)
  const ids = chosen.map(one => one.id).slice(0, mostOperations)
  const each = (op: string) => bulk(ids.map(id => ({ op, id })))
  const pause = useSend({ done: `Paused ${count(ids.length)}`, undo: () => each('resume'), stale, onDone })
  const resume = useSend({ done: `Resumed ${count(ids.length)}`, undo: () => each('pause'), stale, onDone })
  const remove = useSend({ done: `Deleted ${count(ids.length)}`, stale, onDone })
  const checked = chosen.filter(one => one.type !== 'group' && one.status !== 'paused').slice(0, mostChecked)
  const [isChecking, setChecking] = useState(false)
  const check = async () => {
    setChecking(true)
    try {
      await Promise.all(checked.map(one => call({ method: 'POST', path: `/monitors/${one.id}/check` })))
      toast.done(`Checked ${count(checked.length)}`)
    } catch (error) {
      toast.failed(error)
    } finally {
      setChecking(false)
    }
  }
  return (
    <div
      role="toolbar"
      aria-label="Those that are chosen"
      className="sticky bottom-16 z-20 mt-3 flex flex-wrap items-center gap-2 rounded-lg border border-strong-line bg-raised p-2 shadow-lg md:bottom-4"
    >
      <span className="px-2 font-medium">{count(chosen.length)} chosen</span>
      {checked.length > 0 && (
        <Button small icon={<Play className="size-3.5" aria-hidden />} onClick={() => void check()} disabled={isChecking}>
          Check now{checked.length < chosen.length ? ` (${checked.length})` : ''}
        </Button>
      )}
      <Button small icon={<CirclePause className="size-3.5" aria-hidden />} onClick={() => pause.mutate(each('pause'))}>
        Pause
      </Button>
      <Button small icon={<CirclePlay className="size-3.5" aria-hidden />} onClick={() => resume.mutate(each('resume'))}>
        Resume
      </Button>
      <Button small icon={<TagIcon className="size-3.5" aria-hidden />} onClick={() => setAsking('tag')}>
        Tags
      </Button>
      <Button small kind="bad" icon={<Trash2 className="size-3.5" aria-hidden />} onClick={() => setAsking('delete')}>
        Delete
      </Button>
      <Button small kind="quiet" icon={<X className="size-3.5" aria-hidden />} onClick={onDone}>
        Choose none
      </Button>
      <Confirm
        open={asking === 'delete'}
        onClose={() => setAsking(null)}
        title={`Delete ${count(ids.length)}?`}
        action={`Delete ${count(ids.length)}`}
        {...(ids.length > 1 && { typed: String(ids.length) })}
        pending={remove.isPending}
        onConfirm={() => remove.mutate(each('delete'))}
      >
        Their results, uptime and history are lost. This cannot be undone.
      </Confirm>
      <Dialog open={asking === 'tag'} onClose={() => setAsking(null)} title={`Tags of ${count(ids.length)}`}>
        {asking === 'tag' && <TagForm chosen={chosen.slice(0, mostOperations)} onDone={onDone} />}
      </Dialog>
    </div>
  )
}

function TagForm({ chosen, onDone }: BulkBarProps) {
  const before = bulk(chosen.map(({ id, tags }) => ({ op: 'update', id, body: { tags } })))
  const send = useSend({ quiet: true, done: `Tags of ${count(chosen.length)} changed`, undo: () => before, stale, onDone })
  return (
    <Form
      initial={{ how: 'add', tags: [] }}
      call={({ how, tags }) =>
        bulk(
          chosen.map(one => ({
            op: 'update',
            id: one.id,
            body: { tags: changedTags(one.tags, how as string, tags as string[]) },
          })),
        )
      }
      send={send.mutateAsync}
      pending={send.isPending}
      action="Change tags"
    >
      <SelectField
        name="how"
        label="What to do"
        choices={[
          ['add', 'Add these tags'],
          ['remove', 'Remove these tags'],
          ['set', 'Have these tags and no others'],
        ]}
      />
      <WordsField name="tags" label="Tags" placeholder="prod, web" />
    </Form>
  )
}

function changedTags(before: readonly string[], how: string, tags: readonly string[]): string[] {
  if (how === 'set') return [...tags]
  if (how === 'remove') return before.filter(tag => !tags.includes(tag))
  return [...new Set([...before, ...tags])]
}
