import { useQueryClient, type InfiniteData } from '@tanstack/react-query'
import { useCallback } from 'react'
import type { MonitorView } from '../../features/monitors/shapes'
import { Card, Page } from '../parts/page'
import { resourcePage } from '../parts/resource-page'
import { Status, Tag } from '../parts/status'
import { useNow } from '../parts/time'
import { useOne } from '../queries'
import { useWatched, type LiveResult } from '../shell/live'
import { Members } from './monitors/grouped'
import { LastFailure } from './monitors/last-failure'
import { Latency } from './monitors/latency'
import { MonitorActions } from './monitors/monitor-actions'
import { MonitorFacts } from './monitors/monitor-facts'
import { MonitorHistory, MonitorIncidents } from './monitors/monitor-history'
import { Months } from './monitors/months'
import { Relations } from './monitors/relations'
import { CheckResults } from './monitors/check-results'
import { statusSentence } from './monitors/status-sentence'
import { Uptime } from './monitors/uptime'

const byName = { sort: 'name' }
/** A monitor with its status, history, and checks. */
export default resourcePage({ path: '/monitors', parent: '/monitors' }, Content)

function Content({ resource: monitor }: { resource: MonitorView }) {
  // The side column waits for this, to keep its layout stable.
  const last = useOne(monitor.type === 'group' ? null : `/monitors/${monitor.id}/last-check`)
  useFresh(monitor.id)
  const isGroup = monitor.type === 'group'
  return (
    <Page
      title={monitor.name}
      parent="/monitors"
      aside={
        <>
          <Status status={monitor.status} />
          {monitor.flapping && <Status status="flapping" />}
          {monitor.tags.map(tag => (
            <Tag key={tag}>{tag}</Tag>
          ))}
        </>
      }
      description={<Sentence monitor={monitor} />}
      actions={<MonitorActions monitor={monitor} />}
    >
      <div className="grid items-start gap-4 lg:grid-cols-[minmax(0,1fr)_22rem] lg:grid-rows-[auto_1fr]">
        <div className="flex min-w-0 flex-col gap-4">
          <Uptime monitor={monitor} />
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
          <Months id={monitor.id} />
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
        {/* Last, because it scrolls endlessly. */}
        {!isGroup && <CheckResults id={monitor.id} />}
      </div>
    </Page>
  )
}

const Sentence = ({ monitor }: { monitor: MonitorView }) => statusSentence(monitor, useNow())

/** Refetches what a new result changes. */
function useFresh(id: string): void {
  const client = useQueryClient()
  const onResults = useCallback(
    (results: readonly LiveResult[]) => {
      if (results.length === 0) return
      const changed = new Set(['', '/results', '/series', '/last-check'].map(below => `/monitors/${id}${below}`))
      // Don't refetch a list with several pages: all its pages would be reloaded with each result.
      const isDeep = (data: unknown) => ((data as InfiniteData<unknown> | undefined)?.pages?.length ?? 0) > 1
      void client.invalidateQueries({
        predicate: ({ queryKey, state }) => changed.has(String(queryKey[0])) && !isDeep(state.data),
      })
    },
    [client, id],
  )
  useWatched('monitors', [id], onResults)
}
