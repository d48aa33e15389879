import { ListChecks } from 'lucide-react'
import type { PlanView } from '../../../../features/dns/plans/shapes'
import type { ZoneView } from '../../../../features/dns/zones/shapes'
import { useUrlState } from '../../../parts/url-state'
import { Button } from '../../../parts/button'
import { List, type Column } from '../../../parts/list'
import { Status } from '../../../parts/status'
import { RelativeTime } from '../../../parts/time'
import { useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { ZoneFrame } from '../zone-frame'
import { PlanDialog } from './plan-review'
import { planStatuses, planSummary } from './plan-status'

/** Plans of a zone: open, blocked and applied. */
export default function Plans({ zone }: { zone: ZoneView }) {
  const { canWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  const [{ plan: open }, set] = useUrlState({ plan: '' })
  const create = useSend<PlanView>({ invalidates: [`${path}/plans`], onSuccess: plan => set({ plan: plan.id }) })
  return (
    <ZoneFrame
      zone={zone}
      actions={
        canWrite && (
          <Button
            kind="primary"
            data-new
            disabled={create.isPending}
            onClick={() => create.mutate({ method: 'POST', path: `${path}/plan`, body: {} })}
          >
            Create plan
          </Button>
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
          text: 'A plan shows what would change before anything is applied. It can be applied for 15 minutes and is deleted after a week.',
        }}
      />
      <PlanDialog id={open === '' ? null : open} onClose={() => set({ plan: '' })} />
    </ZoneFrame>
  )
}

const columns: readonly Column<PlanView>[] = [
  { title: 'Plan', render: one => <span className="font-medium">{planSummary(one)}</span> },
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
  { title: 'Note', showFrom: 'md', render: one => one.note || <span className="text-muted">–</span> },
  { title: 'Created by', showFrom: 'sm', render: one => one.created_by.name ?? one.created_by.type },
  { title: 'Created', width: '10rem', showFrom: 'sm', render: one => <RelativeTime at={one.created_at} /> },
]
