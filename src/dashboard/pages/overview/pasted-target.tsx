import { useId, useState, type FormEvent } from 'react'
import type { MonitorProposalView } from '../../../features/monitors/shapes'
import type { Call } from '../../client'
import { ApiCall } from '../../parts/api-calls'
import { Button } from '../../parts/button'
import { inputLook } from '../../parts/form'
import { Problem } from '../../parts/problem'
import { useSend } from '../../queries'
import { useProposals } from '../monitors/proposals'

interface Made {
  results: { body: { id: string } }[]
}

/** What is watched of an address at once, unless its box is taken away: what answers it, its certificate, its name. */
const atOnce = new Set(['http', 'tls', 'dns'])

/** A field to paste an address into: what can be watched of it is found, and made with one key. */
export function PastedTarget() {
  const id = useId()
  const [text, setText] = useState('')
  const [unlike, setUnlike] = useState<ReadonlySet<string>>(new Set())
  const proposals = useProposals(text)
  const send = useSend<Made>({
    quiet: true,
    stale: ['/overview', '/monitors'],
    done: made => (made.results.length === 1 ? 'Monitor made' : `${made.results.length} monitors made`),
  })
  const isWanted = (one: MonitorProposalView, at: number) => (at === 0 || atOnce.has(one.type)) !== unlike.has(one.type)
  const callNow = (): Call => {
    const wanted = proposals.filter(isWanted)
    const bodies =
      wanted.length === 0
        ? [{ target: text.trim() }]
        : wanted.map(({ type, target, name, title }, at) => ({ type, target, name: at === 0 ? name : `${name} (${title})` }))
    return { method: 'POST', path: '/monitors/bulk', body: { operations: bodies.map(body => ({ op: 'create', body })) } }
  }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (text.trim() !== '') send.mutate(callNow())
  }
  return (
    <form onSubmit={submit} noValidate>
      <label htmlFor={id} className="mb-1 block font-medium">
        Paste an address to watch
      </label>
      <div className="flex gap-2">
        <input
          id={id}
          autoFocus
          autoComplete="off"
          spellCheck={false}
          placeholder="https://www.example.com/"
          value={text}
          onChange={event => {
            setText(event.target.value)
            send.reset()
          }}
          className={`h-10 font-mono ${inputLook}`}
        />
        <Button kind="main" type="submit" className="h-10" disabled={send.isPending || text.trim() === ''}>
          Watch it
        </Button>
      </div>
      <div className="mt-2 flex min-h-6 flex-wrap items-center gap-x-4 gap-y-1 text-[13px]">
        {proposals.length === 0 && <span className="text-muted">A URL, a host with a port, a name or an address.</span>}
        {proposals.map((one, at) => (
          <label key={one.type} className="inline-flex items-center gap-1.5" title={one.target}>
            <input
              type="checkbox"
              checked={isWanted(one, at)}
              onChange={() => {
                const next = new Set(unlike)
                if (!next.delete(one.type)) next.add(one.type)
                setUnlike(next)
              }}
            />
            {one.title}
          </label>
        ))}
        <span className="grow" />
        {text.trim() !== '' && <ApiCall call={callNow} />}
      </div>
      {send.error && <Problem error={send.error} />}
    </form>
  )
}
