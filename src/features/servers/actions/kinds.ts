import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import type { AuditAction } from '../../../core/audit-actions'
import type { RecordResult } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import { Problem } from '../../../core/problem'
import { mayHaveApplied } from '../../../adapters/failure'
import type { ActionKind, CommitChunk, Next, ProgressReport, Work } from '../../actions/kind'
import { readCatalog } from '../accounts/catalog'
import { openCloud } from '../accounts/open'
import { cloudAccounts } from '../accounts/tables'
import type { CloudAccountRow } from '../accounts/view'
import { cloudKindOf } from '../clouds'
import {
  CloudError,
  serverVerbs,
  type Cloud,
  type CloudServer,
  type Operation,
  type Price,
  type ServerCommand,
  type ServerOrder,
  type ServerVerb,
  type Started,
} from '../clouds/cloud'
import { amountOf } from '../money'
import { priceOf } from '../order'
import { isAnother } from '../same-server'
import { lockAccount, requireSpend } from '../spend'
import { servers } from '../tables'
import { openUserData } from '../user-data'
import type { ServerRow } from '../view'
import { runByController } from './by-controller'
import type { ServerActionInput } from './input'
import { endOnServer } from './end-on-server'
import { limitOf, verbRules } from './verbs'

type State = {
  phase: 'prepare' | 'send' | 'poll'
  /** When the request was, or would have been, sent first (ms UTC). */
  sentAt: number
  /** When the action times out (ms UTC). */
  deadline: number
  /** Reserved ref of a new server. */
  ref: string | null
  /** Index of the location among the ordered one and its alternatives. */
  location: number
  /** Whether a request was sent whose outcome is not known. */
  isUncertain: boolean
  /** Null if only the state of the server tells how far it is. */
  operation: Operation | null
  /** Number of attempts in this phase, for the pause before the next one. */
  attempts: number
  /** Number of refs that others took. */
  taken: number
}

const steps = ['check_price', 'create', 'wait'] as const

/** The steps of creating a server. */
export const provisionSteps: readonly string[] = steps

/** The kind of the actions for a verb. */
export const serverActionKind = (verb: ServerVerb): ActionKind<ServerActionInput, State> => ({
  type: `server.${verb}`,
  area: 'cloud',
  audit: `cloud.server.${verb}` as AuditAction,
  cancelable: false,
  resumable: true,
  ...(verb === 'provision' && { steps }),
  // Most of the time, they wait for a cloud.
  concurrency: 32,
  leaseMs: 300_000,
  run: (hub, work) => (work.input.via === 'cloud' ? new ServerAction(hub, work).run() : runByController(hub, work)),
})

export const serverActionKinds = serverVerbs.map(serverActionKind)

// Pauses between two looks at an operation, and between two attempts.
const pausesMs = [1, 2, 3, 5, 8, 13, 20, 30].map(seconds => seconds * 1000)
const maxTakenRefs = 20

/** A chunk of an action. */
class ServerAction {
  readonly #serverId: string
  constructor(
    private readonly hub: Hub,
    private readonly work: Work<ServerActionInput, State>,
  ) {
    this.#serverId = work.resources[0]!.id
  }

