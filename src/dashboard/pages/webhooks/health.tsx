import type { WebhookEndpointView, WebhookEndpointHealthView } from '../../../features/webhooks/endpoints/shapes'
import { RelativeTime } from '../../parts/time'
import { useOne } from '../../queries'

const refreshMs = 5000

/** Shows the health of an endpoint. */
export function Health({ endpoint }: { endpoint: WebhookEndpointView }) {
  const { data } = useOne<WebhookEndpointHealthView>(`/webhook-endpoints/${endpoint.id}/health`, {}, { refetchMs: refreshMs })
  const { pending = 0, in_flight: inFlight = 0, retrying = 0, held = 0 } = data?.deliveries ?? {}
  const figures: readonly (readonly [string, React.ReactNode])[] = [
    ['Pending', (pending + inFlight).toLocaleString()],
    ['Retrying', retrying.toLocaleString()],
    ['Held', held.toLocaleString()],
    ['Last success', <RelativeTime at={data?.last_success_at} />],
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
          <dt className="sr-only">Sending suspended</dt>
          <dd>
            Sending is suspended after {data.consecutive_failures} consecutive failures.{' '}
            {data.breaker.half_open_at ? (
              <>
                Next attempt: <RelativeTime at={data.breaker.half_open_at} />.
              </>
            ) : (
              'The next attempt will start soon.'
            )}
          </dd>
        </div>
      )}
    </dl>
  )
}
