import { limiterOf } from '../../../access/limiter'
import { failedCredentials, type Bucket } from '../../../access/rate-limits'
import { sha256Hex } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'
import { inRanges, parseAddress, parseRange } from '../../../core/net/address'
import type { Family } from '../addresses'
import { noteCall } from '../calls'
import { hostsOf, report, SourceHeld, sourceOfToken, type Reported } from '../report'
import type { StoredClient } from '../tables'
import type { HostRow, SourceRow } from '../view'
import { answerOf } from './answers'
import { masked, readCall, type Call, type Dialect } from './call'
import { clientName } from './client-names'
import { explainReport, sentences } from './explain'
import { judgeCall, type Accepted } from './judge'
import { later, type HostOutcome, type Outcome, type ReportedOutcome } from './outcome'
import { basicUser, presentedToken } from './presented'
import type { Pair } from './raw-query'

/** A request of a client, in any dialect. */
export interface IngestRequest {
  dialect: Dialect
  /** Whether the addresses are removed, whatever the parameters are. */
  offline: boolean
  authorization: string | null
  /** Parameters in the path, which are the first. */
  path: readonly Pair[]
  query: readonly Pair[]
  form: readonly Pair[]
  /** Whether there are more parameters than were read. */
  tooLong: boolean
  address: string
  https: boolean
  userAgent: string | null
  /** Called once the token is accepted. @throws Problem */
  validate?(): void
}

const callsPerMinute = 120
const changesPerMinute = 6

/** Handles a request of a client. Resolves when what it changes is stored. */
export async function receiveReport(hub: Hub, request: IngestRequest): Promise<Outcome> {
  const presented = presentedToken(request)
  const source = presented && (await sourceOfToken(hub, sha256Hex(presented.token)))
  if (!source) return unauthorized(hub, request)
  const pairs = [...request.path, ...request.query, ...request.form]
  const call = readCall(
    { pairs, tooLong: request.tooLong },
    { dialect: request.dialect, caller: request.address, offline: request.offline },
  )
  const userAgent = request.userAgent === null ? null : masked(request.userAgent)
  const client: StoredClient = {
    client: clientName(userAgent),
    user_agent: userAgent,
    dialect: request.dialect,
    presented_by: presented.presentedBy,
    address: request.address,
    https: request.https,
  }
  const known: Known = { hub, source, call, client }

  const forbidden = whyForbidden(source, request)
  if (forbidden !== null) return noted(known, unauthorized(hub, request), forbidden)
  const calls = take(hub, 'dynamic-ip-calls', source, callsPerMinute)
  if (calls !== null) return later(sentences.callLimit(callsPerMinute), calls, true)

  request.validate?.()
  const { families, allowPrivate } = source
  const hosts = await hostsOf(hub.read, source.id)
  const judged = judgeCall(call, { families, allowPrivate, hosts: hosts.map(one => one.name) }, basicUser(request.authorization))
  return judged.kind === 'refused' ? noted(known, judged, judged.detail) : await stored(known, hosts, judged)
}

interface Known {
  hub: Hub
  source: SourceRow
  call: Call
  client: StoredClient
}

async function stored(known: Known, all: readonly HostRow[], accepted: Accepted): Promise<Outcome> {
  const { hub, source, call, client } = known
  const { values, perHost } = accepted
  const hosts = accepted.hosts && [...new Set(accepted.hosts.flatMap(one => one.host ?? []))]
  const explain = (outcome: ReportedOutcome, isPaused: boolean) =>
    explainReport(source, outcome, { usesCaller: call.usesCaller, ignored: accepted.ignored, isPaused })
  if (hosts?.length === 0) {
    const { ipv4, ipv6, prefix6 } = source
    const outcome = outcomeOf(call, accepted, { changed: false, paused: false, ipv4, ipv6, prefix6, hosts: [] })
    return noted(known, outcome, explain(outcome, false))
  }
  for (const family of changedFamilies(source, all, accepted)) {
    const wait = take(hub, `dynamic-ip-changes-${family}`, source, changesPerMinute)
    if (wait === null) continue
    const detail = sentences.changeLimit(family, changesPerMinute)
    return noted(known, later(detail, wait, true), detail)
  }
  try {
    const describe = (reported: Reported) => {
      const outcome = outcomeOf(call, accepted, reported)
      return { answers: linesOf(call.dialect, outcome), explanation: explain(outcome, reported.paused) }
    }
    const reported = await report(hub, source, { ...values, hosts, perHost, client, given: call.given, describe })
    return outcomeOf(call, accepted, reported)
  } catch (error) {
    if (!(error instanceof SourceHeld)) throw error
    return noted(known, later(error.detail, error.retryAfterSeconds), error.detail)
  }
}