  async run(): Promise<CommitChunk<State>> {
    const { hub, work } = this
    const [found] = await hub.read
      .select({ server: servers, account: cloudAccounts })
      .from(servers)
      .innerJoin(cloudAccounts, eq(cloudAccounts.id, servers.accountId))
      .where(eq(servers.id, this.#serverId))
    if (!found)
      return async () => ({ result: { failed: new Problem('conflict', 'The server or its cloud account was deleted.') } })
    const { server, account } = found
    const now = hub.clock.now()
    const state: State = work.state ?? {
      phase: 'prepare',
      sentAt: now,
      deadline: now + limitOf(work.input),
      ref: null,
      location: 0,
      isUncertain: false,
      operation: null,
      attempts: 0,
      taken: 0,
    }
    try {
      const cloud = await openCloud(hub, account, true)
      if (state.phase === 'poll') return await this.#poll(cloud, server, state)
      // The intention is committed before the first request, so that a later run knows that it may have been sent.
      if (state.phase === 'prepare') return await this.#prepare(cloud, account, server, state)
      return await this.#send(cloud, server, state)
    } catch (error) {
      if (!(error instanceof CloudError)) throw error
      return await this.#afterError(error as CloudError, account, server, state)
    }
  }

  /** Checks the price, and reserves a ref. */
  async #prepare(cloud: Cloud, account: CloudAccountRow, server: ServerRow, state: State): Promise<CommitChunk<State>> {
    const { verb, maxPriceMicros, priced } = this.work.input
    const next: State = { ...state, phase: 'send', sentAt: this.hub.clock.now(), attempts: 0 }
    const isNew = verb === 'provision'
    if (isNew) await this.work.report({ step: 'check_price' })
    const kind = cloudKindOf(account.kind)!
    const location = isNew ? this.#location(state) : (priced?.location ?? null)
    const isPriced = kind.capabilities.hasPrices && priced !== null
    const price = isPriced ? priceOf(kind, await readCatalog(this.hub, account, false), { ...priced, location }) : null
    const problem = isPriced && maxPriceMicros !== null ? priceProblem(price, maxPriceMicros, server.priceCurrency) : null
    const unchanged = isNew ? null : server.cloud
    if (problem) return this.#failed(server, problem, unchanged)
    const ref = isNew ? ((await cloud.reserveRef?.()) ?? null) : null
    return async tx => {
      const more = price && price.monthlyMicros > (server.priceMicros ?? 0) ? await this.#reserve(tx, account.id, price) : []
      if (more instanceof Problem) return await this.#failed(server, more, unchanged)(tx)
      return { result: { state: { ...next, ref }, ...(isNew && { step: 'create' }) }, notices: more }
    }
  }

  /** The location to create the server in: the ordered one, or an alternative. */
  #location({ location }: State): string | null {
    const { order } = this.work.input
    return [order!.location, ...order!.fallbackLocations][location]!
  }

  /** Reserves a price that rose, within what was accepted. Returns why it may not be paid. */
  async #reserve(tx: Tx, accountId: string, price: Price): Promise<NoticeDraft[] | Problem> {
    const max = this.work.input.maxPriceMicros ?? price.monthlyMicros
    const accepted = { max_monthly_price: amountOf(max), currency: price.currency }
    try {
      const notices = await requireSpend(tx, await lockAccount(tx, accountId), price, accepted, { replaces: this.#serverId })
      const columns = { priceMicros: price.monthlyMicros, priceAt: this.hub.clock.now() }
      await tx.update(servers).set(columns).where(eq(servers.id, this.#serverId))
      return notices
    } catch (error) {
      if (error instanceof Problem) return error
      throw error
    }
  }

  async #send(cloud: Cloud, server: ServerRow, state: State): Promise<CommitChunk<State>> {
    const { verb, command } = this.work.input
    if (verb === 'provision') return await this.#provision(cloud, server, state)
    const ref = server.providerRef ?? (await this.#findRef(cloud, server))
    if (ref === null) return this.#gone(server)
    // Its ref can have been used again by another server.
    const seen = await seenAt(cloud, server, ref)
    if (seen === null) return this.#gone(server)
    const isReusable = cloud.reserveRef !== undefined || seen.ref === seen.name
    if (isReusable && destructive.has(verb) && server.origin === 'made' && seen.mark === null)
      return this.#failed(
        server,
        new Problem(
          'conflict',
          `What has the ID ${ref} at the cloud is not marked as this server, so it may be another one. Nothing was changed.`,
        ),
        seen,
      )
    const mayBeSent = state.isUncertain || this.work.isRepeated
    if (mayBeSent && !verbRules[verb].isRepeatable) {
      if (!cloud.findOperation)
        return this.#failed(
          server,
          new Problem('interrupted', 'The connection was lost while the request was sent, so it may have been carried out.'),
          seen,
        )
      const operation = await cloud.findOperation(ref, verb, state.sentAt)
      if (operation) return this.#polling(state, operation)
    }
    const isRebuild = command!.verb === 'rebuild' && this.work.input.sendsUserData
    const sent = isRebuild ? { ...command!, userData: await openUserData(this.hub, server) } : command!
    return this.#started(server, state, await cloud.start(ref, sent as ServerCommand))
  }

  /** The ref of a server that may have been created, although its creation failed. */
  async #findRef(cloud: Cloud, server: ServerRow): Promise<string | null> {
    const found = await cloud.find({ mark: server.id, name: server.name, ref: null })
    return found?.mark === server.id ? found.ref : null
  }

