import { Radio } from 'lucide-react'
import { useState } from 'react'
import type { PingView, PingWithBodyView } from '../../../features/heartbeats/shapes'
import { Code } from '../../parts/code'
import { Dialog } from '../../parts/dialog'
import { Empty } from '../../parts/empty'
import { Choice } from '../../parts/filters'
import { Facts } from '../../parts/page'
import { Problem } from '../../parts/problem'
import { Status } from '../../parts/status'
import { Table, type Column } from '../../parts/table'
import { Ago, span, wholeTime } from '../../parts/time'
import { useList, useOne } from '../../queries'
import { useAddress } from '../../parts/address'
import { pingMood, pingWords } from './ping-bars'

/** The pings that came, newest first, each with what it carried. */
export function Pings({ id, everyMs }: { id: string; everyMs: number }) {
  const [{ pings: kind }, set] = useAddress({ pings: '' })
  const list = useList<PingView>(`/heartbeats/${id}/pings`, { kind }, { everyMs })
  const [shown, setShown] = useState<PingView | null>(null)
  const columns: readonly Column<PingView>[] = [
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
    {
      name: 'kind',
      title: 'Said',
      width: '8rem',
      render: one => <Status state={one.kind} mood={pingMood(one.kind)} label={pingWords[one.kind]} />,
    },
    {
      name: 'took',
      title: 'Took',
      width: '7.5rem',
      right: true,
      render: one => (one.duration_ms === null ? '–' : span(one.duration_ms)),
    },
    { name: 'exit', title: 'Exit status', width: '7rem', right: true, from: 'md', render: one => one.exit_status ?? '–' },
    {
      name: 'source',
      title: 'From',
      width: '10rem',
      from: 'sm',
      render: one => <span className="font-mono text-[13px]">{one.source}</span>,
    },
    { name: 'by', title: 'By', from: 'lg', render: one => <span className="text-muted">{one.user_agent || one.method}</span> },
    {
      name: 'log',
      title: 'Log',
      width: '6rem',
      right: true,
      from: 'sm',
      render: one => (one.body_bytes > 0 ? `${one.body_bytes.toLocaleString()} B` : ''),
    },
  ]
  return (
    <section aria-label="Pings">
      <div className="mb-2 flex flex-wrap items-center gap-2">
        <h2 className="grow font-semibold">Pings</h2>
        <Choice
          label="What the pings said"
          value={kind}
          onChange={value => set({ pings: value })}
          choices={[['', 'All pings'], ...Object.entries(pingWords).map(([value, words]) => [value, words] as const)]}
        />
      </div>
      <Table
        label="Pings"
        columns={columns}
        list={list}
        idOf={one => String(one.n)}
        rowHeight={40}
        empty={
          <Empty icon={Radio} title={kind === '' ? 'No ping yet' : 'None of these'}>
            {kind === '' && 'Each ping shows here when it came, with the log that it carried.'}
          </Empty>
        }
      />
      <Dialog
        open={shown !== null}
        onClose={() => setShown(null)}
        title={shown ? `Ping ${shown.n}, ${wholeTime(shown.at)}` : ''}
        wide
      >
        {shown && <Ping id={id} ping={shown} />}
      </Dialog>
    </section>
  )
}

function Ping({ id, ping }: { id: string; ping: PingView }) {
  const found = useOne<PingWithBodyView>(ping.body_bytes > 0 ? `/heartbeats/${id}/pings/${ping.n}` : null)
  return (
    <div className="flex flex-col gap-4">
      <Facts
        rows={[
          ['Said', <Status state={ping.kind} mood={pingMood(ping.kind)} label={pingWords[ping.kind]} />],
          ['Took', ping.duration_ms === null ? null : span(ping.duration_ms)],
          ['Exit status', ping.exit_status],
          ['From', ping.source],
          ['Method', ping.method],
          ['User agent', ping.user_agent || null],
          ['Run', ping.rid],
        ]}
      />
      {found.error && <Problem error={found.error} onAgain={() => void found.refetch()} />}
      {ping.body_bytes > 0 && !found.error && <Code text={found.data?.body ?? 'Reading…'} label="log" wrap />}
    </div>
  )
}
