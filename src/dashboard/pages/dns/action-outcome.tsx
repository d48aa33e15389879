import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { ActionView } from '../../../features/actions/shapes'
import { Status } from '../../parts/status'
import { useOne } from '../../queries'
import { Progress } from '../actions/progress'

const lookMs = 1500
const ended = ['success', 'error', 'cancelled']

interface ActionOutcomeProps {
  id: string
  /** What it says once it is done. */
  done?: (action: ActionView) => string
  /** Called once when it has ended. */
  onEnd?: (action: ActionView) => void
}

/** How far a piece of work is, and what came of it, where it was started. */
export function ActionOutcome({ id, done, onEnd }: ActionOutcomeProps) {
  const known = useRef<ActionView | null>(null)
  const isOver = known.current !== null
  const { data } = useOne<ActionView>(`/actions/${id}`, {}, isOver ? {} : { everyMs: lookMs })
  useEffect(() => {
    if (!data || known.current || !ended.includes(data.status)) return
    known.current = data
    onEnd?.(data)
  }, [data, onEnd])
  return (
    <div role="status" className="flex min-h-14 flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-line p-3">
      <Status state={data?.status ?? 'pending'} />
      <div className="min-w-40 grow">
        {data?.status === 'success' ? (
          <p>{done?.(data) ?? 'It is done.'}</p>
        ) : data?.error ? (
          <p className="text-bad wrap-anywhere">
            {data.error.detail}{' '}
            <a className="underline" href={data.error.type}>
              {data.error.code}
            </a>
          </p>
        ) : (
          data && <Progress action={data} />
        )}
      </div>
      <Link to="/actions/$id" params={{ id }} className="text-accent hover:underline">
        Steps
      </Link>
    </div>
  )
}
