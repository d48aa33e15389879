import { CirclePause, CirclePlay, Tag as TagIcon, Trash2, type LucideIcon } from 'lucide-react'
import { useRef } from 'react'
import type { Call } from '../client'
import { useSend } from '../queries'
import { Button } from './button'
import { ListField, SelectField } from './form'
import { confirm, openForm } from './open-dialog'
import { pluralize } from './plural'

/** The selected rows of a list, and the bulk endpoint that changes them: all or none. */
export interface Selection<Row> {
  rows: readonly Row[]
  /** API path of the bulk endpoint. */
  path: string
  /** “monitor”, “monitors” */
  nouns: readonly [string, string]
  invalidates: readonly string[]
  onSuccess(): void
}

interface Operation {
  op: string
  body?: object
}

interface Props<Row> {
  of: Selection<Row>
}

const maxOperations = 500

function bulkOf<Row extends { id: string }>({ rows, path, nouns }: Selection<Row>) {
  const some = rows.slice(0, maxOperations)
  return {
    count: pluralize(some.length, ...nouns),
    rows: some,
    call: (operationOf: (row: Row) => Operation): Call => ({
      method: 'POST',
      path,
      body: { operations: some.map(row => ({ id: row.id, ...operationOf(row) })) },
    }),
  }
}

interface ButtonProps<Row> extends Props<Row> {
  label: string
  icon?: LucideIcon
  /** “paused” */
  done: string
  operation: Operation
  /** Restores a row. */
  undo(row: Row): Operation
}

/** A button that changes all selected rows, with undo. */
export function BulkButton<Row extends { id: string }>({ of, label, icon, done, operation, undo }: ButtonProps<Row>) {
  const { count, call } = bulkOf(of)
  // As the rows were when the button was clicked.
  const before = useRef<Call>(null)
  const send = useSend({
    toast: `${count} ${done}`,
    undo: () => before.current!,
    invalidates: of.invalidates,
    onSuccess: of.onSuccess,
  })
  const run = () => {
    before.current = call(undo)
    send.mutate(call(() => operation))
  }
  return (
    <Button small {...(icon && { icon })} onClick={run} disabled={send.isPending}>
      {label}
    </Button>
  )
}

/** Buttons that pause and resume all selected rows. Undo keeps those paused that already were. */
export function BulkPause<Row extends { id: string; status: string }>({ of }: Props<Row>) {
  const undo = ({ status }: Row) => ({ op: status === 'paused' ? 'pause' : 'resume' })
  return (
    <>
      <BulkButton of={of} label="Pause" icon={CirclePause} done="paused" operation={{ op: 'pause' }} undo={undo} />
      <BulkButton of={of} label="Resume" icon={CirclePlay} done="resumed" operation={{ op: 'resume' }} undo={undo} />
    </>
  )
}

/** A button that edits the tags of all selected rows. */
export const BulkTags = <Row extends { id: string; tags: readonly string[] }>({ of }: Props<Row>) => (
  <Button small icon={TagIcon} onClick={() => editTags(of)}>
    Edit tags
  </Button>
)

function editTags<Row extends { id: string; tags: readonly string[] }>(of: Selection<Row>): void {
  const { count, call } = bulkOf(of)
  const update = (tags: readonly string[]) => ({ op: 'update', body: { tags } })
  openForm({
    title: `Edit tags for ${count}`,
    submitLabel: 'Update tags',
    initial: { mode: 'add', tags: [] },
    call: ({ mode, tags }) => call(row => update(changedTags(row.tags, mode as string, tags as string[]))),
    send: {
      toast: `Tags of ${count} updated`,
      undo: () => call(row => update(row.tags)),
      invalidates: of.invalidates,
      onSuccess: of.onSuccess,
    },
    fields: (
      <>
        <SelectField name="mode" label="Action" choices={{ add: 'Add tags', remove: 'Remove tags', set: 'Replace tags' }} />
        <ListField name="tags" label="Tags" placeholder="e.g. prod, web" />
      </>
    ),
  })
}

function changedTags(before: readonly string[], mode: string, tags: readonly string[]): string[] {
  if (mode === 'set') return [...tags]
  if (mode === 'remove') return before.filter(tag => !tags.includes(tag))
  return [...new Set([...before, ...tags])]
}

interface DeleteProps<Row> extends Props<Row> {
  /** What will be lost. */
  text: string
  verb?: { label: string; op: string; done: string }
}

const deletion = { label: 'Delete', op: 'delete', done: 'deleted' }

/** A button that deletes all selected rows, after a confirmation. */
export function BulkDelete<Row extends { id: string }>({ of, text, verb: { label, op, done } = deletion }: DeleteProps<Row>) {
  const { count, call, rows } = bulkOf(of)
  const remove = () =>
    confirm({
      title: `${label} ${count}?`,
      text,
      action: `${label} ${count}`,
      typeToConfirm: rows.length > 1 ? String(rows.length) : undefined,
      call: call(() => ({ op })),
      send: { toast: `${count} ${done}`, invalidates: of.invalidates, onSuccess: of.onSuccess },
    })
  return (
    <Button small kind="danger" icon={Trash2} onClick={remove}>
      {label}
    </Button>
  )
}
