import { Terminal } from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import { addressOf, asCurl, calls, type Call, type Called } from '../client'
import { Code } from './code'
import { Dialog } from './dialog'
import { clockTime } from './time'

/** What a form or button would call, as a command for a shell. */
export function ApiCall({ call }: { call(): Call }) {
  const [isOpen, setOpen] = useState(false)
  return (
    <>
      <button
        type="button"
        onClick={() => setOpen(true)}
        className="inline-flex items-center gap-1.5 text-[13px] text-muted hover:text-ink"
      >
        <Terminal className="size-3.5" aria-hidden />
        as API call
      </button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title="The same by the API" wide>
        {isOpen && <Shown call={call()} />}
      </Dialog>
    </>
  )
}

const Shown = ({ call }: { call: Call }) => (
  <div className="flex flex-col gap-3">
    <p className="text-muted">
      With a token in <code className="font-mono">$TOKEN</code>. Secrets that were typed in are left out.
    </p>
    <Code text={asCurl(call)} label="command" wrap />
  </div>
)

/** What this page has called, newest first: everything that it shows and does is a call that anybody can make. */
export function ApiCallsDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const list = useSyncExternalStore(calls.subscribe, calls.now)
  const [chosen, setChosen] = useState<Called | null>(null)
  // Reads that are repeated are of no interest twice.
  const seen = new Set<string>()
  const once = list.filter(one => {
    const key = `${one.method} ${addressOf(one)}`
    return one.method !== 'GET' || (!seen.has(key) && seen.add(key))
  })
  return (
    <Dialog
      open={open}
      onClose={() => {
        setChosen(null)
        onClose()
      }}
      title="As API calls"
      description="What this page has read and changed, newest first. The dashboard has no other way than the API."
      wide
    >
      {chosen && (
        <div className="mb-4">
          <Shown call={chosen} />
        </div>
      )}
      <ul className="divide-y divide-line">
        {once.map((one, at) => (
          <li key={at}>
            <button
              type="button"
              onClick={() => setChosen(one)}
              aria-pressed={chosen === one}
              className="flex w-full items-baseline gap-3 rounded px-2 py-1.5 text-left font-mono text-[13px] hover:bg-hover aria-pressed:bg-accent-soft"
            >
              <span className="w-14 shrink-0 font-semibold">{one.method}</span>
              <span className="min-w-0 grow wrap-anywhere">{addressOf(one)}</span>
              <span className={one.status >= 400 || one.status === 0 ? 'text-bad' : 'text-ok'}>
                {one.status || 'not reached'}
              </span>
              <span className="text-muted">{clockTime(one.at)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
