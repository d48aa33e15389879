import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import type { ResultView } from '../../../features/monitors/series/shapes'
import { useAddress } from '../../parts/address'
import { Button } from '../../parts/button'
import { Dialog } from '../../parts/dialog'
import { Empty } from '../../parts/empty'
import { Choice } from '../../parts/filters'
import { Facts } from '../../parts/page'
import { Status } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago, latency, wholeTime } from '../../parts/time'
import { useList } from '../../queries'
import { Waterfall } from './waterfall'

const iso = (at: string) => (at === '' ? '' : new Date(Number(at)).toISOString())

/** What single checks came to, newest first. */
export function Runs({ id }: { id: string }) {
  const [{ runs, after, before }, set] = useAddress({ runs: '', after: '', before: '' })
  const list = useList<ResultView>(`/monitors/${id}/results`, {
    status: runs,
    from: iso(after),
    to: iso(before),
    limit: 50,
  })
  const [shown, setShown] = useState<ResultView | null>(null)
  const columns: readonly Column<ResultView>[] = [
    {
      name: 'at',
      title: 'When',
      width: '9rem',
      render: one => (
        <button type="button" className="text-accent hover:underline" onClick={() => setShown(one)}>
          <Ago at={one.at} />
        </button>
      ),
    },
    { name: 'status', title: 'Found', width: '8rem', render: one => <Status state={one.status} /> },
    { name: 'latency', title: 'Took', width: '6rem', right: true, render: one => latency(one.latency_ms) },
    { name: 'code', title: 'Code', width: '5rem', right: true, from: 'sm', render: one => one.code ?? '' },
    {
      name: 'error',
      title: 'Why',
      from: 'sm',
      render: one => <span className="text-muted">{one.error?.message ?? ''}</span>,
    },
    { name: 'location', title: 'From', width: '6rem', from: 'lg', render: one => one.location },
  ]
  return (
    <section aria-label="Runs">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 className="grow font-semibold">Runs</h2>
        {after !== '' && (
          <Button small kind="quiet" onClick={() => set({ after: '', before: '' })}>
            From {wholeTime(Number(after))}: show all
          </Button>
        )}
        <Choice
          label="What was found"
          value={runs}
          onChange={value => set({ runs: value })}
          choices={[
            ['', 'All runs'],
            ['down', 'Failures'],
            ['degraded', 'Degraded'],
            ['down,degraded', 'Not up'],
          ]}
        />
      </div>
      <Table
        label="Runs"
        columns={columns}
        list={list}
        idOf={one => `${one.at}${one.location}`}
        empty={
          <Empty icon={CircleCheck} title={runs === '' ? 'No runs yet' : 'None of these'}>
            {runs === '' ? 'Each check shows here a moment after it was made.' : 'No run that is kept was found so.'}
          </Empty>
        }
        rowHeight={40}
      />
      <Dialog open={shown !== null} onClose={() => setShown(null)} title={shown && `Run of ${wholeTime(shown.at)}`}>
        {shown && <Run run={shown} />}
      </Dialog>
    </section>
  )
}

const Run = ({ run }: { run: ResultView }) => (
  <div className="flex flex-col gap-4">
    <Facts
      rows={[
        ['Found', <Status state={run.status} />],
        ['From', run.location],
        ['Code', run.code],
        ['Failure', run.error && `${run.error.message} (${run.error.kind})`],
      ]}
    />
    <Waterfall phases={run.phases} latencyMs={run.latency_ms} />
  </div>
)
