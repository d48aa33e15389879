import { useState } from 'react'
import type { ZoneImportResult } from '../../../features/dns/exchange/shapes'
import type { ZoneView } from '../../../features/dns/zones/shapes'
import { ApiError, type Call } from '../../client'
import { ApiCall } from '../../parts/api-call'
import { Button } from '../../parts/button'
import { FileButton } from '../../parts/files'
import { Input, Textarea } from '../../parts/input'
import { closeDialog, openDialog } from '../../parts/open-dialog'
import { Problem } from '../../parts/problem'
import { useDryRun } from '../../queries'
import { ImportPreview } from './import-preview'
import { useZoneChange } from './zone-change'

/** Imports a zone file, or lines of one, after showing a preview. @param text initial text, such as pasted lines */
export const importZone = (zone: ZoneView, text = ''): void =>
  openDialog({
    title: 'Import zone file',
    description: 'Paste a zone file or part of one. Review the changes before you import them.',
    wide: true,
    content: <Import zone={zone} text={text} />,
  })

function Import({ zone, text: pasted }: { zone: ZoneView; text: string }) {
  const [text, setText] = useState(pasted)
  const [mode, setMode] = useState<'merge' | 'replace'>('merge')
  const [note, setNote] = useState('')
  const [failed, setFailed] = useState<{ error: ApiError; input: string } | null>(null)
  const { change, isPending } = useZoneChange(zone)
  const request = (more: Call['query']): Call => ({
    method: 'POST',
    path: `/dns/zones/${zone.id}/import`,
    query: { mode, ...more },
    body: text,
    contentType: 'text/dns',
  })
  const checked = useDryRun<ZoneImportResult>(text.trim() === '' ? null : request({ dry_run: true }))
  // An error is hidden once the input has changed.
  const input = `${mode} ${text}`
  const dryRun = checked.isCurrent ? checked.result : null
  const refused = failed?.input === input ? failed.error : checked.error
  const blocked = dryRun?.preview?.blocked ?? []
  const overrides = blocked.length > 0 ? { allow: blocked.map(one => one.code), note } : {}
  const isReady = dryRun !== null && dryRun.preview!.change_count > 0 && (blocked.length === 0 || note.trim() !== '')
  const runImport = async () => {
    const isWhole = mode === 'replace' || dryRun!.preview!.change_count > dryRun!.preview!.changes.length
    try {
      await change({ call: request(overrides), done: 'Zone file imported', rrsets: isWhole ? null : dryRun!.preview!.changes })
      closeDialog()
    } catch (error) {
      if (!(error instanceof ApiError)) throw error
      setFailed({ error, input })
    }
  }
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <FileButton small onText={setText} />
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
          <span className="mb-1 block font-medium">Reason for the override</span>
          <Input value={note} onText={setNote} maxLength={500} />
        </label>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <div className="grow">
          <ApiCall call={() => request(overrides)} />
        </div>
        <Button onClick={closeDialog}>Cancel</Button>
        <Button kind="primary" disabled={!isReady || isPending} onClick={() => void runImport()}>
          {blocked.length > 0 ? 'Override and import' : 'Import zone file'}
        </Button>
      </div>
    </div>
  )
}

const modes = [
  ['merge', 'Merge: replace only record sets that the file also has'],
  ['replace', 'Replace the whole zone: delete records that the file doesn’t have'],
] as const
