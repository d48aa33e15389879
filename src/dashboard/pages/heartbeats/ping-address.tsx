import { useState } from 'react'
import { Code, Copied } from '../../parts/code'
import { Card } from '../../parts/page'
import { snippets } from './snippets'

/** The address to ping, and how to do that from wherever the job runs. */
export function PingAddress({ url, isOpen }: { url: string | null; isOpen: boolean }) {
  const all = snippets(url ?? '')
  const [chosen, setChosen] = useState(all[0]!.id)
  if (url === null) {
    return (
      <Card title="Ping address">
        <p className="text-muted">Shown to those who may change heartbeats: whoever knows it can ping.</p>
      </Card>
    )
  }
  const shown = all.find(one => one.id === chosen)!
  return (
    <Card title="Ping address">
      <p className="mb-3">
        <Copied text={url} label="the ping address" />
      </p>
      <details open={isOpen}>
        <summary className="mb-2 font-medium">How to call it</summary>
        <p className="mb-3 text-muted">
          Calling it says that the job ran. <code className="font-mono text-[13px]">/start</code>,{' '}
          <code className="font-mono text-[13px]">/fail</code> or an exit status behind it says more; a body is kept as the log.
        </p>
        <div role="group" aria-label="How the job runs" className="mb-2 flex flex-wrap gap-1">
          {all.map(one => (
            <button
              key={one.id}
              type="button"
              aria-pressed={one.id === chosen}
              onClick={() => setChosen(one.id)}
              className="rounded-md px-2 py-1 text-[13px] text-muted hover:bg-hover aria-pressed:bg-accent-soft aria-pressed:font-medium aria-pressed:text-accent"
            >
              {one.label}
            </button>
          ))}
        </div>
        <Code text={shown.text} label={shown.label} />
      </details>
    </Card>
  )
}
