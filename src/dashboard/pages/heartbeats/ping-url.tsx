import { useState } from 'react'
import { Code, CopyableText } from '../../parts/code'
import { Card } from '../../parts/page'
import { snippets } from './snippets'

/** The ping URL, with code snippets. */
export function PingUrl({ url, isOpen }: { url: string | null; isOpen: boolean }) {
  const all = snippets(url ?? '')
  const [selected, setSelected] = useState(all[0]!.id)
  if (url === null) {
    return (
      <Card title="Ping URL">
        <p className="text-muted">
          Anyone who knows the ping URL can send pings, so it is only shown to users who can edit heartbeats.
        </p>
      </Card>
    )
  }
  const shown = all.find(one => one.id === selected)!
  return (
    <Card title="Ping URL">
      <p className="mb-3">
        <CopyableText text={url} label="ping URL" />
      </p>
      <details open={isOpen}>
        <summary className="mb-2 font-medium">How to ping</summary>
        <p className="mb-3 text-muted">
          A request to this URL reports that the job ran. Append <code className="font-mono text-[13px]">/start</code>,{' '}
          <code className="font-mono text-[13px]">/fail</code> or the exit status to report more. A request body is stored as the
          log.
        </p>
        <div role="group" aria-label="Type of job" className="mb-2 flex flex-wrap gap-1">
          {all.map(one => (
            <button
              key={one.id}
              type="button"
              aria-pressed={one.id === selected}
              onClick={() => setSelected(one.id)}
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
