import type { AuditDraft, EventDraft } from '../../../core/change-result'
import type { JobDraft } from '../../../core/jobs/draft'
import type { NoticeDraft, Severity } from '../../../core/notices'
import type { subjectTypes } from '../shapes'
import type { incidents } from '../tables'

export type IncidentRow = typeof incidents.$inferSelect

/** A monitor, heartbeat, TLS endpoint, or certificate. */
export interface Subject {
  type: (typeof subjectTypes)[number]
  id: string
  name: string
  tags: readonly string[]
  /** What a monitor checks: its URL, host or name. */
  target?: string | null
}

/** A confirmed failure of a subject. Times in ms UTC. */
export interface Outage {
  workspaceId: string
  subject: Subject
  kind: 'monitor.down' | 'monitor.degraded' | 'heartbeat.missed' | 'certificate.gap'
  /** Completes the title of the incident after the name of the subject; by default, by kind. */
  predicate?: string
  severity: Severity
  /** Time of the first failure. */
  startedAt: number
  confirmedAt: number
  /** Error message, one line. */
  cause: string
  locations: readonly string[]
  /** Request and response; stored up to 16 KiB. */
  evidence: object | null
  /** Null: the default channels of the workspace. */
  channelIds: readonly string[] | null
  /** Dashboard page of the subject. */
  link: string | null
}

/** Why an outage ended: the subject recovered, was paused or deleted, or its state was reset. */
export type Resolution = 'recovered' | 'paused' | 'deleted' | 'reset'

/** What a step adds to the result of the enclosing change. */
export interface Drafts {
  events: EventDraft[]
  jobs: JobDraft[]
  audits: AuditDraft[]
  notices: NoticeDraft[]
  wakes: string[]
}

/** Combines the drafts of several steps, in order. */
export const joined = (...drafts: readonly Drafts[]): Drafts => ({
  events: drafts.flatMap(one => one.events),
  jobs: drafts.flatMap(one => one.jobs),
  audits: drafts.flatMap(one => one.audits),
  notices: drafts.flatMap(one => one.notices),
  wakes: drafts.flatMap(one => one.wakes),
})

/** The drafts of a step, without its result. */
export const draftsOf = ({ events, jobs, audits, notices, wakes }: Drafts): Drafts => ({ events, jobs, audits, notices, wakes })

/** Empty drafts. */
export const noDrafts = (): Drafts => joined()
