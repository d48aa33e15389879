import { statusLabelOf } from '../actions/action-title'
import { Link } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import type { ActionView } from '../../../features/actions/shapes'
import { ErrorDetail } from '../../parts/problem'
import { Status } from '../../parts/status'
import { useOne } from '../../queries'
import { Progress } from '../actions/progress'

const pollMs = 1500
const finalStatuses = ['success', 'error', 'canceled']

interface ActionOutcomeProps {
  id: string
  /** Message shown on success. */
  done?: (action: ActionView) => string
  /** Called once when the action has finished. */
  onEnd?: (action: ActionView) => void
}

/** Progress and result of an action, shown where it was started. */
export function ActionOutcome({ id, done, onEnd }: ActionOutcomeProps) {
  const final = useRef<ActionView | null>(null)
  const isFinished = final.current !== null
  const { data } = useOne<ActionView>(`/actions/${id}`, {}, isFinished ? {} : { refetchMs: pollMs })
  useEffect(() => {
    if (!data || final.current || !finalStatuses.includes(data.status)) return
    final.current = data
    onEnd?.(data)
  }, [data, onEnd])
  return (
    <div role="status" className="flex min-h-14 flex-wrap items-center gap-x-3 gap-y-1 rounded-md border border-line p-3">
      <Status status={data?.status ?? 'pending'} {...(data && { label: statusLabelOf(data) })} />
      <div className="min-w-40 grow">
        {data?.status === 'success' ? (
          <p>{done?.(data) ?? 'Done.'}</p>
        ) : data?.error ? (
          <p className="text-bad wrap-anywhere">
            <ErrorDetail {...data.error} />
          </p>
        ) : (
          data && <Progress action={data} />
        )}
      </div>
      <Link to="/actions/$id" params={{ id }} className="text-accent hover:underline">
        View action
      </Link>
    </div>
  )
}
