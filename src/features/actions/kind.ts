import type { AuditAction } from '../../core/audit-actions'
import type { RecordResult } from '../../core/change-result'
import type { AuditActor } from '../../core/db/tables'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import type { Area } from '../../core/permissions'
import type { NoticeDraft } from '../../core/notices'
import type { Problem } from '../../core/problem'
import type { ResourceRef } from './tables'

type JsonObject = Record<string, unknown>

/** A type of long-running work. Its job, created by `actionJob`, must be listed in hub/jobs.ts. */
export interface ActionKind<I extends JsonObject = JsonObject, S extends JsonObject = JsonObject> {
  /** `<resource>.<verb>`; also the kind of its job. */
  type: string
  /** Read permission on this area is required to see the action, write permission to cancel it. */
  area: Area
  /** Audit action of the route that starts it. Errors are recorded as failures of it. */
  audit: AuditAction
  /** Whether it can be canceled between two chunks. */
  cancelable: boolean
  /**
   * Whether a chunk can run again after its process died. If so, a chunk that throws is also retried, a limited number of times;
   * otherwise, both end the action.
   */
  resumable: boolean
  /** Names of the steps, in order. */
  steps?: readonly string[]
  /** Maximum number of actions of this type that run at once in one process. */
  concurrency: number
  /** The notice of a failure, instead of the one that all actions have. */
  failureNotice?(row: { workspaceId: string; resourceId: string }, problem: Problem): NoticeDraft
  /** After this time, other processes may claim the job. Must be longer than any chunk takes. */
  leaseMs: number
  /**
   * Does one chunk of the work, continuing where the previous one ended. Makes external calls here, and database writes in the
   * returned function, which runs in the transaction that also updates the action.
   */
  run(hub: Hub, work: Work<I, S>): Promise<CommitChunk<S>>
}

/** The input of a chunk. */
export interface Work<I extends JsonObject = JsonObject, S extends JsonObject = JsonObject> {
  actionId: string
  workspaceId: string
  resources: readonly ResourceRef[]
  actor: AuditActor
  input: I
  /** Where the previous chunk ended; null for the first one. */
  state: S | null
  result: JsonObject | null
  /** Whether this chunk ran before without a result, because its process died or it threw an error: its calls may have been made. */
  isRepeated: boolean
  /**
   * Reports the progress of a long chunk. Stored at most once a second, unless a new step starts.
   * @returns true if cancellation was requested: the chunk should end early
   */
  report(progress: ProgressReport): Promise<boolean>
}

/** Absent fields are left unchanged. */
export interface ProgressReport {
  /** 0 to 100. */
  progress?: number
  /** Name of the step that starts; the previous one has succeeded. */
  step?: string
  /** What the current step is working on. */
  detail?: string
  /** Keep it small: counts and ids. */
  result?: JsonObject
}

export type CommitChunk<S extends JsonObject = JsonObject> = (tx: Tx) => Promise<RecordResult<Next<S>>>

/** What follows a chunk: another one with this `state`, immediately or at a time (ms UTC), or the end of the action. */
export type Next<S extends JsonObject = JsonObject> =
  ({ state: S; at?: number } & ProgressReport) | { done: JsonObject | null } | { failed: Problem; result?: JsonObject }

/** Topic that wakes clients waiting for an action. */
export const actionTopic = (id: string): string => `action:${id}`
