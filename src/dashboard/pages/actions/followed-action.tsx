import { Link } from '@tanstack/react-router'
import { useEffect } from 'react'
import type { ActionView } from '../../../features/actions/shapes'
import { Card } from '../../parts/page'
import { Status } from '../../parts/status'
import { useOne } from '../../queries'
import { ActionSteps } from './action-steps'
import { statusLabelOf, titleOf } from './action-title'

interface FollowedActionProps {
  id: string
  /** Called once it has finished. */
  onEnd?(action: ActionView): void
}

const refetchMs = 1500
const isFinished = ({ finished_at }: ActionView) => finished_at !== null

/** A card with an action that works on the resource of a page, until it has finished and after that. */
export function FollowedAction({ id, onEnd }: FollowedActionProps) {
  const { data: action } = useOne<ActionView>(`/actions/${id}`, {}, { refetchMs: one => !isFinished(one) && refetchMs })
  const isEnded = action !== undefined && isFinished(action)
  useEffect(() => {
    if (isEnded) onEnd?.(action)
  }, [isEnded])
  if (!action) return null
  return (
    <Card
      title={
        <Link to="/actions/$id" params={{ id }} className="hover:underline">
          {titleOf(action)}
        </Link>
      }
      actions={<Status status={action.status} label={statusLabelOf(action)} />}
    >
      <div aria-live="polite">
        <ActionSteps action={action} />
      </div>
    </Card>
  )
}