/** The families with another address or prefix than the stored one. */
function changedFamilies(source: SourceRow, hosts: readonly HostRow[], { values, perHost }: Accepted): Family[] {
  const differs = (member: 'ipv4' | 'ipv6' | 'prefix6') => values[member] !== undefined && values[member] !== source[member]
  const differsAtHost = (family: Family) =>
    hosts.some(host => perHost.get(host.name)?.[family] !== undefined && perHost.get(host.name)![family] !== host[family])
  return (['ipv4', 'ipv6'] as const).filter(
    family => differs(family) || differsAtHost(family) || (family === 'ipv6' && differs('prefix6')),
  )
}

/** The result for each host that the client named, in its order. */
function outcomeOf(call: Call, { hosts, values, perHost }: Accepted, reported: Reported): ReportedOutcome {
  const isAbout = (family: Family) => values[family] !== undefined || [...perHost.values()].some(one => one[family] !== undefined)
  const isAboutBoth = isAbout('ipv4') === isAbout('ipv6')
  const shown = ({ ipv4, ipv6 }: { ipv4: string | null; ipv6: string | null }) => ({
    ipv4: isAboutBoth || isAbout('ipv4') ? ipv4 : null,
    ipv6: isAboutBoth || isAbout('ipv6') ? ipv6 : null,
  })
  // The addresses of a paused source are stored, which is all that its client has to know.
  const isStored = reported.paused && reported.changed
  const results = new Map(
    reported.hosts.map((one): [string, HostOutcome] => {
      const result = isStored && one.result === 'unchanged' ? 'changed' : one.result
      return [one.name, { ...one, ...shown(one), result }]
    }),
  )
  const named = hosts?.map(({ asked, host, problem }): HostOutcome => {
    const result = host === null ? undefined : results.get(host)
    return result ?? { name: asked, result: problem ?? 'nohost', problem: null, ipv4: null, ipv6: null }
  })
  const { changed, ipv4, ipv6, prefix6 } = reported
  const outcome = { changed, ipv4, ipv6, prefix6, shown: shown(reported), verbose: call.verbose }
  return { kind: 'reported', ...outcome, hosts: named ?? [...results.values()] }
}

/** Adds a call that changed nothing to the history. */
function noted<Result extends Outcome>({ hub, source, call, client }: Known, outcome: Result, explanation: string): Result {
  noteCall(
    hub,
    source,
    {
      at: hub.clock.now(),
      client,
      hosts: call.hosts?.map(masked) ?? [],
      given: call.given,
      answers: linesOf(call.dialect, outcome),
      explanation,
      ipv4: source.ipv4,
      ipv6: source.ipv6,
      prefix6: source.prefix6,
    },
    outcome.kind === 'reported' ? 'seen' : 'refused',
  )
  return outcome
}

const linesOf = (dialect: Dialect, outcome: Outcome): string[] => answerOf(dialect, outcome).body.trimEnd().split('\n')

/** Why the token can’t be used for this request, or null. The response is that to a wrong token. */
function whyForbidden(source: SourceRow, { https, address }: IngestRequest): string | null {
  if (source.requireHttps && !https) return sentences.httpsRequired
  if (source.allowedCidrs.length === 0) return null
  const parsed = parseAddress(address)
  const isAllowed = parsed && source.allowedCidrs.some(one => inRanges(parsed, [parseRange(one)!]))
  return isAllowed ? null : sentences.addressNotAllowed(address)
}

/** Counted after the check, so that guessing can’t block a valid token behind the same address. */
function unauthorized(hub: Hub, { address }: IngestRequest): Outcome {
  const wait = takeFrom(hub, failedCredentials(address, hub.config.failedCredentialsPerMinute))
  return wait === null ? { kind: 'unauthorized', detail: sentences.badToken } : later(sentences.badToken, wait, true)
}

/** Counts against a limit of a source. @returns the seconds to wait if it is reached, otherwise null */
const take = (hub: Hub, name: string, source: SourceRow, perMinute: number): number | null =>
  takeFrom(hub, { name, key: source.id, quota: perMinute, windowSeconds: 60 })

function takeFrom(hub: Hub, bucket: Bucket): number | null {
  const verdict = limiterOf(hub).take([bucket], hub.clock.now())
  return verdict.allowed ? null : verdict.retryAfterSeconds
}
