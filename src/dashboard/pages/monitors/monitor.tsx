import { useQueryClient, type InfiniteData } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useCallback, useState } from 'react'
import type { MonitorView } from '../../../features/monitors/shapes'
import { Card, Loaded, Page } from '../../parts/page'
import { Status, Tag } from '../../parts/status'
import { useNow } from '../../parts/time'
import { useOne } from '../../queries'
import { useResults, type LiveResult } from '../../shell/live'
import { CheckNow } from './check-now'
import { Members } from './grouped'
import { LastFailure } from './last-failure'
import { Latency } from './latency'
import { MonitorActions } from './monitor-actions'
import { MonitorFacts } from './monitor-facts'
import { MonitorHistory, MonitorIncidents } from './monitor-history'
import { Relations } from './relations'
import { Runs } from './runs'
import { stateSentence } from './state-sentence'
import { Uptime } from './uptime'

const byName = { sort: 'name' }
const up = { to: '/monitors', label: 'Monitors' }

/** A monitor: how it stands, how it did, and what came of its checks. */
export default function Monitor() {
  const { id } = useParams({ strict: false })
  const found = useOne<MonitorView>(`/monitors/${id}`)
  return (
    <Loaded found={found} up={up}>
      {monitor => <Shown key={monitor.id} monitor={monitor} />}
    </Loaded>
  )
}

function Shown({ monitor }: { monitor: MonitorView }) {
  const [isChecking, setChecking] = useState(false)
  // What is beside it stands under what this tells: it waits for it.
  const last = useOne(monitor.type === 'group' ? null : `/monitors/${monitor.id}/last-check`)
  useFresh(monitor.id)
  const isGroup = monitor.type === 'group'
  return (
    <Page
      title={monitor.name}
      up={up}
      aside={
        <>
          <Status state={monitor.status} />
          {monitor.flapping && <Status state="flapping" />}
          {monitor.tags.map(tag => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </>
      }
      lead={<Sentence monitor={monitor} />}
      actions={<MonitorActions monitor={monitor} onCheck={() => setChecking(true)} />}
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem] lg:grid-rows-[auto_1fr]">
        <div className="flex min-w-0 flex-col gap-4">
          <Uptime id={monitor.id} />
          {isGroup ? (
            <section aria-label="Members">
              <h2 className="mb-2 font-semibold">Members</h2>
              <Members group={monitor} query={byName} depth={1} />
            </section>
          ) : (
            <>
              <LastFailure monitor={monitor} />
              <Latency monitor={monitor} />
            </>
          )}
        </div>
        <div className="flex min-w-0 flex-col gap-4 lg:col-start-2 lg:row-span-2 lg:row-start-1">
          {!last.isLoading && (
            <>
              <MonitorFacts monitor={monitor} />
              <Relations monitor={monitor} />
              <MonitorIncidents id={monitor.id} />
              <MonitorHistory id={monitor.id} />
              {monitor.description !== '' && (
                <Card title="Notes">
                  <p className="wrap-anywhere whitespace-pre-wrap">{monitor.description}</p>
                </Card>
              )}
            </>
          )}
        </div>
        {/* Last, since it goes on for as long as one reads. */}
        {!isGroup && <Runs id={monitor.id} />}
      </div>
      {isChecking && <CheckNow monitor={monitor} onClose={() => setChecking(false)} />}
    </Page>
  )
}

const Sentence = ({ monitor }: { monitor: MonitorView }) => stateSentence(monitor, useNow())

/** Reads what a new result changes as it comes. */
function useFresh(id: string): void {
  const client = useQueryClient()
  const heard = useCallback(
    (results: readonly LiveResult[]) => {
      if (results.length === 0) return
      const changed = new Set(['', '/results', '/series', '/last-check'].map(below => `/monitors/${id}${below}`))
      // Who reads far down in the runs reads on in peace: all pages of them would be read again at each result.
      const isDeep = (data: unknown) => ((data as InfiniteData<unknown> | undefined)?.pages?.length ?? 0) > 1
      void client.invalidateQueries({
        predicate: ({ queryKey, state }) => changed.has(String(queryKey[0])) && !isDeep(state.data),
      })
    },
    [client, id],
  )
  useResults([id], heard)
}
