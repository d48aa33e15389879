import { eq } from 'drizzle-orm'
import { readSent, type SentBody } from '../../../../api/compressed-body'
import { countRequest, limitFailures } from '../../../../access/limiter'
import { record } from '../../../../core/change'
import type { Tx } from '../../../../core/db/transaction'
import type { Hub } from '../../../../core/hub'
import { incrementCounter } from '../../../../core/metric-counters'
import type { NoticeDraft } from '../../../../core/notices'
import { invalid, notFound, Problem } from '../../../../core/problem'
import { targetOf } from '../../../../core/rows'
import { AgentReport, type ReportAnswer } from '../../../../wire/agent'
import { maxReportBytes } from '../../../../wire/agent-limits'
import type { AgentPermission } from '../../../../wire/agent-permissions'
import { parseSignature, signatureHeader } from '../../../../wire/request-signature'
import { parseCertificates } from '../../certificates/parse'
import { saveCertificates } from '../../certificates/store'
import { recordHostFirewall } from '../../firewalls/enforce-host'
import { recordChanges } from '../../journal/changes'
import { recordJournal } from '../../journal/journal'
import { compareFacts } from '../../journal/compare'
import { recordBacklog, recordReport } from '../agents'
import { recordMinutes } from '../minutes'
import { saveParts } from '../parts'
import { agentRows, lockAgent, type AgentRow, type AnyAgentRow } from '../rows'
import { judgeRun, startedSince, type RunVerdict } from '../runs'
import { agents, storedParts } from '../tables'
import { touchAgent } from '../touch-agents'
import { rolledBackNotice, updateColumns } from '../updates'
import { authenticateAgent } from './authenticate'
import { readMessage } from './message'
import { reportProblems } from './rules'

const reportsPerMinute = 20
/** Reports that can’t be read cost as much as others, and are not counted with those. */
const invalidPerMinute = 20
/** Reports of a backlog in two seconds: four a second, which need not arrive evenly. */
const backlogPerTwoSeconds = 8
/** Differences of clocks up to this are not corrected. */
const toleratedMs = 2000
const minuteMs = 60_000

/**
 * Stores a report of an agent. Resolves when it is committed. A report that is sent again changes nothing.
 * @throws Problem 400, 401, 409 if the run may not report, 413, 415, 422, 429, 503 if it may report later
 */
export async function receiveReport(hub: Hub, { request, ip }: { request: Request; ip: string }): Promise<ReportAnswer> {
  let sent!: SentBody
  const { agent } = await authenticateAgent(hub, {
    ...{ request, ip },
    readBody: async () => (sent = await readSent(request, maxReportBytes.compressed)).bytes,
  })
  const ofInvalid = { name: 'agent-invalid-reports', key: agent.id, quota: invalidPerMinute, windowSeconds: 60 }
  const report = await limitFailures(hub, [ofInvalid], () => readMessage(AgentReport, sent, maxReportBytes.decompressed))
  const limit = report.backlog
    ? { name: 'agent-backlog', quota: backlogPerTwoSeconds, windowSeconds: 2 }
    : { name: 'agent-reports', quota: reportsPerMinute, windowSeconds: 60 }
  countRequest(hub, [{ ...limit, key: agent.id }])
  const now = hub.clock.now()
  // An agent that knows the time of the hub files its minutes by it.
  const ownOffset = now - report.sent_at
  const isCorrected = report.clock_offset_ms === null && Math.abs(ownOffset) > toleratedMs
  // In whole seconds: a report that is sent again takes a few ms more or less, and its entries must get the same times.
  const offsetMs = isCorrected ? Math.round(ownOffset / 1000) * 1000 : 0
  const problems = reportProblems(report, offsetMs, now)
  if (problems.length > 0) throw invalid(problems)
  const sentAt = report.sent_at + (report.clock_offset_ms ?? ownOffset)
  const verdict = judgeRun(agent, report, sentAt, now)
  if (verdict.kind !== 'accepted') throw await refusal(hub, agent, verdict)

  const certificates = report.certificates && (await parseCertificates(report.certificates, now))

  await store(hub, agent, report, offsetMs)
  const more = async (row: AgentRow, at: number, tx: Tx) => {
    const again = judgeRun(row, report, sentAt, at)
    if (again.kind !== 'accepted') throw problemOf(again)
    const certificateEvents = certificates ? await saveCertificates(tx, row, certificates, at) : []
    await recordJournal(tx, row.serverId, report, offsetMs, startedSince(row, report, sentAt))
    const changes = await saveParts(tx, row.id, report, at)
    if (report.facts && row.facts) changes.push(...compareFacts(row.facts, report.facts))
    const update = report.backlog ? {} : updateColumns(row, report, at)
    const notices = again.isCloned ? [clonedNotice(row, ip)] : []
    if (update.updateState === 'rolled_back') notices.push(rolledBackNotice(row, update))
    if (certificates || hasParts(report)) touchAgent(tx, row)
    return {
      runs: again.runs,
      refusedRuns: again.refusedRuns,
      signedAt: signedAt(request, row, at),
      address: ip,
      clockOffsetMs: report.clock_offset_ms,
      // Those of this report don’t wait any longer.
      spooled: Math.max(0, report.spooled - report.minutes.length),
      dropped: report.dropped,
      lastReportAt: at,
      ...(certificates && { certificatesAt: at, certificatesPending: true }),
      events: [...(await recordChanges(tx, row.serverId, changes, report.facts ?? row.facts, at)), ...certificateEvents],
      notices,
      ...update,
    }
  }
  const { version, interval_seconds: intervalSeconds, facts, stopping } = report
  const allow = report.allow as AgentPermission[]
  const current = { version, intervalSeconds, allow, ...(facts && { facts }), ...(stopping && { stopping }) }
  // The journal and the changes of the inventory are rows of the server.
  const isFirst = agent.runs.every(one => one.id !== report.run_id)
  const server = report.moments || report.events || hasParts(report) || isFirst ? agent.serverId : null
  const isKnown = report.backlog
    ? await recordBacklog(hub, agent.id, more, server)
    : await recordReport(hub, agent.id, current, more, server)
  if (!isKnown) throw notFound('agent')
  if (report.firewall && !report.backlog) {
    const { digest, confirmed: isConfirmed, counters } = report.firewall
    await recordHostFirewall(hub, agent.id, { digest, isConfirmed, ...(counters && { counters }) })
  }
  incrementCounter(hub, 'agent_reports', report.backlog ? 'backlog' : 'current')
  // Parts are only in reports in which they changed, so they may have been in one that was not stored.
  const last = agent.runs.find(one => one.id === report.run_id)?.seq ?? null
  const mayMiss = last === null || report.seq > last + 1
  return { acknowledged: report.seq, time: hub.clock.now(), config: agent.config, send_all: mayMiss && !facts && !stopping }
}

