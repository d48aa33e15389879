import type { ActionView } from '../../../features/actions/shapes'
import { ErrorDetail } from '../../parts/problem'
import { StatusIcon } from '../../parts/status'
import { statusLabelOf, stepTitleOf } from './action-title'
import { Progress } from './progress'

/** Progress, error, and steps of an action. */
export const ActionSteps = ({ action }: { action: ActionView }) => (
  <>
    <Progress action={action} />
    {action.error && (
      <p className="mt-3 rounded-md bg-bad-soft p-3 text-bad wrap-anywhere">
        <ErrorDetail {...action.error} />
      </p>
    )}
    <ol className="mt-4 flex flex-col gap-2 empty:hidden">
      {action.steps.map(step => (
        <li key={step.name} className="flex items-start gap-2">
          <StatusIcon status={step.status} className="mt-0.5 size-4" />
          <span className="min-w-0 grow">
            <span className="font-medium">{stepTitleOf(action, step)}</span>
            {step.detail && <span className="block text-muted wrap-anywhere">{step.detail}</span>}
          </span>
          <span className="text-[13px] text-muted">{statusLabelOf(step)}</span>
        </li>
      ))}
    </ol>
  </>
)
