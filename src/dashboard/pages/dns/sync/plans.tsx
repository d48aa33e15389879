import { ListChecks } from 'lucide-react'
import type { PlanView } from '../../../../features/dns/sync/shapes'
import type { ZoneView } from '../../../../features/dns/zone-shapes'
import { useAddress } from '../../../parts/address'
import { Button } from '../../../parts/button'
import { Empty } from '../../../parts/empty'
import { Status } from '../../../parts/status'
import { Table, type Column } from '../../../parts/table'
import { Ago } from '../../../parts/time'
import { useList, useSend } from '../../../queries'
import { usePerson } from '../../../session'
import { ZoneFrame } from '../zone-frame'
import { PlanDialog } from './plan-review'
import { planStates, stepsInWords } from './plan-words'

/** What was planned for a zone: what waits, what is held back, what was applied. */
export default function Plans({ zone }: { zone: ZoneView }) {
  const { mayWrite } = usePerson()
  const path = `/dns/zones/${zone.id}`
  const [{ plan: open }, set] = useAddress({ plan: '' })
  const list = useList<PlanView>(`${path}/plans`)
  const make = useSend<PlanView>({ stale: [`${path}/plans`], onDone: plan => set({ plan: plan.id }) })
  const show = (id: string) => set({ plan: id })
  return (
    <ZoneFrame
      zone={zone}
      actions={
        mayWrite && (
          <Button
            kind="main"
            data-new
            disabled={make.isPending}
            onClick={() => make.mutate({ method: 'POST', path: `${path}/plan`, body: {} })}
          >
            Plan what waits
          </Button>
        )
      }
    >
      <Table
        label="Plans"
        columns={columns(show)}
        list={list}
        idOf={one => one.id}
        empty={
          <Empty icon={ListChecks} title="No plans">
            A plan tells what a change would do before it does it. It can be applied for 15 minutes, and is kept for a week.
          </Empty>
        }
      />
      <PlanDialog id={open === '' ? null : open} onClose={() => set({ plan: '' })} />
    </ZoneFrame>
  )
}

const columns = (show: (id: string) => void): readonly Column<PlanView>[] => [
  {
    name: 'steps',
    title: 'Plan',
    render: one => (
      <button type="button" onClick={() => show(one.id)} className="max-w-full truncate font-medium text-accent hover:underline">
        {stepsInWords(one)}
      </button>
    ),
  },
  {
    name: 'status',
    title: 'State',
    width: '9rem',
    render: one =>
      one.status === 'open' && one.blocked.length > 0 ? (
        <Status state="blocked" label="held back" />
      ) : (
        <Status {...planStates[one.status]} />
      ),
  },
  { name: 'note', title: 'Note', from: 'md', render: one => one.note || <span className="text-muted">–</span> },
  { name: 'by', title: 'By', from: 'sm', render: one => one.created_by.name ?? one.created_by.type },
  { name: 'at', title: 'Made', width: '10rem', from: 'sm', render: one => <Ago at={one.created_at} /> },
]
