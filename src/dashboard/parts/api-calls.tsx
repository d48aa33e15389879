import { Terminal } from 'lucide-react'
import { useState, useSyncExternalStore } from 'react'
import { apiUrl, curlCommand, recentCalls, type Call, type RecordedCall } from '../client'
import { Code } from './code'
import { Dialog } from './dialog'
import { formatTime } from './time'

/** Shows the API call of a form as a curl command. */
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
        View as API call
      </button>
      <Dialog open={isOpen} onClose={() => setOpen(false)} title="API call" wide>
        {isOpen && <CurlCommand call={call()} />}
      </Dialog>
    </>
  )
}

const CurlCommand = ({ call }: { call: Call }) => (
  <div className="flex flex-col gap-3">
    <p className="text-muted">
      Replace <code className="font-mono">$TOKEN</code> with an API token. Secrets you entered are left out.
    </p>
    <Code text={curlCommand(call)} label="curl command" wrap />
  </div>
)

/** Lists the API calls of this tab, newest first. The dashboard only uses the public API. */
export function ApiCallsDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const list = useSyncExternalStore(recentCalls.subscribe, recentCalls.now)
  const [selected, setSelected] = useState<RecordedCall | null>(null)
  // Show repeated GET requests only once.
  const seen = new Set<string>()
  const unique = list.filter(one => {
    const key = `${one.method} ${apiUrl(one)}`
    return one.method !== 'GET' || (!seen.has(key) && seen.add(key))
  })
  return (
    <Dialog
      open={open}
      onClose={() => {
        setSelected(null)
        onClose()
      }}
      title="API calls"
      description="Recent API calls from this tab, newest first. Select one to see it as a curl command."
      wide
    >
      {selected && (
        <div className="mb-4">
          <CurlCommand call={selected} />
        </div>
      )}
      <ul className="divide-y divide-line">
        {unique.map((one, at) => (
          <li key={at}>
            <button
              type="button"
              onClick={() => setSelected(one)}
              aria-pressed={selected === one}
              className="flex w-full items-baseline gap-3 rounded px-2 py-1.5 text-left font-mono text-[13px] hover:bg-hover aria-pressed:bg-accent-soft"
            >
              <span className="w-14 shrink-0 font-semibold">{one.method}</span>
              <span className="min-w-0 grow wrap-anywhere">{apiUrl(one)}</span>
              <span className={one.status >= 400 || one.status === 0 ? 'text-bad' : 'text-ok'}>
                {one.status || 'no response'}
              </span>
              <span className="text-muted">{formatTime(one.at)}</span>
            </button>
          </li>
        ))}
      </ul>
    </Dialog>
  )
}
