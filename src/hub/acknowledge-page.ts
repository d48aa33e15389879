import { Elysia, type AnyElysia } from 'elysia'
import { callerAddress, requestId, type Peer } from '../access/door'
import { limiterOf } from '../access/limiter'
import { failedCredentials } from '../access/rate-limits'
import { instant } from '../core/clock'
import type { Hub } from '../core/hub'
import { acknowledgeByLink, findByLink, type Linked } from '../features/incidents/acknowledge-by-link'
import { pageHeaders } from './held-file'

interface Asked {
  request: Request
  params: { token: string }
  server: Peer | null
  hub: Hub
}

/**
 * The page behind the link of a message. Looking at it changes nothing: mail scanners and previews open links too. Its button
 * acknowledges; it needs no script.
 */
export const acknowledgePages: AnyElysia = new Elysia({ name: 'acknowledge-pages' })
  .get('/ack/:token', (context: unknown) => shown(context as Asked))
  .post('/ack/:token', (context: unknown) => pressed(context as Asked), { parse: 'none' })

async function shown({ request, params, server, hub }: Asked): Promise<Response> {
  const linked = await findByLink(hub, params.token)
  return linked ? page(200, bodyOf(linked, params.token)) : missed(hub, request, server)
}

async function pressed({ request, params, server, hub }: Asked): Promise<Response> {
  const linked = await acknowledgeByLink(hub, params.token, {
    ip: callerAddress(hub, request, server),
    userAgent: request.headers.get('user-agent')?.slice(0, 200) ?? null,
    requestId: requestId(request),
  })
  return linked ? page(200, bodyOf(linked, params.token)) : missed(hub, request, server)
}

/** Wrong links are credentials that were wrong: counted, so that nobody tries them by the million. */
function missed(hub: Hub, request: Request, server: Peer | null): Response {
  const bucket = failedCredentials(callerAddress(hub, request, server), hub.config.failedCredentialsPerMinute)
  const verdict = limiterOf(hub).take([bucket], hub.clock.now())
  return verdict.allowed
    ? page(404, '<h1>This link leads nowhere</h1><p>It is older than a week, or what it was about is gone.</p>')
    : page(429, '<h1>Try again shortly</h1><p>Too many links that lead nowhere were opened from your address.</p>', {
        'Retry-After': String(verdict.retryAfterSeconds),
      })
}

function bodyOf({ incident, channel }: Linked, token: string): string {
  const { status, title, cause, severity, acknowledgedBy, acknowledgedUntil } = incident
  const facts = [
    ['Error', cause],
    ['Since', instant(incident.startedAt)],
    ['Until', instant(incident.resolvedAt)],
    ['Severity', severity],
    ['Acknowledged by', status === 'acknowledged' ? (acknowledgedBy?.name ?? acknowledgedBy?.id ?? null) : null],
    ['Acknowledged until', instant(acknowledgedUntil)],
  ] as const
  const rows = facts.flatMap(([name, value]) => (value === null ? [] : `<dt>${name}</dt><dd>${Bun.escapeHTML(value)}</dd>`))
  const action =
    status === 'open'
      ? `<form method="post" action="/ack/${encodeURIComponent(token)}"><button type="submit">Acknowledge</button></form>
<p>It is noted as done over ${Bun.escapeHTML(channel.name)}, and holds for four hours.</p>`
      : `<p role="status">${status === 'resolved' ? 'It is over: there is nothing left to acknowledge.' : 'Somebody sees to it.'}</p>`
  return `<h1>${Bun.escapeHTML(title)}</h1><dl>${rows.join('')}</dl>${action}`
}

const page = (status: number, body: string, headers: Record<string, string> = {}): Response =>
  new Response(
    `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>Incident</title>
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="/assets/style.css">
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