  /** Creates the server, or adopts the one that an earlier run created. */
  async #provision(cloud: Cloud, server: ServerRow, state: State): Promise<CommitChunk<State>> {
    const order = await this.#order(server, state)
    const found = await cloud.find(order)
    if (found?.mark === server.id) {
      const started = await cloud.continueProvision?.(found.ref, order)
      return started ? this.#started(server, state, { ref: found.ref, ...started }) : this.#polling(state, null, found.ref)
    }
    if (found) return await this.#taken(cloud, server, state, found)
    return this.#started(server, state, await cloud.start(null, { verb: 'provision', order }))
  }

  /** The name or the ref belongs to another server. */
  async #taken(cloud: Cloud, server: ServerRow, state: State, found: CloudServer): Promise<CommitChunk<State>> {
    if (!cloud.reserveRef || found.ref !== state.ref)
      return this.#failed(
        server,
        new Problem('already_exists', `A server named ${server.name} exists at the cloud already.`),
        null,
      )
    if (state.taken >= maxTakenRefs)
      return this.#failed(server, new Problem('already_exists', 'Others took every ID that the cloud proposed.'), null)
    const ref = await cloud.reserveRef()
    return async () => ({ result: { state: { ...state, ref, taken: state.taken + 1 } } })
  }

  async #order(server: ServerRow, state: State): Promise<ServerOrder> {
    const { fallbackLocations: _, ...order } = this.work.input.order!
    return { ...order, userData: await openUserData(this.hub, server), ref: state.ref, location: this.#location(state) }
  }

  #started(server: ServerRow, state: State, started: Started): Promise<CommitChunk<State>> | CommitChunk<State> {
    if (started.state === 'running') return this.#polling(state, started.operation, started.ref)
    return this.#finish(server, started.ref ?? server.providerRef ?? state.ref, started.unchanged ?? false)
  }

  #polling(state: State, operation: Operation | null, ref?: string): CommitChunk<State> {
    return async tx => {
      if (ref !== undefined) await tx.update(servers).set({ providerRef: ref }).where(eq(servers.id, this.#serverId))
      return { result: { state: { ...state, phase: 'poll', operation, attempts: 0 }, at: this.#after(0), step: 'wait' } }
    }
  }

  async #poll(cloud: Cloud, server: ServerRow, state: State): Promise<CommitChunk<State>> {
    if (this.hub.clock.now() > state.deadline)
      return this.#failed(
        server,
        new Problem('provider_failed', 'The cloud did not finish in time.', { fields: { failure: 'timeout' } }),
        server.providerRef === null ? null : await seenAt(cloud, server, server.providerRef),
      )
    if (state.operation === null) return await this.#look(cloud, server, state)
    const polled = await cloud.poll(state.operation)
    if (polled.state === 'done') return await this.#finish(server, polled.ref ?? server.providerRef, false)
    if (polled.state === 'gone') return await this.#look(cloud, server, { ...state, operation: null })
    const { operation, progress, detail, ref } = polled
    // Pauses only grow while nothing happens.
    const attempts = isDeepStrictEqual(operation, state.operation) ? state.attempts : 0
    return this.#again(
      { ...state, operation, attempts },
      { ...(progress !== undefined && { progress }), ...(detail !== undefined && { detail }) },
      ref,
    )
  }

  /** Concludes from the server itself how far the action is. */
  async #look(cloud: Cloud, server: ServerRow, state: State): Promise<CommitChunk<State>> {
    const { verb } = this.work.input
    const seen = server.providerRef === null ? null : await seenAt(cloud, server, server.providerRef)
    const { endsIn } = verbRules[verb]
    const isDone = verb === 'delete' ? seen === null : seen !== null && (endsIn === null || endsIn.includes(seen.status))
    if (isDone) return this.#done(server, seen, false)
    return seen === null ? this.#gone(server) : this.#again(state)
  }

  /** The server doesn’t exist any more. */
  #gone(server: ServerRow): CommitChunk<State> {
    return this.work.input.verb === 'delete'
      ? this.#done(server, null, true)
      : this.#failed(server, new Problem('not_found', 'The server no longer exists at the cloud.'), null)
  }

  #again(state: State, progress: ProgressReport = {}, ref?: string): CommitChunk<State> {
    return async tx => {
      if (ref !== undefined) await tx.update(servers).set({ providerRef: ref }).where(eq(servers.id, this.#serverId))
      return { result: { state: { ...state, attempts: state.attempts + 1 }, at: this.#after(state.attempts), ...progress } }
    }
  }

  #after(attempts: number): number {
    return this.hub.clock.now() + pausesMs[Math.min(attempts, pausesMs.length - 1)]!
  }

  async #afterError(error: CloudError, account: CloudAccountRow, server: ServerRow, state: State): Promise<CommitChunk<State>> {
    const { verb } = this.work.input
    const now = this.hub.clock.now()
    const isSending = state.phase === 'send'
    const isUncertain = isSending && mayHaveApplied(error)
    if (verb === 'delete' && error.failure === 'not_found') return this.#done(server, null, false)
    // An operation that ended because something else was locked has failed for good.
    const isPassing = (passing.has(error.failure) && (isSending || error.failure !== 'locked')) || isUncertain
    if (isPassing && now < state.deadline) {
      const at = Math.max(this.#after(state.attempts), now + (error.retryAfterMs ?? 0))
      const next = { ...state, attempts: state.attempts + 1, isUncertain: state.isUncertain || isUncertain }
      return async () => ({ result: { state: next, at, detail: error.message } })
    }
    if (verb === 'provision' && isSending) {
      // Another server has the name or the ref, or an earlier request of ours created it: the next look tells.
      if (error.failure === 'already_exists' && state.taken < maxTakenRefs)
        return async () => ({ result: { state: { ...state, taken: state.taken + 1, isUncertain: true } } })
    }
    if (verb === 'provision' && error.failure === 'out_of_stock') {
      const { fallbackLocations } = this.work.input.order!
      const location = fallbackLocations[state.location]
      if (location !== undefined) return this.#elsewhere({ ...state, location: state.location + 1 }, `Trying ${location}`)
    }
    // Where the ref is our choice, another server took it before its turn came.
    if (verb === 'provision' && state.phase === 'poll' && state.ref !== null && error.failure === 'already_exists')
      return async tx => {
        await tx.update(servers).set({ providerRef: null }).where(eq(servers.id, this.#serverId))
        return { result: { state: { ...state, phase: 'prepare', ref: null, operation: null }, at: this.#after(0) } }
      }
    const problem = new Problem('provider_failed', error.message, { fields: { failure: error.failure } })
    const mayExist = verb === 'provision' && (state.isUncertain || isUncertain || this.work.isRepeated)
    const seen = await this.#seen(account, server)
    return this.#failed(server, problem, seen === null && mayExist ? undefined : seen)
  }

  /** Creates the server in another location. */
  #elsewhere(state: State, detail: string): CommitChunk<State> {
    return async tx => {
      await tx.update(servers).set({ providerRef: null }).where(eq(servers.id, this.#serverId))
      return { result: { state: { ...state, phase: 'prepare', operation: null, attempts: 0 }, detail } }
    }
  }

  /** The server as it is now; null if it does not exist, and undefined if it can't be read. */
  async #seen(account: CloudAccountRow, server: ServerRow): Promise<CloudServer | null | undefined> {
    if (server.providerRef === null) return null
    try {
      return await seenAt(await openCloud(this.hub, account, true), server, server.providerRef)
    } catch (error) {
      if (error instanceof CloudError) return undefined
      throw error
    }
  }

  async #finish(server: ServerRow, ref: string | null, isUnchanged: boolean): Promise<CommitChunk<State>> {
    const [account] = await this.hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, server.accountId!))
    const seen = ref === null || !account ? null : await seenAt(await openCloud(this.hub, account, true), server, ref)
    return this.#done(server, seen, isUnchanged)
  }

  /** Ends the action successfully. */
  #done(server: ServerRow, seen: CloudServer | null, isUnchanged: boolean): CommitChunk<State> {
    const { verb, prices } = this.work.input
    return async tx => {
      const isDeleted = verb === 'delete'
      const columns = {
        ...(isDeleted ? deleted(this.hub.clock.now()) : seenColumns(seen)),
        ...(verb === 'provision' && { order: null }),
        ...(verb !== 'provision' && prices && { priceMicros: prices.after }),
      }
      return await this.#end(tx, server, columns, { done: isUnchanged ? { unchanged: true } : {} })
    }
  }

  /** Ends the action with an error. A server that could not be created is a draft again. */
  #failed(server: ServerRow, problem: Problem, seen: CloudServer | null | undefined): CommitChunk<State> {
    const { verb, prices } = this.work.input
    return async tx => {
      const isDraft = verb === 'provision' && seen === null
      const columns: Partial<ServerRow> = isDraft
        ? { status: 'draft', power: 'unknown', providerRef: null }
        : seen
          ? { ...seenColumns(seen), order: null }
          : { status: 'error', power: 'unknown' }
      // A server that may exist may also cost something.
      const isFree = isDraft || (verb !== 'provision' && prices !== null && seen !== undefined)
      return await this.#end(
        tx,
        server,
        { ...columns, ...(isFree && { priceMicros: prices?.before ?? null }) },
        { failed: problem },
      )
    }
  }

  #end(tx: Tx, { id }: ServerRow, columns: Partial<ServerRow>, next: Next<State>): Promise<RecordResult<Next<State>>> {
    return endOnServer(tx, this.hub, id, this.work.input.verb, columns, next)
  }
}

