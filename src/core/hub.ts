import type { Config } from './config'
import type { Clock } from './clock'
import type { SeriesStore } from './db/series'
import type { Store } from './db/store'
import type { Reader, Tx } from './db/transaction'
import type { JobDraft } from './jobs/draft'
import type { JobSignal } from './jobs/signal'
import type { Log } from './log'
import type { Resolve } from './net/egress'
import type { Listener } from './net/own-listeners'
import type { NoticeKinds } from './notices'
import type { KeyRing } from './secrets'

/**
 * The state of a Bailiwick process. Passed as a parameter and never global, so that tests can run several. Features add what they
 * need from other features with `declare module`.
 */
export interface Hub {
  /** Id of this process, new at each start. Used for leases and in `hubs`; the API shows it only to the operator. */
  id: string
  config: Config
  clock: Clock
  log: Log
  /** Reads committed rows. Write with `change` and `record` in core/change.ts. */
  read: Reader
  store: Store
  /** Measurements, which are too many for the main database. Closed with the store. */
  series: SeriesStore
  keys: KeyRing
  /** Wakes the workers of this process when jobs are committed. */
  jobSignal: JobSignal
  /** Kinds of jobs to add for each event, with the payload `{event_id}`. */
  eventJobs: readonly string[]
  noticeKinds: NoticeKinds
  /** Called for each new or repeated notice. Returns the jobs to add. */
  onNotice(tx: Tx, workspaceId: string, id: string): JobDraft[]
  /** Returns the jobs to add when the audit log of a workspace grows or is signed, as of `now` (ms UTC). */
  auditJobs(tx: Tx, workspaceId: string, now: number): Promise<JobDraft[]>
  /** The public URL, without a trailing slash. */
  baseUrl: string
  /** The sockets this process listens on. Requests on behalf of a workspace must not connect to them. */
  listeners: Listener[]
  /** Resolves hostnames: with the system resolver in production, with a table in tests. */
  resolve: Resolve
}
