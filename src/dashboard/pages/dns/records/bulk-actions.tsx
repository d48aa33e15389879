import type { DnsRecordView } from '../../../../features/dns/records/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import type { Call } from '../../../client'
import { Button } from '../../../parts/button'
import { CopyButton } from '../../../parts/code'
import { TextField, ListField } from '../../../parts/form'
import { Menu } from '../../../parts/menu'
import { openForm } from '../../../parts/open-dialog'
import { toast } from '../../../parts/toast'
import { useZoneChange } from '../zone-change'
import { editRrset } from './edit-rrset'
import { lineOf } from './record-columns'
import { ttlOf } from './record-draft'

interface BulkActionsProps {
  zone: ZoneView
  /** Selected records. */
  rows: readonly DnsRecordView[]
  onDone(): void
}

/** Bulk actions for the selected records. */
export function BulkActions({ zone, rows: selected, onDone }: BulkActionsProps) {
  const { change, isPending } = useZoneChange(zone)
  // Unmanaged records can’t be changed here.
  const rows = selected.filter(one => one.managed)
  if (rows.length === 0) return null
  const count = rows.length === 1 ? '1 record' : `${rows.length.toLocaleString()} records`
  const bulk = (op: 'update' | 'delete', body?: Record<string, unknown>): Call => ({
    method: 'POST',
    path: '/dns/records/bulk',
    body: { operations: rows.map(one => ({ op, id: one.id, ...(body && { body }) })) },
  })
  const run = async (call: Call, done: string) => {
    await change({ call, done, rrsets: rows })
    onDone()
  }
  // Their sources set the values, and delete the records.
  const areDriven = rows.some(one => one.dynamic_ip_id !== null)
  const isOneRrset = rows.every(one => one.name === rows[0]!.name && one.type === rows[0]!.type)
  const description = 'Applies to all records with the same name and type.'
  const editTtl = () =>
    openForm({
      title: `Set TTL for ${count}`,
      description,
      submitLabel: 'Set TTL',
      initial: { ttl: '' },
      call: values => bulk('update', { ttl: ttlOf(String(values.ttl)) }),
      send: call => run(call, `TTL of ${count} updated`),
      fields: <TextField name="ttl" label="TTL" hint="In seconds, or with a unit: 5m, 1h, 1d." autoFocus />,
    })
  const editTags = () =>
    openForm({
      title: `Set tags for ${count}`,
      description,
      submitLabel: 'Set tags',
      initial: { tags: [] },
      call: values => bulk('update', { tags: values.tags }),
      send: call => run(call, `Tags of ${count} updated`),
      fields: <ListField name="tags" label="Tags" hint="Replaces the current tags. Leave empty to remove all tags." />,
    })
  const now = (call: Call, done: string) => void run(call, done).catch(toast.error)
  return (
    <>
      {!areDriven && (
        <Button small kind="danger" disabled={isPending} onClick={() => now(bulk('delete'), `${count} deleted`)}>
          Delete
        </Button>
      )}
      <Button small onClick={editTtl}>
        Set TTL
      </Button>
      <Button small onClick={editTags}>
        Set tags
      </Button>
      <CopyButton text={rows.map(lineOf).join('\n')} label="Copy as zone file lines" />
      <Menu
        label="More bulk actions"
        items={[
          isOneRrset && !areDriven
            ? {
                label: 'Edit as text',
                onSelect: () => void editRrset(rows[0]!, run).catch(toast.error),
              }
            : null,
          { label: 'Lock', onSelect: () => now(bulk('update', { locked: true }), `${count} locked`) },
          { label: 'Unlock', onSelect: () => now(bulk('update', { locked: false }), `${count} unlocked`) },
        ]}
        className="inline-flex size-7 items-center justify-center rounded-md border border-line hover:bg-hover"
      />
    </>
  )
}
