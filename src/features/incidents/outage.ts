import type { AuditDraft, EventDraft } from '../../core/change'
import type { JobDraft } from '../../core/jobs/queue'
import type { NoticeDraft, Severity } from '../../core/notices'
import type { incidents, subjectTypes } from './tables'

export type IncidentRow = typeof incidents.$inferSelect

/** What can fail. */
export interface Subject {
  type: (typeof subjectTypes)[number]
  id: string
  name: string
  tags: readonly string[]
  /** What a monitor checks: its URL, host or name. */
  target?: string | null
}

/** That something failed, as whoever found it tells. Times in ms UTC. */
export interface Outage {
  workspaceId: string
  subject: Subject
  kind: 'monitor.down' | 'monitor.degraded' | 'heartbeat.missed'
  severity: Severity
  /** Of the first failure. */
  startedAt: number
  confirmedAt: number
  /** The error, in one line for people. */
  cause: string
  locations: readonly string[]
  /** What was asked and what came back; kept up to 16 KiB. */
  evidence: object | null
  /** Null: the channels of the workspace that are for everything. */
  channelIds: readonly string[] | null
  /** Where to read on about the subject, in the hub. */
  link: string | null
}

/** Why an outage is over: it is well again, nobody looks any more, or what was found is forgotten. */
export type Resolution = 'recovered' | 'paused' | 'deleted' | 'reset'

/** What a step leaves for its door to report. */
export interface Drafts {
  events: EventDraft[]
  jobs: JobDraft[]
  audits: AuditDraft[]
  notices: NoticeDraft[]
  wakes: string[]
}

/** The drafts of several steps, in their order. */
export const joined = (...drafts: readonly Drafts[]): Drafts => ({
  events: drafts.flatMap(one => one.events),
  jobs: drafts.flatMap(one => one.jobs),
  audits: drafts.flatMap(one => one.audits),
  notices: drafts.flatMap(one => one.notices),
  wakes: drafts.flatMap(one => one.wakes),
})

/** What a step leaves for its door, without what it answers. */
export const draftsOf = ({ events, jobs, audits, notices, wakes }: Drafts): Drafts => ({ events, jobs, audits, notices, wakes })

/** Nothing to report. */
export const noDrafts = (): Drafts => joined()
