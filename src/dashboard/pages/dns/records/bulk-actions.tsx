import { useState } from 'react'
import type { DnsRecordView } from '../../../../features/dns/records/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import type { Call } from '../../../client'
import { Button } from '../../../parts/button'
import { CopyButton } from '../../../parts/code'
import { Dialog } from '../../../parts/dialog'
import { Form, TextField, ListField } from '../../../parts/form'
import { Menu } from '../../../parts/menu'
import { toast } from '../../../parts/toast'
import { useZoneChange } from '../zone-change'
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
  const [dialog, setDialog] = useState<'ttl' | 'tags' | null>(null)
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
    setDialog(null)
    onDone()
  }
  const now = (call: Call, done: string) => void run(call, done).catch(toast.error)
  return (
    <>
      <Button small kind="danger" disabled={isPending} onClick={() => now(bulk('delete'), `${count} deleted`)}>
        Delete
      </Button>
      <Button small onClick={() => setDialog('ttl')}>
        TTL
      </Button>
      <Button small onClick={() => setDialog('tags')}>
        Tags
      </Button>
      <CopyButton text={rows.map(lineOf).join('\n')} label="Copy as zone file lines" />
      <Menu
        label="More bulk actions"
        items={[
          { label: 'Lock', onSelect: () => now(bulk('update', { locked: true }), `${count} locked`) },
          { label: 'Unlock', onSelect: () => now(bulk('update', { locked: false }), `${count} unlocked`) },
        ]}
        className="inline-flex size-7 items-center justify-center rounded-md border border-line hover:bg-hover"
      />
      <Dialog
        open={dialog !== null}
        onClose={() => setDialog(null)}
        title={dialog === 'ttl' ? `TTL of ${count}` : `Tags of ${count}`}
        description="Applies to all records with the same name and type."
      >
        {dialog === 'ttl' && (
          <Form
            initial={{ ttl: '' }}
            call={values => bulk('update', { ttl: ttlOf(String(values.ttl)) })}
            send={call => run(call, `TTL of ${count} set`)}
            pending={isPending}
            onCancel={() => setDialog(null)}
            submitLabel="Set TTL"
          >
            <TextField name="ttl" label="TTL" hint="In seconds, or with a unit: 5m, 1h, 1d." autoFocus />
          </Form>
        )}
        {dialog === 'tags' && (
          <Form
            initial={{ tags: [] }}
            call={values => bulk('update', { tags: values.tags })}
            send={call => run(call, `Tags of ${count} set`)}
            pending={isPending}
            onCancel={() => setDialog(null)}
            submitLabel="Set tags"
          >
            <ListField name="tags" label="Tags" hint="Replaces the current tags. Leave empty to remove all tags." />
          </Form>
        )}
      </Dialog>
    </>
  )
}
