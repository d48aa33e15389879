import { FileText, Plus } from 'lucide-react'
import { useCallback, useEffect, useState } from 'react'
import type { DnsRecordTypeView, DnsRecordView } from '../../../../features/dns/records/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { useUrlState } from '../../../parts/url-state'
import { Button } from '../../../parts/button'
import { List } from '../../../parts/list'
import { useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { importZone } from '../import-dialog'
import { ZoneActions } from '../zone-actions'
import { ZoneFrame } from '../zone-frame'
import { BulkActions } from './bulk-actions'
import { draftOf, emptyDraft, type Draft } from './record-draft'
import { RecordEditor } from './record-editor'
import { columnsOf } from './record-columns'
import { queryOf, recordFilters, recordSearch } from './record-query'

/** The record being edited, or a new one. */
interface Editing {
  record: DnsRecordView | null
  before: Draft
  draft: Draft
  /** Increases with each added record, to reset the editor. */
  key: number
}

/** The records of a zone with their sync states. Records are edited inline. */
export default function Records({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const [{ add: toAdd }, set] = useUrlState({ tag: '', add: '' })
  const types = useOne<{ data: DnsRecordTypeView[] }>('/dns/record-types').data?.data ?? noTypes
  const filters = recordFilters(types)
  const [editing, setEditing] = useState<Editing | null>(null)
  const paste = useCallback((text: string) => importZone(zone, text), [zone])
  usePastedLines(canWrite && editing === null, paste)
  const close = useCallback(() => setEditing(null), [])
  const edit = (record: DnsRecordView) => {
    const before = draftOf(record, types)
    setEditing({ record, before, draft: before, key: 0 })
  }
  const add = (draft = emptyDraft, key = 0) => setEditing({ record: null, before: emptyDraft, draft, key })
  useEffect(() => {
    if (toAdd === '') return
    set({ add: '' })
    if (canWrite) add()
  }, [toAdd])
  const columns = (rows: readonly DnsRecordView[]) =>
    columnsOf({
      zone,
      repeated: new Set(rows.flatMap((row, at) => (at > 0 && rows[at - 1]!.name === row.name ? [row.id] : []))),
      onEdit: canWrite ? edit : null,
      onTag: tag => set({ tag }),
    })
  const editor = editing && (
    <RecordEditor
      key={editing.key}
      zone={zone}
      types={types}
      record={editing.record}
      before={editing.before}
      draft={editing.draft}
      onDraft={draft => setEditing({ ...editing, draft })}
      onClose={close}
      // After adding a record, stay open for the next one.
      onDone={() => (editing.record ? close() : add({ ...emptyDraft, type: editing.draft.type }, editing.key + 1))}
    />
  )
  return (
    <ZoneFrame
      zone={zone}
      actions={
        <>
          {canWrite && (
            <Button kind="primary" data-new onClick={() => add()} icon={Plus}>
              Add record
            </Button>
          )}
          <ZoneActions zone={zone} />
        </>
      }
    >
      {editor && editing.record === null && <div className="mb-3 overflow-clip rounded-lg border border-accent">{editor}</div>}
      <List
        label="Records"
        path={`/dns/zones/${zone.id}/records`}
        columns={columns}
        sort="name"
        search={recordSearch}
        counted
        filters={[filters.type, zone.sync.targets.length > 0 && filters.state, filters.locked, filters.tag]}
        params={{ state: '' }}
        query={queryOf}
        bulk={canWrite ? (rows, clear) => <BulkActions zone={zone} rows={rows} onDone={clear} /> : undefined}
        inlineEditor={editor && editing.record ? { id: editing.record.id, content: editor } : undefined}
        empty={{ icon: FileText, title: 'No records', text: canWrite && 'Add a record, or paste lines from a zone file here.' }}
      />
    </ZoneFrame>
  )
}

const noTypes: readonly DnsRecordTypeView[] = []

/** Handles zone file lines pasted anywhere outside an input. A line needs at least a name, a type and a value. */
function usePastedLines(enabled: boolean, onPaste: (text: string) => void): void {
  useEffect(() => {
    if (!enabled) return
    const pasted = (event: ClipboardEvent) => {
      if ((event.target as HTMLElement).closest('input, textarea, select, [role=dialog]')) return
      const text = event.clipboardData?.getData('text/plain') ?? ''
      if (!/^\S*\s+\S+\s+\S+/m.test(text)) return
      event.preventDefault()
      onPaste(text)
    }
    document.addEventListener('paste', pasted)
    return () => document.removeEventListener('paste', pasted)
  }, [enabled, onPaste])
}
