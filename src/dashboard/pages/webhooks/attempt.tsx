import { labelOf } from '../../parts/labels'
import type { WebhookAttemptView } from '../../../features/webhooks/deliveries/shapes'
import { Code } from '../../parts/code'
import { Disclosure } from '../../parts/disclosure'
import { Facts } from '../../parts/page'
import { StatusIcon } from '../../parts/status'
import { RelativeTime, formatLatency } from '../../parts/time'

/** Shows an attempt: request, response, and timings. */
export function Attempt({ attempt, isOpen }: { attempt: WebhookAttemptView; isOpen: boolean }) {
  const { request, response, timings } = attempt
  const isDelivered = attempt.error_class === null
  return (
    <Disclosure
      open={isOpen}
      className="rounded-lg border border-line bg-surface"
      summaryClass="flex-wrap gap-2 px-4 py-3"
      summary={
        <>
          <StatusIcon status={isDelivered ? 'delivered' : 'failed'} tone={isDelivered ? 'ok' : 'bad'} className="size-4" />
          <h2 className="font-semibold">Attempt {attempt.number}</h2>
          <span>{attempt.status_code ?? labelOf(attempt.error_class ?? '')}</span>
          <span className="text-muted">
            {formatLatency(attempt.duration_ms)} · {attempt.trigger === 'auto' ? 'automatic' : attempt.trigger} ·{' '}
            <RelativeTime at={attempt.started_at} />
          </span>
        </>
      }
    >
      <div className="flex flex-col gap-4 border-t border-line p-4">
        {attempt.error_message && <p className="rounded-md bg-bad-soft p-3 text-bad wrap-anywhere">{attempt.error_message}</p>}
        {timings && (
          <Facts
            rows={[
              ['DNS', formatLatency(timings.dns_ms)],
              ['Connect', formatLatency(timings.connect_ms)],
              ['TLS', formatLatency(timings.tls_ms)],
              ['First byte', formatLatency(timings.first_byte_ms)],
              ['Total', formatLatency(timings.total_ms)],
            ]}
          />
        )}
        <Code label="request headers" text={`POST ${request.url}\n${headerLines(request.headers)}`} wrap />
        {request.body !== null && <Code label="request body" text={pretty(request.body)} wrap />}
        {response && (
          <>
            <Code label="response headers" text={headerLines(response.headers)} wrap />
            <Code
              label={response.body_truncated ? 'response body (first 16 KiB)' : 'response body'}
              text={response.body || '(empty)'}
              wrap
            />
          </>
        )}
      </div>
    </Disclosure>
  )
}

const headerLines = (headers: Record<string, string>) =>
  Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}`)
    .join('\n')

/** Formats JSON with indentation; returns other text unchanged. */
function pretty(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
