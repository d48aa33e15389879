import { useState } from 'react'
import { apiUrl, recentCalls, type RecordedCall } from '../client'
import { CurlCommand } from '../parts/api-call'
import { openDialog } from '../parts/open-dialog'
import { formatTime } from '../parts/time'

/** Lists the API calls of this tab, newest first. The dashboard only uses the public API. */
export const showApiCalls = (): void =>
  openDialog({
    title: 'API calls',
    description: 'Recent API calls from this tab, newest first. Select one to see it as a curl command.',
    wide: true,
    content: <ApiCalls />,
  })

function ApiCalls() {
  const list = recentCalls.use()
  const [selected, setSelected] = useState<RecordedCall | null>(null)
  // Show repeated GET requests only once.
  const seen = new Set<string>()
  const unique = list.filter(one => {
    const key = `${one.method} ${apiUrl(one)}`
    return one.method !== 'GET' || (!seen.has(key) && seen.add(key))
  })
  return (
    <>
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
    </>
  )
}
