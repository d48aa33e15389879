import { ListChecks } from 'lucide-react'
import type { PlanView } from '../../../../features/dns/plans/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { actorName } from '../../../parts/actor'
import { useUrlState } from '../../../parts/url-state'
import { List, type Column } from '../../../parts/list'
import { SendButton } from '../../../parts/send-button'
import { Status } from '../../../parts/status'
import { RelativeTime } from '../../../parts/time'
import { usePerson } from '../../../session'
import { ZoneFrame } from '../zone-frame'
import { PlanDialog } from './plan-review'
import { planStatuses, planSummary } from './plan-status'

/** Plans of a zone: open, blocked and applied. */
export default function Plans({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  const [, set] = useUrlState({ plan: '' })
  return (
    <ZoneFrame
      zone={zone}
      actions={
        canWrite && (
          <SendButton<PlanView>
            kind="primary"
            data-new
            call={{ method: 'POST', path: `${path}/plan`, body: {} }}
            send={{ invalidates: [`${path}/plans`], onSuccess: plan => set({ plan: plan.id }) }}
          >
            Create plan
          </SendButton>
        )
      }
    >
      <List
        label="Plans"
        path={`${path}/plans`}
        columns={columns}
        onOpen={one => set({ plan: one.id })}
        empty={{
          icon: ListChecks,
          text: 'A plan shows what would change before anything is applied. It expires after 15 minutes and is deleted a week later.',
        }}
      />
      <PlanDialog />
    </ZoneFrame>
  )
}

const columns: readonly Column<PlanView>[] = [
  { title: 'Plan', look: 'strong', render: one => planSummary(one) },
  {
    title: 'Status',
    width: '9rem',
    render: one =>
      one.status === 'open' && one.blocked.length > 0 ? (
        <Status status="blocked" label="blocked" />
      ) : (
        <Status {...planStatuses[one.status]} />
      ),
  },
  { title: 'Note', showFrom: 'md', look: 'muted', onPhone: 'line', render: one => one.note },
  { title: 'Created by', render: one => actorName(one.created_by) },
  { title: 'Created', width: '10rem', render: one => <RelativeTime at={one.created_at} /> },
]
