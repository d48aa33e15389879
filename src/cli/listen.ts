import { readFileSync } from 'node:fs'
import { InvalidArgumentError, type Command } from 'commander'
import { systemClock } from '../core/clock'
import { hubAccess } from '../core/config'
import { eventKinds, isEventKind } from '../core/events'
import { newId } from '../core/ids'
import { FetchFailed } from '../core/net/fetch-failure'
import type { EventView } from '../features/events/shapes'
import { describeMessage } from '../features/webhooks/message-headers'
import { checkSecret, newSecret, signatures } from '../features/webhooks/sign'
import { callAnywhere } from './call-anywhere'
import { Failure } from './failure'
import { followFeed } from './follow-feed'
import { readSpan } from './span'

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
// As long as an endpoint's own default.
const totalMs = 15_000

export function addListen(program: Command): void {
  program
    .command('listen')
    .description('Send the events of a hub to a receiver on this machine, signed as its webhooks; for development.')
    .requiredOption('--forward-to <url>', 'where to post each event', readUrl)
    .option(
      '--events <kinds>',
      'only these kinds, such as monitor.alert,domain.expiring (default: all the token may read)',
      readKinds,
    )
    .option('--url <address>', `the hub (default: BAILIWICK_URL, else ${defaultHub})`, readUrl)
    .option('--token <token>', 'API token; better in BAILIWICK_TOKEN, which other users of the machine cannot read')
    .option('--token-file <file>', 'file with the API token on its first line')
    .option('--secret <whsec_…>', 'sign with this secret (default: a new one, which is printed)', readSecret)
    .option('--since <span or time>', 'begin with what happened since then, such as 2h or 2026-11-21T10:00:00Z', readSince)
    .addHelpText(
      'after',
      `
Needs no data folder and no webhook endpoint. Each event is posted once; Ctrl-C ends it.

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
  if (!token) throw new Failure('No token: set BAILIWICK_TOKEN, or name a file with --token-file.')
  const secret = flags.secret ?? newSecret()
  const stop = new AbortController()
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop.abort())

  console.log(`Events of ${hub.origin} go to ${flags.forwardTo.href}`)
  console.log(`Signing secret: ${secret}`)
  let ready = false
  const tell = (text: string) => console.error(text)
  const { events = [], since = null } = flags
  for await (const page of followFeed({ hub, token, kinds: events, since, signal: stop.signal, tell })) {
    if (!ready) console.log('Listening; Ctrl-C ends it.')
    ready = true
    for (const event of page) {
      const line = await forward(event, flags.forwardTo, secret, stop.signal)
      if (stop.signal.aborted) break
      console.log(line)
    }
  }
}

/** Posts an event as a webhook endpoint would receive it, and tells what came of it in one line. */
async function forward(event: EventView, to: URL, secret: string, signal: AbortSignal): Promise<string> {
  // What JSON.stringify wrote, parsed and written by it again, is the same text: these are the bytes that the hub sends.
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
  const about = `${event.occurred_at} ${event.kind} ${event.id}`
  try {
    const { status, timings } = await callAnywhere({ url: to.href, method: 'POST', headers, body, signal }, { totalMs })
    return `${about} ${status} ${Math.round(timings.total_ms)} ms`
  } catch (error) {
    if (!(error instanceof FetchFailed)) throw error
    return `${about} failed ${Math.round(error.timings.total_ms)} ms: ${error.message}`
  }
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  if (!url || !/^https?:$/.test(url.protocol)) throw new InvalidArgumentError('It must be an http:// or https:// address.')
  return url
}

function urlOf(text: string, variable: string): URL {
  try {
    return readUrl(text)
  } catch (error) {
    throw new Failure(`${variable}: ${(error as Error).message}`)
  }
}

function readKinds(text: string): string[] {
  const named = text
    .split(',')
    .map(one => one.trim())
    .filter(Boolean)
  const known = eventKinds.map(one => one.kind).join(', ')
  if (named.length === 0 || !named.every(isEventKind)) throw new InvalidArgumentError(`It must be some of ${known}.`)
  return [...new Set(named)]
}

function readSecret(text: string): string {
  try {
    checkSecret(text)
  } catch (error) {
    throw new InvalidArgumentError((error as Error).message)
  }
  return text
}

/** The time as RFC 3339: as given, or so long before now. */
function readSince(text: string): string {
  if (/^\d+[a-z]$/.test(text)) return new Date(systemClock.now() - readSpan(text)).toISOString()
  const at = /^\d{4}-\d{2}-\d{2}/.test(text) ? Date.parse(text) : NaN
  if (Number.isNaN(at)) throw new InvalidArgumentError('It must be a span such as 2h, or a time such as 2026-11-21T10:00:00Z.')
  return new Date(at).toISOString()
}

function firstLine(file: string): string {
  return readFileSync(file, 'utf8').split(/\r?\n/, 1)[0]!.trim()
}
