import { useEffect, useState } from 'react'
import type { ZoneImported } from '../../../features/dns/record-shapes'
import type { ZoneView } from '../../../features/dns/zone-shapes'
import { call, Refused, type Call } from '../../client'
import { ApiCall } from '../../parts/api-calls'
import { Button } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { inputLook } from '../../parts/form'
import { Problem } from '../../parts/problem'
import { ImportPreview } from './import-preview'
import { useZoneChange } from './zone-change'

interface ImportDialogProps {
  zone: ZoneView
  /** What is there to begin with: what was pasted. Null is closed. */
  text: string | null
  onClose(): void
}

/** Takes a zone file, or lines of one, into a zone: shows first what that would change. */
export const ImportDialog = ({ zone, text, onClose }: ImportDialogProps) => (
  <Dialog
    open={text !== null}
    onClose={onClose}
    title="Import a zone file"
    description="Whole files, or some lines of one. Nothing is done before you have seen what would change."
    wide
  >
    {text !== null && <Import zone={zone} text={text} onClose={onClose} />}
  </Dialog>
)

const restMs = 400

function Import({ zone, text: pasted, onClose }: { zone: ZoneView; text: string; onClose(): void }) {
  const [text, setText] = useState(pasted)
  const [mode, setMode] = useState<'merge' | 'replace'>('merge')
  const [note, setNote] = useState('')
  const [would, setWould] = useState<ZoneImported | null>(null)
  const [refused, setRefused] = useState<Refused | null>(null)
  const { change, isPending } = useZoneChange(zone)
  const asked = (more: Call['query']): Call => ({
    method: 'POST',
    path: `/dns/zones/${zone.id}/import`,
    query: { mode, ...more },
    body: text,
    contentType: 'text/dns',
  })
  useEffect(() => {
    setWould(null)
    setRefused(null)
    if (text.trim() === '') return
    const stop = new AbortController()
    const timer = setTimeout(() => {
      call<ZoneImported>(asked({ dry_run: true }), stop.signal).then(setWould, (error: unknown) => {
        if (error instanceof Refused) setRefused(error)
      })
    }, restMs)
    return () => {
      clearTimeout(timer)
      stop.abort()
    }
  }, [text, mode])
  const blocked = would?.preview?.blocked ?? []
  const allowing = blocked.length > 0 ? { allow: blocked.map(one => one.code), note } : {}
  const isReady = would !== null && would.preview!.change_count > 0 && (blocked.length === 0 || note.trim() !== '')
  const take = async () => {
    const isWhole = mode === 'replace' || would!.preview!.change_count > would!.preview!.changes.length
    try {
      await change({ call: asked(allowing), done: 'Zone file taken in', rrsets: isWhole ? null : would!.preview!.changes })
      onClose()
    } catch (error) {
      if (!(error instanceof Refused)) throw error
      setRefused(error)
    }
  }
  return (
    <div className="flex flex-col gap-4">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <label className="inline-flex h-7 cursor-pointer items-center rounded-md border border-line bg-surface px-2 text-[13px] font-medium focus-within:outline-2 focus-within:outline-accent hover:bg-hover">
          Choose a file
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
          <legend className="sr-only">How</legend>
          {modes.map(([value, label]) => (
            <label key={value} className="flex items-center gap-1.5">
              <input type="radio" name="mode" checked={mode === value} onChange={() => setMode(value)} />
              {label}
            </label>
          ))}
        </fieldset>
      </div>
      <textarea
        aria-label="Zone file"
        autoFocus
        rows={pasted === '' ? 10 : 5}
        value={text}
        spellCheck={false}
        placeholder={'www 300 IN A 192.0.2.10\n@       IN MX 10 mail'}
        onChange={event => setText(event.target.value)}
        className={`py-1.5 font-mono text-[13px] whitespace-pre ${inputLook}`}
      />
      {refused && <Problem error={refused} />}
      {would && <ImportPreview would={would} />}
      {blocked.length > 0 && (
        <label className="block">
          <span className="mb-1 block font-medium">Why do it all the same</span>
          <input value={note} onChange={event => setNote(event.target.value)} maxLength={500} className={`h-9 ${inputLook}`} />
        </label>
      )}
      <div className="flex flex-wrap items-center gap-2">
        <div className="grow">
          <ApiCall call={() => asked(allowing)} />
        </div>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="main" disabled={!isReady || isPending} onClick={() => void take()}>
          {blocked.length > 0 ? 'Import all the same' : 'Import'}
        </Button>
      </div>
    </div>
  )
}

const modes = [
  ['merge', 'Names and types of the file become as they are there'],
  ['replace', 'The whole zone becomes the file'],
] as const
