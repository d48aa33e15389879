import { useState } from 'react'
import type { ActionView } from '../../../../features/actions/shapes'
import type { PlanView } from '../../../../features/dns/sync/shapes'
import { Dialog } from '../../../parts/dialog'
import { Form, TextField } from '../../../parts/form'
import { Facts } from '../../../parts/page'
import { Status } from '../../../parts/status'
import { Ago } from '../../../parts/time'
import { useOne, useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { ActionOutcome } from '../action-outcome'
import { Problem } from '../../../parts/problem'
import { PlanSteps } from './plan-steps'
import { planStates } from './plan-words'
import { Reasons } from './reasons'

interface PlanDialogProps {
  /** Id of the plan; null shows none. */
  id: string | null
  onClose(): void
}

/** A plan to look at, and to apply: its steps, and what holds it back. */
export function PlanDialog({ id, onClose }: PlanDialogProps) {
  const found = useOne<PlanView>(id && `/dns/plans/${id}`, {}, { keep: true })
  return (
    <Dialog open={id !== null} onClose={onClose} title="Plan" wide>
      {found.data && id !== null ? (
        <PlanReview key={found.data.id} plan={found.data} onClose={onClose} />
      ) : found.error ? (
        <Problem error={found.error} onAgain={() => void found.refetch()} />
      ) : (
        <div className="h-48 animate-pulse rounded-md bg-hover" />
      )}
    </Dialog>
  )
}

function PlanReview({ plan, onClose }: { plan: PlanView; onClose(): void }) {
  const { mayWrite } = usePerson()
  const [action, setAction] = useState<ActionView | null>(null)
  const apply = useSend<ActionView>({
    done: 'The plan is being applied',
    quiet: true,
    stale: ['/dns/zones', '/dns/plans', '/dns/records'],
    onDone: setAction,
  })
  const steps = plan.targets.reduce((sum, one) => sum + one.op_count, 0)
  const isBlocked = plan.blocked.length > 0
  return (
    <div className="flex flex-col gap-4">
      <Facts
        rows={[
          ['State', <Status {...planStates[plan.status]} />],
          ['Note', plan.note || null],
          ['Made by', `${plan.created_by.name ?? plan.created_by.type}, ${plan.origin}`],
          ['Made', <Ago at={plan.created_at} />],
          plan.applied_at ? ['Applied', <Ago at={plan.applied_at} />] : ['Ends', <Ago at={plan.expires_at} />],
          ['Overridden', plan.allowed.length > 0 ? plan.allowed.join(', ') : null],
        ]}
      />
      {plan.status === 'stale' && <p className="text-muted">The zone has changed since. Make the plan anew to apply it.</p>}
      {plan.status === 'expired' && <p className="text-muted">A plan can be applied for 15 minutes. Make it anew.</p>}
      {isBlocked && <Reasons reasons={plan.blocked} />}
      {steps === 0 ? <p className="text-muted">There is nothing to do.</p> : <PlanSteps plan={plan} />}
      {action ? (
        <ActionOutcome id={action.id} done={() => 'It is as planned everywhere.'} />
      ) : (
        mayWrite &&
        plan.status === 'open' &&
        steps > 0 && (
          <Form
            initial={{ note: '' }}
            call={({ note }) => ({
              method: 'POST',
              path: `/dns/zones/${plan.zone_id}/apply`,
              body: {
                plan_id: plan.id,
                hash: plan.hash,
                ...(isBlocked && { allow: plan.blocked.map(one => one.code) }),
                ...(note !== '' && { note }),
              },
            })}
            send={apply.mutateAsync}
            pending={apply.isPending}
            onCancel={onClose}
            action={isBlocked ? 'Override and apply' : 'Apply'}
          >
            <TextField
              name="note"
              label={isBlocked ? 'Why it is meant' : 'Note'}
              hint={
                isBlocked
                  ? 'Each reason above is overridden. Audit log and history keep your words.'
                  : 'May stay empty. The history keeps it.'
              }
            />
          </Form>
        )
      )}
    </div>
  )
}
