import { readFileSync } from 'node:fs'
import { InvalidArgumentError, type Command } from 'commander'
import { systemClock } from '../core/clock'
import { hubAccess } from '../core/config'
import { eventKinds, isEventKind } from '../features/event-kinds'
import { newId } from '../core/ids'
import { FetchFailed } from '../core/net/fetch-failure'
import type { EventView } from '../features/events/shapes'
import { describeMessage } from '../core/outgoing/message-headers'
import { checkSecret, newSecret, signatures } from '../core/outgoing/sign'
import { fetchUnrestricted } from './unrestricted-fetch'
import { Failure } from './failure'
import { followFeed } from './follow-feed'
import { parseDuration } from './duration'

interface ListenFlags {
  forwardTo: URL
  events?: string[]
  url?: URL
  token?: string
  tokenFile?: string
  secret?: string
  since?: string
}

const defaultHub = 'http://localhost:8484'
// The default timeout of webhook endpoints.
const totalMs = 15_000

export function addListen(program: Command): void {
  program
    .command('listen')
    .description('Forward events to a local webhook receiver, for development')
    .requiredOption('--forward-to <url>', 'URL to post events to', parseUrl)
    .option(
      '--events <kinds>',
      'Only these event kinds, such as monitor.alert,domain.expiring (default: all that the token can read)',
      parseKinds,
    )
    .option('--url <url>', `URL of the hub (default: BAILIWICK_URL or ${defaultHub})`, parseUrl)
    .option('--token <token>', 'API token. Prefer BAILIWICK_TOKEN, because other users of the machine can see arguments')
    .option('--token-file <file>', 'File with the API token on its first line')
    .option('--secret <whsec_…>', 'Signing secret (default: a new one, which is printed)', parseSecret)
    .option('--since <duration or time>', 'Start with past events, such as 2h or 2026-11-21T10:00:00Z', parseSince)
    .addHelpText(
      'after',
      `
Events are signed and posted like webhook deliveries, but without retries. You need neither a data folder nor a webhook endpoint.
Press Ctrl-C to stop.

Examples:
  bailiwick listen --forward-to http://localhost:3000/hook
  bailiwick listen --forward-to http://localhost:3000/hook --events monitor.alert --since 2h --url https://hub.example.com`,
    )
    .action(listen)
}

async function listen(flags: ListenFlags): Promise<void> {
  const access = hubAccess()
  const hub = flags.url ?? urlOf(access.url ?? defaultHub, 'BAILIWICK_URL')
  const token = flags.token ?? (flags.tokenFile === undefined ? access.token : firstLine(flags.tokenFile))
  if (!token) throw new Failure('No API token. Set BAILIWICK_TOKEN or use --token-file.')
  const secret = flags.secret ?? newSecret()
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())

  console.log(`Forwarding events from ${hub.origin} to ${flags.forwardTo.href}`)
  console.log(`Signing secret: ${secret}`)
  let ready = false
  const report = (text: string) => console.error(text)
  const { events = [], since = null } = flags
  for await (const page of followFeed({ hub, token, kinds: events, since, signal: stop.signal, report })) {
    if (!ready) console.log('Listening for events. Press Ctrl-C to stop.')
    ready = true
    for (const event of page) {
      const line = await forward(event, flags.forwardTo, secret, stop.signal)
      if (stop.signal.aborted) break
      console.log(line)
    }
  }
}

/** Posts an event like a webhook delivery. @returns the result as one line */
async function forward(event: EventView, to: URL, secret: string, signal: AbortSignal): Promise<string> {
  // Parsing and stringifying JSON that JSON.stringify wrote gives the same text: these are exactly the bytes of a delivery.
  const body = new TextEncoder().encode(JSON.stringify({ event: event.kind, data: event.data }))
  const timestampSeconds = Math.floor(systemClock.now() / 1_000)
  const message = {
    id: event.message_id,
    event: event.kind,
    deliveryId: newId('dlv'),
    attempt: 1,
    workspaceId: event.workspace_id,
    resource: event.resource,
    sequence: event.sequence,
    occurredAt: event.occurred_at,
    isTest: false,
  }
  const headers = {
    ...describeMessage(message, timestampSeconds),
    ...signatures({ secret, id: message.id, timestampSeconds, body }),
  }
  const prefix = `${event.occurred_at} ${event.kind} ${event.id}`
  try {
    const { status, timings } = await fetchUnrestricted({ url: to.href, method: 'POST', headers, body, signal }, { totalMs })
    return `${prefix} ${status} ${Math.round(timings.total_ms)} ms`
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    return `${prefix} failed ${Math.round(error.timings.total_ms)} ms: ${error.message}`
  }
}

function parseUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new InvalidArgumentError('It must be an http:// or https:// URL.')
  return url
}

function urlOf(text: string, variable: string): URL {
  try {
    return parseUrl(text)
  } catch (error) {
    throw new Failure(`${variable}: ${(error as Error).message}`)
  }
}

function parseKinds(text: string): string[] {
  const kinds = text
    .split(',')
    .map(one => one.trim())
    .filter(Boolean)
  const known = eventKinds.map(one => one.kind).join(', ')
  if (kinds.length === 0 || !kinds.every(isEventKind)) throw new InvalidArgumentError(`Supported event kinds: ${known}.`)
  return [...new Set(kinds)]
}

function parseSecret(text: string): string {
  try {
    checkSecret(text)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
  return text
}

/** Parses a time, or a duration before now. @returns the time in RFC 3339 format */
function parseSince(text: string): string {
  if (/^\d+[a-z]$/.test(text)) return new Date(systemClock.now() - parseDuration(text)).toISOString()
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(at))
    throw new InvalidArgumentError('It must be a duration such as 2h, or a time such as 2026-11-21T10:00:00Z.')
  return new Date(at).toISOString()
}

function firstLine(file: string): string {
  return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0]!.trim()
}
