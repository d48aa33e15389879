import type { Config } from './config'
import type { Clock } from './clock'
import type { SeriesStore } from './db/series'
import type { Store } from './db/store'
import type { Reader, Tx } from './db/transaction'
import type { JobDraft } from './jobs/queue'
import type { JobSignal } from './jobs/signal'
import type { Log } from './log'
import type { Resolve } from './net/egress'
import type { Listener } from './net/own-listeners'
import type { KeyRing } from './secrets'

/** What one running process of Bailiwick has: passed down, never global, so that tests run many side by side. */
export interface Hub {
  /** This process, new at each start (`hub_…` is never shown outside; it names leases and rows in `hubs`). */
  id: string
  config: Config
  clock: Clock
  log: Log
  /** Reads committed rows. Writing goes through `change` and `record` in core/change.ts. */
  read: Reader
  store: Store
  /** Results of checks, which are too many for the database. Closed with the store. */
  series: SeriesStore
  keys: KeyRing
  /** Tells this process's workers that jobs were committed. */
  jobSignal: JobSignal
  /** Job kinds that each committed event starts, with the payload `{event_id}`. */
  eventJobs: readonly string[]
  /** Job kinds that each notice starts, when it is given and when it is given again, with the payload `{notice_id}`. */
  noticeJobs: readonly string[]
  /** The jobs that a workspace's audit log starts when it grows or is signed, as of `now` (ms UTC). */
  auditJobs(tx: Tx, workspaceId: string, now: number): Promise<JobDraft[]>
  /** The address clients use, without a trailing slash. */
  baseUrl: string
  /** The sockets this process listens on, which no call on a workspace's behalf may reach. */
  listeners: Listener[]
  /** Looks names up: by the machine's resolver in production, by a table in tests. */
  resolve: Resolve
}
