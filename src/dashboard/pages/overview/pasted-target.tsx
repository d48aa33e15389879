import { useId, useState, type FormEvent } from 'react'
import type { MonitorSuggestionView } from '../../../features/monitors/shapes'
import type { Call } from '../../client'
import { ApiCall } from '../../parts/api-call'
import { Button } from '../../parts/button'
import { toggled } from '../../parts/choices'
import { Checkbox, Input } from '../../parts/input'
import { Problem } from '../../parts/problem'
import { useSend } from '../../queries'
import { useSuggestions } from '../monitors/suggestions'

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
  const suggestions = useSuggestions(text)
  const send = useSend<Created>({
    quiet: true,
    invalidates: ['/overview', '/monitors'],
    toast: ({ results }) => (results.length === 1 ? 'Monitor created' : `${results.length} monitors created`),
  })
  const isSelected = (one: MonitorSuggestionView, at: number) =>
    (at === 0 || defaultTypes.has(one.type)) !== changed.includes(one.type)
  const callNow = (): Call => {
    const selected = suggestions.filter(isSelected)
    const bodies =
      selected.length === 0
        ? [{ target: text.trim() }]
        : selected.map(({ type, target, name, title }, at) => ({ type, target, name: at === 0 ? name : `${name} (${title})` }))
    return { method: 'POST', path: '/monitors/bulk', body: { operations: bodies.map(body => ({ op: 'create', body })) } }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') send.mutate(callNow())
  }
  return (
    <form onSubmit={submit} noValidate>
      <label htmlFor={id} className="mb-1 block font-medium">
        Paste an address to monitor
      </label>
      <div className="flex gap-2">
        <Input
          id={id}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          placeholder="https://www.example.com/"
          value={text}
          onText={text => {
            setText(text)
            send.reset()
          }}
          className="h-10 font-mono"
        />
        <Button kind="primary" type="submit" className="h-10" disabled={send.isPending || text.trim() === ''}>
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
        <span className="grow" />
        {text.trim() !== '' && <ApiCall call={callNow} />}
      </div>
      {send.error && <Problem error={send.error} />}
    </form>
  )
}
