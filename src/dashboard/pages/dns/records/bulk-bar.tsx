import { useState } from 'react'
import type { DnsRecordView } from '../../../../features/dns/record-shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import type { Call } from '../../../client'
import { Button } from '../../../parts/button'
import { CopyButton } from '../../../parts/code'
import { Dialog } from '../../../parts/dialog'
import { Form, TextField, WordsField } from '../../../parts/form'
import { Menu } from '../../../parts/menu'
import { toast } from '../../../parts/toast'
import { useZoneChange } from '../zone-change'
import { lineOf } from './record-columns'
import { ttlOf } from './record-draft'

interface BulkBarProps {
  zone: ZoneView
  /** Those that are chosen. */
  rows: readonly DnsRecordView[]
  onDone(): void
}

/** What can be done with all records that are chosen, at the lower edge of the page. */
export function BulkBar({ zone, rows: shown, onDone }: BulkBarProps) {
  const { change, isPending } = useZoneChange(zone)
  const [asking, setAsking] = useState<'ttl' | 'tags' | null>(null)
  // What is at a provider alone is not changed here.
  const rows = shown.filter(one => one.managed)
  if (rows.length === 0) return null
  const some = rows.length === 1 ? '1 record' : `${rows.length.toLocaleString()} records`
  const bulk = (op: 'update' | 'delete', body?: Record<string, unknown>): Call => ({
    method: 'POST',
    path: '/dns/records/bulk',
    body: { operations: rows.map(one => ({ op, id: one.id, ...(body && { body }) })) },
  })
  const run = async (call: Call, done: string) => {
    await change({ call, done, rrsets: rows })
    setAsking(null)
    onDone()
  }
  const now = (call: Call, done: string) => void run(call, done).catch(toast.failed)
  return (
    <div
      role="toolbar"
      aria-label="With what is chosen"
      className="sticky bottom-16 z-20 mx-auto mt-3 flex w-fit max-w-full flex-wrap items-center gap-2 rounded-lg border border-strong-line bg-raised p-2 shadow-lg md:bottom-4"
    >
      <span className="px-1 font-medium" role="status">
        {some}
      </span>
      <Button small kind="bad" disabled={isPending} onClick={() => now(bulk('delete'), `${some} deleted`)}>
        Delete
      </Button>
      <Button small onClick={() => setAsking('ttl')}>
        TTL
      </Button>
      <Button small onClick={() => setAsking('tags')}>
        Tags
      </Button>
      <CopyButton text={rows.map(lineOf).join('\n')} label="Copy as lines of a zone file" />
      <Menu
        label="More with what is chosen"
        items={[
          { label: 'Lock', onSelect: () => now(bulk('update', { locked: true }), `${some} locked`) },
          { label: 'Unlock', onSelect: () => now(bulk('update', { locked: false }), `${some} unlocked`) },
          { label: 'Choose none', onSelect: onDone },
        ]}
        className="inline-flex size-7 items-center justify-center rounded-md border border-line hover:bg-hover"
      />
      <Dialog
        open={asking !== null}
        onClose={() => setAsking(null)}
        title={asking === 'ttl' ? `TTL of ${some}` : `Tags of ${some}`}
        description="All records of a name and type have it alike."
      >
        {asking === 'ttl' && (
          <Form
            initial={{ ttl: '' }}
            call={values => bulk('update', { ttl: ttlOf(String(values.ttl)) })}
            send={call => run(call, `TTL of ${some} set`)}
            pending={isPending}
            onCancel={() => setAsking(null)}
            action="Set TTL"
          >
            <TextField name="ttl" label="TTL" hint="Seconds, or such as 5m, 1h, 1d." autoFocus />
          </Form>
        )}
        {asking === 'tags' && (
          <Form
            initial={{ tags: [] }}
            call={values => bulk('update', { tags: values.tags })}
            send={call => run(call, `Tags of ${some} set`)}
            pending={isPending}
            onCancel={() => setAsking(null)}
            action="Set tags"
          >
            <WordsField name="tags" label="Tags" hint="In place of those they have. None takes them away." />
          </Form>
        )}
      </Dialog>
    </div>
  )
}
