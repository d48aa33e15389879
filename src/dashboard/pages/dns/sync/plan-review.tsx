import { labelOf } from '../../../parts/labels'
import { useState } from 'react'
import type { ActionView } from '../../../../features/actions/shapes'
import type { PlanView } from '../../../../features/dns/plans/shapes'
import { actorName } from '../../../parts/actor'
import { Dialog } from '../../../parts/dialog'
import { Form, TextField } from '../../../parts/form'
import { Facts } from '../../../parts/page'
import { Status } from '../../../parts/status'
import { RelativeTime } from '../../../parts/time'
import { useUrlState } from '../../../parts/url-state'
import { useOne } from '../../../queries'
import { usePerson } from '../../../session'
import { ActionOutcome } from '../action-outcome'
import { originLabels } from '../origins'
import { Problem } from '../../../parts/problem'
import { PlanSteps } from './plan-steps'
import { planStatuses } from './plan-status'
import { Reasons } from './reasons'

/** The plan in the URL, to review and apply: its changes, and the reasons that block it. */
export function PlanDialog() {
  const [{ plan: id }, set] = useUrlState({ plan: '' })
  const onClose = () => set({ plan: '' })
  const found = useOne<PlanView>(id === '' ? null : `/dns/plans/${id}`, {}, { keepPrevious: true })
  return (
    <Dialog open={id !== ''} onClose={onClose} title="Plan" wide>
      {found.data && id !== '' ? (
        <PlanReview key={found.data.id} plan={found.data} onClose={onClose} />
      ) : found.error ? (
        <Problem error={found.error} onRetry={() => void found.refetch()} />
      ) : (
        <div className="h-48 animate-pulse rounded-md bg-hover" />
      )}
    </Dialog>
  )
}

function PlanReview({ plan, onClose }: { plan: PlanView; onClose(): void }) {
  const { canWrite } = usePerson()
  const [action, setAction] = useState<ActionView | null>(null)
  const steps = plan.targets.reduce((sum, one) => sum + one.op_count, 0)
  const isBlocked = plan.blocked.length > 0
  return (
    <div className="flex flex-col gap-4">
      <Facts
        rows={[
          ['Status', <Status {...planStatuses[plan.status]} />],
          ['Note', plan.note || null],
          ['Created by', `${actorName(plan.created_by)} (${originLabels[plan.origin]})`],
          ['Created', <RelativeTime at={plan.created_at} />],
          plan.applied_at
            ? ['Applied', <RelativeTime at={plan.applied_at} />]
            : ['Expires', <RelativeTime at={plan.expires_at} />],
          ['Overridden checks', plan.allowed.length > 0 ? plan.allowed.map(labelOf).join(', ') : null],
        ]}
      />
      {plan.status === 'stale' && (
        <p className="text-muted">The zone has changed since this plan was created, so you can’t apply it. Create a new plan.</p>
      )}
      {plan.status === 'expired' && (
        <p className="text-muted">This plan has expired: it is older than 15 minutes. Create a new plan.</p>
      )}
      {isBlocked && <Reasons reasons={plan.blocked} />}
      {steps === 0 ? <p className="text-muted">No changes</p> : <PlanSteps plan={plan} />}
      {action ? (
        <ActionOutcome id={action.id} done={() => 'Plan applied.'} />
      ) : (
        canWrite &&
        plan.status === 'open' &&
        steps > 0 && (
          <Form<ActionView>
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
            send={{ toast: 'Applying plan', invalidates: ['/dns/zones', '/dns/plans', '/dns/records'], onSuccess: setAction }}
            onCancel={onClose}
            submitLabel={isBlocked ? 'Override and apply' : 'Apply plan'}
          >
            <TextField
              name="note"
              label={isBlocked ? 'Reason for the override' : 'Note'}
              hint={
                isBlocked
                  ? 'Why it is safe to override the checks above. Stored in the audit log and the history.'
                  : 'Optional. Stored in the history.'
              }
            />
          </Form>
        )
      )}
    </div>
  )
}
