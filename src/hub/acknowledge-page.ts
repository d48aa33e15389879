import { Elysia, type AnyElysia } from 'elysia'
import { callerIp, requestId, type Peer } from '../api/serve'
import { limiterOf } from '../access/limiter'
import { failedCredentials } from '../access/rate-limits'
import { formatUtcSecond } from '../core/clock'
import type { Hub } from '../core/hub'
import { inTimezone } from '../core/local-times'
import { acknowledgeByLink, findByLink, type LinkedIncident } from '../features/incidents/acknowledge-by-link'
import { pageHeaders } from './static-file'

interface PageRequest {
  request: Request
  params: { token: string }
  server: Peer | null
  hub: Hub
}

/**
 * The page of an acknowledge link. Opening it changes nothing, because mail scanners and link previews open links too; only its button
 * acknowledges. Works without JavaScript.
 */
export const acknowledgePages: AnyElysia = new Elysia({ name: 'acknowledge-pages' })
  .get('/ack/:token', (context: unknown) => showPage(context as PageRequest))
  .post('/ack/:token', (context: unknown) => acknowledgeLink(context as PageRequest), { parse: 'none' })

async function showPage({ request, params, server, hub }: PageRequest): Promise<Response> {
  const linked = await findByLink(hub, params.token)
  return linked ? page(200, bodyOf(linked, params.token)) : invalidLink(hub, request, server)
}

async function acknowledgeLink({ request, params, server, hub }: PageRequest): Promise<Response> {
  const linked = await acknowledgeByLink(hub, params.token, {
    ip: callerIp(hub, request, server),
    userAgent: request.headers.get('user-agent')?.slice(0, 200) ?? null,
    requestId: requestId(request),
  })
  return linked ? page(200, bodyOf(linked, params.token)) : invalidLink(hub, request, server)
}

/** Counts invalid links like failed credentials, to prevent guessing. */
function invalidLink(hub: Hub, request: Request, server: Peer | null): Response {
  const bucket = failedCredentials(callerIp(hub, request, server), hub.config.failedCredentialsPerMinute)
  const verdict = limiterOf(hub).take([bucket], hub.clock.now())
  return verdict.allowed
    ? page(404, '<h1>Invalid link</h1><p>The link has expired, or its incident or notification channel was deleted.</p>')
    : page(429, '<h1>Too many requests</h1><p>Too many invalid links were opened from your IP address. Try again shortly.</p>', {
        'Retry-After': String(verdict.retryAfterSeconds),
      })
}

function bodyOf({ incident, channel }: LinkedIncident, token: string): string {
  const { status, title, cause, severity, acknowledgedBy, acknowledgedUntil } = incident
  const timeOf = (at: number | null) => (at === null ? null : inTimezone(formatUtcSecond(at), channel.timezone))
  const facts = [
    ['Error', cause === title ? null : cause],
    ['Started', timeOf(incident.startedAt)],
    ['Resolved', timeOf(incident.resolvedAt)],
    ['Severity', severity],
    ['Acknowledged by', status === 'acknowledged' ? (acknowledgedBy?.name ?? acknowledgedBy?.id ?? null) : null],
    ['Acknowledged until', timeOf(acknowledgedUntil)],
  ] as const
  const rows = facts.flatMap(([name, value]) => (value === null ? [] : `<dt>${name}</dt><dd>${Bun.escapeHTML(value)}</dd>`))
  const action =
    status === 'open'
      ? `<form method="post" action="/ack/${encodeURIComponent(token)}"><button type="submit">Acknowledge</button></form>
<p>Acknowledges the incident for four hours. Recorded as acknowledged through the channel “${Bun.escapeHTML(channel.name)}”.</p>`
      : `<p role="status">${status === 'resolved' ? 'This incident is resolved.' : 'This incident is acknowledged.'}</p>`
  return `<h1>${Bun.escapeHTML(title)}</h1><dl>${rows.join('')}</dl>${action}`
}

const page = (status: number, body: string, headers: Record<string, string> = {}): Response =>
  new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>Incident</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/acknowledge.css">
</head>
<body>
<main id="main"><section class="card">${body}</section></main>
</body>
</html>
`,
    {
      status,
      headers: {
        ...pageHeaders,
        'Content-Type': 'text/html; charset=utf-8',
        'Cache-Control': 'private, no-store',
        'X-Content-Type-Options': 'nosniff',
        // The address is a credential.
        'Referrer-Policy': 'no-referrer',
        ...headers,
      },
    },
  )