const destructive: ReadonlySet<ServerVerb> = new Set(['delete', 'rebuild'])

const passing = new Set(['throttled', 'locked', 'unreachable', 'timeout', 'incomplete'])

const deleted = (now: number): Partial<ServerRow> => ({
  status: 'deleted',
  power: 'unknown',
  deletedAt: now,
  order: null,
  priceMicros: null,
})

/** The server with a ref; null if there is none, or another one. */
async function seenAt(cloud: Cloud, server: ServerRow, ref: string): Promise<CloudServer | null> {
  const seen = await cloud.get(ref)
  return seen && !isAnother(server, seen) ? seen : null
}

/** The columns that follow from what a cloud reports; none if it could not be read. */
export const seenColumns = (seen: CloudServer | null): Partial<ServerRow> =>
  seen === null
    ? {}
    : {
        cloud: seen,
        providerRef: seen.ref,
        name: seen.name,
        kind: seen.kind,
        status: seen.status,
        power: seen.power,
        location: seen.location,
        image: seen.image,
      }

/** Why a server may not be bought at its current price; null if it may. */
function priceProblem(price: Price | null, maxMicros: number, currency: string | null): Problem | null {
  if (price === null) return new Problem('price_unknown', 'The price is not known any more. Nothing was bought.')
  if (price.currency !== currency)
    return new Problem('price_unknown', `The price is now in ${price.currency}, not in ${currency}. Nothing was bought.`)
  if (price.monthlyMicros <= maxMicros) return null
  return new Problem(
    'price_above_maximum',
    `The price rose to ${amountOf(price.monthlyMicros)} ${price.currency} per month, above the maximum of ${amountOf(maxMicros)}. Nothing was bought.`,
    { fields: { price: amountOf(price.monthlyMicros), maximum: amountOf(maxMicros), currency: price.currency } },
  )
}
