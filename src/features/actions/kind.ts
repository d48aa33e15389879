import type { AuditAction } from '../../core/audit-actions'
import type { Recorded } from '../../core/change'
import type { AuditActor } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { Area } from '../../core/permissions'
import type { Problem } from '../../core/problem'
import type { ResourceRef } from './tables'

type Members = Record<string, unknown>

/** One type of long work. Its job, made by `actionJob`, is to be listed in hub/jobs.ts. */
export interface ActionKind<I extends Members = Members, S extends Members = Members> {
  /** `<resource>.<verb>`; also the kind of its job. */
  type: string
  /** Who may read this area sees the action, who may write it calls it off. */
  area: Area
  /** How the audit log names it: the action of the route that starts it. An error is written there as a failure. */
  audit: AuditAction
  /** Whether it may be called off between two pieces. */
  cancellable: boolean
  /**
   * Whether a piece whose process died may be run again. If so, a piece that throws is tried again too, for a while; if not, both
   * end the action.
   */
  resumable: boolean
  /** Names of its parts, in order. */
  steps?: readonly string[]
  /** Actions of this type that one process works on at most. */
  concurrency: number
  /** Longer than any piece takes: then others may take it over. */
  leaseMs: number
  /**
   * Does one piece of the work, from where the one before left off. Calls to the outside belong here, writes into the returned
   * step, which runs in the transaction that also moves the action on.
   */
  run(hub: Hub, work: Work<I, S>): Promise<Piece<S>>
}

/** What a run is given. */
export interface Work<I extends Members = Members, S extends Members = Members> {
  actionId: string
  workspaceId: string
  resources: readonly ResourceRef[]
  actor: AuditActor
  input: I
  /** Where the last piece left off; null on the first. */
  state: S | null
  result: Members | null
  /**
   * Tells how far a long piece is; written at most once a second, but for a new step.
   * @returns true when the action was asked to end: the piece should come to its end early
   */
  report(how: Report): Promise<boolean>
}

/** Members that are absent stay as they are. */
export interface Report {
  /** 0 to 100. */
  progress?: number
  /** Name of the step that begins; the one before it has succeeded. */
  step?: string
  /** What the step that runs is about. */
  detail?: string
  /** Small: counts and ids. */
  result?: Members
}

export type Piece<S extends Members = Members> = (tx: Tx) => Promise<Recorded<Next<S>>>

/** How it goes on after a piece: with another one from `state`, at once or at a time (ms UTC); or the action ends. */
export type Next<S extends Members = Members> =
  ({ state: S; at?: number } & Report) | { done: Members | null } | { failed: Problem; result?: Members }

/** Name under which whoever waits for an action is woken. */
export const actionTopic = (id: string): string => `action:${id}`