/** Whether a report contains a part of the inventory of the server. */
const hasParts = (report: AgentReport): boolean =>
  report.facts !== undefined || storedParts.some(name => report[name] !== undefined)

/** Stores the minutes of a report. Of a minute that it contains twice, the last one is stored. */
async function store(
  hub: Hub,
  agent: AgentRow,
  { columns, minutes }: Pick<AgentReport, 'columns' | 'minutes'>,
  offsetMs: number,
): Promise<void> {
  const filed = new Map<number, AgentReport['minutes'][number]>()
  for (const [start, ...rest] of minutes) {
    const at = offsetMs === 0 ? Math.floor(start / minuteMs) : Math.round((start + offsetMs) / minuteMs)
    filed.set(at, [at * minuteMs, ...rest])
  }
  const tooOld = await recordMinutes(hub, agent, { columns, minutes: [...filed.values()] })
  incrementCounter(hub, 'agent_measurements', 'stored', filed.size - tooOld)
  incrementCounter(hub, 'agent_measurements', 'repeated', minutes.length - filed.size)
  incrementCounter(hub, 'agent_measurements', 'too_old', tooOld)
}

/** Not the time of a clock that is ahead: once it is right, requests would be refused as received before. */
function signedAt(request: Request, row: AgentRow, now: number): number | null {
  const signature = row.publicKey === null ? null : parseSignature(request.headers.get(signatureHeader) ?? '')
  return signature === null ? row.signedAt : Math.max(Math.min(signature.time, now), row.signedAt ?? 0)
}

type Refused = Exclude<RunVerdict, { kind: 'accepted' }>

/** The problem for a run that may not report. If it is a clone of the machine, the workspace is notified. */
async function refusal(hub: Hub, agent: AgentRow, verdict: Refused): Promise<Problem> {
  if (verdict.kind === 'refused' && verdict.isCloned)
    await record(hub, async tx => {
      const row = await lockAgent(tx, agent.id)
      if (!row) return { result: undefined }
      await tx.update(agents).set({ refusedRuns: verdict.refusedRuns }).where(eq(agents.id, row.id))
      return { result: undefined, notices: [clonedNotice(row, agent.address)] }
    })
  return problemOf(verdict)
}

function problemOf(verdict: Refused): Problem {
  if (verdict.kind === 'later')
    return new Problem(
      'overloaded',
      'Another run of this agent reported a short time ago, before this server booted. Try again once it had the time to report again.',
      { headers: { 'Retry-After': String(verdict.retryAfterSeconds) } },
    )
  const { pointer, detail } = verdict
  return new Problem('conflict', `${pointer.slice(2)} ${detail}`, { errors: [{ pointer, code: 'conflict', detail }] })
}

const clonedNotice = (row: AnyAgentRow, address: string | null): NoticeDraft => ({
  workspaceId: row.workspaceId,
  kind: 'agent.cloned',
  resource: targetOf(agentRows, row),
  text: `Two machines use the credentials of the agent of ${row.name}. The one that reported first continues, and the other is ignored. Enroll the other one with a new key.`,
  details: { agent_id: row.id, address },
  dedupKey: row.id,
})
