import { isDeepStrictEqual } from 'node:util'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { Problem } from '../../../core/problem'
import type { CommitChunk, ProgressReport, Work } from '../../actions/kind'
import { openCloud } from '../accounts/open'
import type { CloudAccountRow } from '../accounts/view'
import { CloudError, type Cloud, type Operation, type Started } from '../clouds/cloud'
import { attemptAgain, isUncertainAfter, maybeSucceeded, providerFailed, timedOut } from './attempts'

/** How far an action is. */
export type CloudActionState = {
  phase: 'prepare' | 'send' | 'poll'
  /** Index of the command, of those that are carried out one after another. */
  at: number
  /** When the request was, or would have been, sent first (ms UTC). */
  sentAt: number
  /** When the command times out (ms UTC). */
  deadline: number
  /** Reserved ref of a new resource. */
  ref: string | null
  /** Index of the location among the ordered one and its alternatives. */
  location: number
  /** Whether a request was sent whose outcome is not known. */
  isUncertain: boolean
  /** Null if only the state of the resource tells how far it is. */
  operation: Operation | null
  /** Number of attempts in this phase, for the pause before the next one. */
  attempts: number
  /** Number of refs that others took. */
  taken: number
  /** How often the cloud had forgotten the operation before it could tell how it ended. */
  forgotten: number
  /** Until when the firewalls of a server may take (ms UTC); null before they are being applied. */
  firewallsUntil: number | null
  /** Why a command failed whose effects the remaining one reverts. */
  failure: { code: string; detail: string; failure: string | null } | null
}

type State = CloudActionState
type Chunk = CommitChunk<State>

/** A resource of a cloud account, as actions know it. */
interface CloudRow {
  id: string
  /** Id at the cloud; null until it exists there. */
  providerRef: string | null
}

const maxForgotten = 3
// Pauses between two looks at an operation, and between two attempts.
const pausesMs = [1, 2, 3, 5, 8, 13, 20, 30].map(seconds => seconds * 1000)

/**
 * A chunk of an action that works on a resource at a cloud. Each of its commands is prepared, sent, and polled until it has ended. The
 * intention is committed before a request is sent, so that a later run knows that it may have been sent.
 */
export abstract class CloudAction<I extends Record<string, unknown>, Row extends CloudRow, Seen extends { ref: string }> {
  /** Noun in messages. */
  protected abstract readonly noun: string

  constructor(
    protected readonly hub: Hub,
    protected readonly work: Work<I, State>,
  ) {}

  protected get id(): string {
    return this.work.resources[0]!.id
  }

  /** The resource and its account; null if one of them was deleted. */
  protected abstract load(): Promise<{ row: Row; account: CloudAccountRow } | null>
  protected abstract limitMs(at: number): number
  protected abstract isCreation(at: number): boolean
  /** Whether the command deletes the resource. */
  protected abstract isDeletion(at: number): boolean
  protected abstract prepare(cloud: Cloud, account: CloudAccountRow, row: Row, state: State): Promise<Chunk>
  protected abstract send(cloud: Cloud, row: Row, state: State): Promise<Chunk>
  /** The resource at the cloud; null if it doesn't exist. */
  protected abstract seenAt(cloud: Cloud, row: Row, ref: string): Promise<Seen | null>
  /** What a creation created whose ref is not known; null if there is nothing. */
  protected abstract findCreated(cloud: Cloud, row: Row): Promise<Seen | null>
  /** Whether the command has ended, as far as the resource tells. */
  protected abstract hasEnded(seen: Seen, at: number): boolean
  /** Whether the command can be sent again if it is not known whether it was carried out. It then does nothing if it was. */
  protected abstract isRepeatable(at: number): boolean
  protected abstract saveRef(tx: Tx, ref: string | null): Promise<unknown>
  /** Ends the command successfully. */
  protected abstract done(row: Row, seen: Seen | null, isUnchanged: boolean, state: State): Promise<Chunk> | Chunk
  /** Ends the action with an error. @param seen undefined if it is not known */
  protected abstract failed(row: Row, problem: Problem, seen: Seen | null | undefined, state: State): Chunk
  /** What to do after an error that does not pass; null to fail. */
  protected alternative(_error: CloudError, _state: State): Chunk | null {
    return null
  }

