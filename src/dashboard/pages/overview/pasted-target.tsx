import { useId, useState, type FormEvent } from 'react'
import type { MonitorSuggestionView } from '../../../features/monitors/definition/shapes'
import type { Call } from '../../client'
import { ApiCall } from '../../parts/api-call'
import { Button } from '../../parts/button'
import { toggled } from '../../parts/choices'
import { Checkbox, Input } from '../../parts/input'
import { Problem } from '../../parts/problem'
import { toast } from '../../parts/toast'
import { useSend } from '../../queries'
import { CertificateError, ignoringCertificate, suggestionsFor, useSuggestions } from '../monitors/suggestions'

interface Created {
  results: { body: { id: string } }[]
}

/** Types that are selected by default. */
const defaultTypes = new Set(['http', 'tls', 'dns'])

/** A field to paste an address into. Suggests monitors for it and creates them. */
export function PastedTarget() {
  const id = useId()
  const [text, setText] = useState('')
  // Types whose default was changed.
  const [changed, setChanged] = useState<readonly string[]>([])
  const [ignoresCertificate, setIgnoresCertificate] = useState(false)
  const { suggestions, isAsking, isCurrent } = useSuggestions(text)
  const send = useSend<Created>({
    quiet: true,
    invalidates: ['/overview', '/monitors'],
  })
  const [isPreparing, setPreparing] = useState(false)
  const isSelected = (one: MonitorSuggestionView, at: number) =>
    (at === 0 || defaultTypes.has(one.type)) !== changed.includes(one.type)
  const callFor = (all: readonly MonitorSuggestionView[]): Call => {
    const selected = all.filter(isSelected)
    const bodies =
      selected.length === 0
        ? [{ target: text.trim() }]
        : selected.map((one, at) => ({
            type: one.type,
            target: one.target,
            name: at === 0 ? one.name : `${one.name}: ${one.title}`,
            ...(ignoresCertificate && ignoringCertificate(one)),
          }))
    return { method: 'POST', path: '/monitors/bulk', body: { operations: bodies.map(body => ({ op: 'create', body })) } }
  }
  const submit = async (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() === '' || isPreparing) return
    setPreparing(true)
    try {
      send.mutate(callFor(isCurrent ? suggestions : await suggestionsFor(text)))
    } catch (error) {
      toast.error(error)
    } finally {
      setPreparing(false)
    }
  }
  return (
    <form onSubmit={event => void submit(event)} noValidate>
      <label htmlFor={id} className="mb-1 block font-medium">
        Paste an address to monitor
      </label>
      <div className="flex gap-2">
        <Input
          id={id}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          placeholder="e.g. https://www.example.com/"
          value={text}
          onText={text => {
            setText(text)
            setIgnoresCertificate(false)
            send.reset()
          }}
          className="h-10 font-mono"
        />
        <Button kind="primary" type="submit" className="h-10" disabled={send.isPending || isPreparing || text.trim() === ''}>
          Start monitoring
        </Button>
      </div>
      <div className="mt-2 flex min-h-6 flex-wrap items-center gap-x-4 gap-y-1 text-[13px]">
        {suggestions.length === 0 && <span className="text-muted">A URL, host:port, hostname, or IP address.</span>}
        {suggestions.map((one, at) => (
          <Checkbox
            key={one.type}
            title={one.target}
            checked={isSelected(one, at)}
            onCheck={() => setChanged(toggled(changed, one.type, !changed.includes(one.type)))}
          >
            {one.title}
          </Checkbox>
        ))}
        <span role="status" className="grow text-muted">
          {isAsking && 'Detecting the protocol on this port…'}
        </span>
        {text.trim() !== '' && <ApiCall call={() => callFor(suggestions)} />}
      </div>
      <div className="mt-2 empty:hidden">
        <CertificateError suggestion={suggestions[0]} isIgnored={ignoresCertificate} onIgnore={setIgnoresCertificate} />
      </div>
      {send.error && <Problem error={send.error} />}
    </form>
  )
}
