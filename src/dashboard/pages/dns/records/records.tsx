import { FileText, Plus } from 'lucide-react'
import { useCallback, useEffect, useMemo, useState } from 'react'
import type { DnsRecordTypeView, DnsRecordView } from '../../../../features/dns/record-shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { useAddress } from '../../../parts/address'
import { Button } from '../../../parts/button'
import { Empty } from '../../../parts/empty'
import { Table } from '../../../parts/table'
import { useList, useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { ImportDialog } from '../import-dialog'
import { ZoneActions } from '../zone-actions'
import { ZoneFrame } from '../zone-frame'
import { BulkBar } from './bulk-bar'
import { draftOf, emptyDraft, type Draft } from './record-draft'
import { RecordEditor } from './record-editor'
import { RecordFilters } from './record-filters'
import { columnsOf } from './record-columns'
import { emptyAsked, queryOf } from './record-query'

/** What is being edited: a record, or one that is to be made. */
interface Editing {
  record: DnsRecordView | null
  before: Draft
  draft: Draft
  /** Grows with each that is added: the next one begins anew. */
  turn: number
}

/** The records of a zone, and how each stands at the providers of the zone. They are edited where they stand. */
export default function Records({ zone }: { zone: ZoneView }) {
  const { mayWrite } = usePerson()
  const [asked, set] = useAddress(emptyAsked)
  const list = useList<DnsRecordView>(`/dns/zones/${zone.id}/records`, { ...queryOf(asked), limit: 200, include: 'total' })
  const types = useOne<{ data: DnsRecordTypeView[] }>('/dns/record-types').data?.data ?? noTypes
  const [editing, setEditing] = useState<Editing | null>(null)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [pasted, setPasted] = useState<string | null>(null)
  usePastedLines(mayWrite && editing === null, setPasted)
  const close = useCallback(() => setEditing(null), [])
  const edit = (record: DnsRecordView) => {
    const before = draftOf(record, types)
    setEditing({ record, before, draft: before, turn: 0 })
  }
  const add = (draft = emptyDraft, turn = 0) => setEditing({ record: null, before: emptyDraft, draft, turn })
  const { rows } = list
  const repeated = useMemo(
    () => new Set(rows.flatMap((row, at) => (at > 0 && rows[at - 1]!.name === row.name ? [row.id] : []))),
    [rows],
  )
  const columns = columnsOf({ zone, repeated, onEdit: mayWrite ? edit : null, onTag: tag => set({ tag }) })
  const editor = editing && (
    <RecordEditor
      key={editing.turn}
      zone={zone}
      types={types}
      record={editing.record}
      before={editing.before}
      draft={editing.draft}
      onDraft={draft => setEditing({ ...editing, draft })}
      onClose={close}
      // One after another is typed in without going back to the button.
      onDone={() => (editing.record ? close() : add({ ...emptyDraft, type: editing.draft.type }, editing.turn + 1))}
    />
  )
  return (
    <ZoneFrame
      zone={zone}
      actions={
        <>
          {mayWrite && (
            <Button kind="main" data-new onClick={() => add()} icon={<Plus className="size-4" aria-hidden />}>
              Add record
            </Button>
          )}
          <ZoneActions zone={zone} onImport={() => setPasted('')} />
        </>
      }
    >
      <RecordFilters zone={zone} types={types} asked={asked} set={set} />
      {editor && editing.record === null && <div className="mb-3 overflow-clip rounded-lg border border-accent">{editor}</div>}
      <Table
        label="Records"
        rowHeight={48}
        columns={columns}
        list={list}
        idOf={one => one.id}
        sort={asked.sort}
        onSort={value => set({ sort: value })}
        {...(mayWrite && { chosen, onChosen: setChosen })}
        inPlace={editor && editing.record ? { id: editing.record.id, content: editor } : undefined}
        empty={
          <Empty icon={FileText} title="No such records">
            {asked.q || asked.type || asked.state || asked.tag
              ? 'Nothing in the zone is like what is asked for.'
              : 'Paste lines of a zone file here, or add records one by one.'}
          </Empty>
        }
      />
      <BulkBar zone={zone} rows={rows.filter(one => chosen.has(one.id))} onDone={() => setChosen(new Set())} />
      <ImportDialog zone={zone} text={pasted} onClose={() => setPasted(null)} />
    </ZoneFrame>
  )
}

const noTypes: readonly DnsRecordTypeView[] = []

/** Takes what is pasted anywhere on the page but into a field: a line of a zone file has a name, a type and a value at least. */
function usePastedLines(isOn: boolean, take: (text: string) => void): void {
  useEffect(() => {
    if (!isOn) return
    const pasted = (event: ClipboardEvent) => {
      if ((event.target as HTMLElement).closest('input, textarea, select, [role=dialog]')) return
      const text = event.clipboardData?.getData('text/plain') ?? ''
      if (!/^\S*\s+\S+\s+\S+/m.test(text)) return
      event.preventDefault()
      take(text)
    }
    document.addEventListener('paste', pasted)
    return () => document.removeEventListener('paste', pasted)
  }, [isOn, take])
}