  async run(): Promise<Chunk> {
    const { hub, work } = this
    const found = await this.load()
    if (!found)
      return async () => ({ result: { failed: new Problem('conflict', `The ${this.noun} or its cloud account was deleted.`) } })
    const { row, account } = found
    const state = work.state ?? this.#stateAt(0)
    try {
      const cloud = await openCloud(hub, account, true)
      if (state.phase === 'poll') return await this.#poll(cloud, row, state)
      if (state.phase === 'prepare') return await this.prepare(cloud, account, row, state)
      return await this.send(cloud, row, state)
    } catch (error) {
      if (!(error instanceof CloudError)) throw error
      return await this.#afterError(error as CloudError, account, row, state)
    }
  }

  #stateAt(at: number): State {
    const now = this.hub.clock.now()
    return {
      ...{ phase: 'prepare', at, sentAt: now, deadline: now + this.limitMs(at), ref: null, location: 0, isUncertain: false },
      ...{ operation: null, attempts: 0, taken: 0, forgotten: 0, firewallsUntil: null, failure: null },
    }
  }

  /** Continues with another command. */
  protected continueAt(at: number, failure: State['failure'] = null): State {
    return { ...this.#stateAt(at), failure }
  }

  protected started(cloud: Cloud, row: Row, state: State, started: Started): Promise<Chunk> | Chunk {
    if (started.state === 'running') return this.polling(state, started.operation, started.ref)
    return this.#finish(cloud, row, started.ref ?? row.providerRef ?? state.ref, started.unchanged ?? false, state)
  }

  protected polling(state: State, operation: Operation | null, ref?: string): Chunk {
    return async tx => {
      if (ref !== undefined) await this.saveRef(tx, ref)
      return { result: { state: { ...state, phase: 'poll', operation, attempts: 0 }, at: this.after(0), step: 'wait' } }
    }
  }

  async #poll(cloud: Cloud, row: Row, state: State): Promise<Chunk> {
    if (this.hub.clock.now() > state.deadline) {
      // What is being created can still appear.
      const seen = (await this.#now(cloud, row, state)) ?? (this.isCreation(state.at) ? undefined : null)
      return this.failed(row, timedOut('cloud'), seen, state)
    }
    if (state.operation === null) return await this.#look(cloud, row, state)
    const polled = await cloud.poll(state.operation)
    if (polled.state === 'done') return await this.#finish(cloud, row, polled.ref ?? row.providerRef, false, state)
    if (polled.state === 'gone') return await this.#afterForgotten(cloud, row, { ...state, operation: null })
    const { operation, progress, detail, ref, againMs } = polled
    // Pauses only grow while nothing happens.
    const attempts = isDeepStrictEqual(operation, state.operation) ? state.attempts : 0
    return this.again(
      { ...state, operation, attempts },
      { ...(progress !== undefined && { progress }), ...(detail !== undefined && { detail }) },
      ref,
      againMs,
    )
  }

  /**
   * Concludes from the resource itself how an operation ended that the cloud has forgotten. Where the resource doesn't show that, such as
   * after a restart, the command is not sent again.
   */
  async #afterForgotten(cloud: Cloud, row: Row, state: State): Promise<Chunk> {
    if (this.isCreation(state.at) || this.isDeletion(state.at)) return await this.#look(cloud, row, state)
    const seen = await this.#now(cloud, row, state)
    if (seen === null) return await this.gone(row, state)
    const isRepeatable = this.isRepeatable(state.at)
    if (isRepeatable && this.hasEnded(seen, state.at)) return await this.done(row, seen, false, state)
    if (!isRepeatable || state.forgotten >= maxForgotten) return this.failed(row, maybeSucceeded(), seen, state)
    const next: State = { ...state, phase: 'send', forgotten: state.forgotten + 1 }
    return async () => ({ result: { state: next, at: this.after(state.forgotten) } })
  }

  /** Concludes from the resource itself how far the action is. */
  async #look(cloud: Cloud, row: Row, state: State): Promise<Chunk> {
    const seen = await this.#now(cloud, row, state)
    const isDone = this.isDeletion(state.at) ? seen === null : seen !== null && this.hasEnded(seen, state.at)
    if (isDone) return await this.done(row, seen, false, state)
    return seen === null ? await this.gone(row, state) : this.again(state)
  }

  /** The resource as it is now; null if it does not exist. */
  async #now(cloud: Cloud, row: Row, state: State): Promise<Seen | null> {
    if (row.providerRef !== null) return await this.seenAt(cloud, row, row.providerRef)
    return this.isCreation(state.at) ? await this.findCreated(cloud, row) : null
  }

  /** The resource doesn’t exist anymore. */
  protected gone(row: Row, state: State): Promise<Chunk> | Chunk {
    return this.isDeletion(state.at)
      ? this.done(row, null, true, state)
      : this.failed(row, new Problem('not_found', `The ${this.noun} no longer exists at the cloud.`), null, state)
  }

  /** Looks again later. */
  protected again(state: State, progress: ProgressReport = {}, ref?: string, afterMs?: number): Chunk {
    const at = afterMs === undefined ? this.after(state.attempts) : this.hub.clock.now() + afterMs
    return async tx => {
      if (ref !== undefined) await this.saveRef(tx, ref)
      return { result: { state: { ...state, attempts: state.attempts + 1 }, at, ...progress } }
    }
  }

  protected after(attempts: number): number {
    return this.hub.clock.now() + pausesMs[Math.min(attempts, pausesMs.length - 1)]!
  }

  async #afterError(error: CloudError, account: CloudAccountRow, row: Row, state: State): Promise<Chunk> {
    const now = this.hub.clock.now()
    const isSending = state.phase === 'send'
    const isUncertain = isUncertainAfter(error, isSending)
    if (this.isDeletion(state.at) && error.failure === 'not_found') return await this.done(row, null, false, state)
    // An operation that ended because something else was locked has failed for good.
    const isPassing = (passing.has(error.failure) && (isSending || error.failure !== 'locked')) || isUncertain
    if (isPassing && now < state.deadline)
      return attemptAgain({ ...state, attempts: state.attempts + 1 }, error, isSending, now, this.after(state.attempts))
    const alternative = this.alternative(error, state)
    if (alternative) return alternative
    const problem = providerFailed(error)
    const mayExist = this.isCreation(state.at) && (state.isUncertain || isUncertain || this.work.isRepeated)
    const seen = await this.#seen(account, row)
    return this.failed(row, problem, seen === null && mayExist ? undefined : seen, state)
  }

  /** The resource as it is now; null if it does not exist, and undefined if it can't be read. */
  async #seen(account: CloudAccountRow, row: Row): Promise<Seen | null | undefined> {
    if (row.providerRef === null) return null
    try {
      return await this.seenAt(await openCloud(this.hub, account, true), row, row.providerRef)
    } catch (error) {
      if (error instanceof CloudError) return undefined
      throw error
    }
  }

  async #finish(cloud: Cloud, row: Row, ref: string | null, isUnchanged: boolean, state: State): Promise<Chunk> {
    return await this.done(row, ref === null ? null : await this.seenAt(cloud, row, ref), isUnchanged, state)
  }
}

// What can't be understood, such as the page of a proxy, says nothing about the operation.
const passing = new Set(['throttled', 'locked', 'unreachable', 'timeout', 'incomplete', 'invalid_response'])
