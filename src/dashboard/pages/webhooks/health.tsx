import type { WebhookEndpointView } from '../../../features/webhooks/shapes'
import type { WebhookEndpointHealthView } from '../../../features/webhooks/endpoint-health'
import { Ago } from '../../parts/time'
import { useOne } from '../../queries'

const lookMs = 5000

/** How sending to an endpoint goes, in four figures. */
export function Health({ endpoint }: { endpoint: WebhookEndpointView }) {
  const { data } = useOne<WebhookEndpointHealthView>(`/webhook-endpoints/${endpoint.id}/health`, {}, { everyMs: lookMs })
  const { pending = 0, in_flight: flying = 0, retrying = 0, held = 0 } = data?.deliveries ?? {}
  const figures: readonly (readonly [string, React.ReactNode])[] = [
    ['Waiting', (pending + flying).toLocaleString()],
    ['Tried again', retrying.toLocaleString()],
    ['Held', held.toLocaleString()],
    ['Last taken', <Ago at={data?.last_success_at} />],
  ]
  return (
    <dl className="mb-4 grid grid-cols-2 gap-3 sm:grid-cols-4">
      {figures.map(([name, value]) => (
        <div key={name} className="rounded-lg border border-line bg-surface px-4 py-3">
          <dt className="text-[13px] text-muted">{name}</dt>
          <dd className="text-lg font-semibold">{data ? value : '…'}</dd>
        </div>
      ))}
      {data && data.breaker.state !== 'closed' && (
        <div className="col-span-full rounded-md bg-warn-soft p-3 text-warn">
          <dt className="sr-only">Paused for a moment</dt>
          <dd>
            It failed {data.refused_in_a_row} times in a row, so tries wait{' '}
            {data.breaker.until ? <Ago at={data.breaker.until} /> : 'a moment'} before the next.
          </dd>
        </div>
      )}
    </dl>
  )
}
