import { useEffect, useState } from 'react'
import type { ZoneImportResult } from '../../../features/dns/exchange/shapes'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import { call, ApiError, type Call } from '../../client'
import { ApiCall } from '../../parts/api-calls'
import { Button } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { Input, Textarea } from '../../parts/input'
import { Problem } from '../../parts/problem'
import { ImportPreview } from './import-preview'
import { useZoneChange } from './zone-change'

interface ImportDialogProps {
  zone: ZoneView
  /** Initial text, such as pasted lines. Null if the dialog is closed. */
  text: string | null
  onClose(): void
}

/** Imports a zone file, or lines of one, after showing a preview. */
export const ImportDialog = ({ zone, text, onClose }: ImportDialogProps) => (
  <Dialog
    open={text !== null}
    onClose={onClose}
    title="Import zone file"
    description="Paste a zone file or part of one. Review the changes before you import them."
    wide
  >
    {text !== null && <Import zone={zone} text={text} onClose={onClose} />}
  </Dialog>
)

const debounceMs = 400

function Import({ zone, text: pasted, onClose }: { zone: ZoneView; text: string; onClose(): void }) {
  const [text, setText] = useState(pasted)
  const [mode, setMode] = useState<'merge' | 'replace'>('merge')
  const [note, setNote] = useState('')
  const [dryRun, setDryRun] = useState<ZoneImportResult | null>(null)
  const [refused, setRefused] = useState<ApiError | null>(null)
  const { change, isPending } = useZoneChange(zone)
  const request = (more: Call['query']): Call => ({
    method: 'POST',
    path: `/dns/zones/${zone.id}/import`,
    query: { mode, ...more },
    body: text,
    contentType: 'text/dns',
  })
  useEffect(() => {
    setDryRun(null)
    setRefused(null)
    if (text.trim() === '') return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      call<ZoneImportResult>(request({ dry_run: true }), stop.signal).then(setDryRun, (error: unknown) => {
        if (error instanceof ApiError) setRefused(error)
      })
    }, debounceMs)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [text, mode])
  const blocked = dryRun?.preview?.blocked ?? []
  const overrides = blocked.length > 0 ? { allow: blocked.map(one => one.code), note } : {}
  const isReady = dryRun !== null && dryRun.preview!.change_count > 0 && (blocked.length === 0 || note.trim() !== '')
  const runImport = async () => {
    const isWhole = mode === 'replace' || dryRun!.preview!.change_count > dryRun!.preview!.changes.length
    try {
      await change({ call: request(overrides), done: 'Zone file imported', rrsets: isWhole ? null : dryRun!.preview!.changes })
      onClose()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setRefused(error)
    }
  }
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <label className="inline-flex h-7 cursor-pointer items-center rounded-md border border-line bg-surface px-2 text-[13px] font-medium focus-within:outline-2 focus-within:outline-accent hover:bg-hover">
          Choose file
          <input
            type="file"
            className="sr-only"
            onChange={event => {
              const file = event.target.files?.[0]
              if (file) void file.text().then(setText)
            }}
          />
        </label>
        <fieldset className="flex flex-wrap items-center gap-4">
          <legend className="sr-only">Import mode</legend>
          {modes.map(([value, label]) => (
            <label key={value} className="flex items-center gap-1.5">
              <input type="radio" name="mode" checked={mode === value} onChange={() => setMode(value)} />
              {label}
            </label>
          ))}
        </fieldset>
      </div>
      <Textarea
        aria-label="Zone file"
        autoFocus
        rows={pasted === '' ? 10 : 5}
        value={text}
        mono
        wrap="off"
        placeholder={'www 300 IN A 192.0.2.10\n@       IN MX 10 mail'}
        onText={setText}
      />
      {refused && <Problem error={refused} />}
      {dryRun && <ImportPreview dryRun={dryRun} />}
      {blocked.length > 0 && (
        <label className="block">
          <span className="mb-1 block font-medium">Reason for overriding</span>
          <Input value={note} onText={setNote} maxLength={500} />
        </label>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <div className="grow">
          <ApiCall call={() => request(overrides)} />
        </div>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" disabled={!isReady || isPending} onClick={() => void runImport()}>
          {blocked.length > 0 ? 'Override and import' : 'Import zone file'}
        </Button>
      </div>
    </div>
  )
}

const modes = [
  ['merge', 'Merge: replace only the record sets in the file'],
  ['replace', 'Replace the whole zone'],
] as const
