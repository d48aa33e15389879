import { isDeepStrictEqual } from 'node:util'
import { eq } from 'drizzle-orm'
import type { AuditAction } from '../../../core/audit-actions'
import type { RecordResult } from '../../../core/change-result'
import type { Tx } from '../../../core/db/transaction'
import type { NoticeDraft } from '../../../core/notices'
import { Problem } from '../../../core/problem'
import type { ActionKind, CommitChunk, Next } from '../../actions/kind'
import { readCatalog, readPrices } from '../accounts/catalog'
import { cloudAccounts } from '../accounts/tables'
import type { CloudAccountRow } from '../accounts/view'
import { cloudKindOf } from '../clouds'
import {
  type CloudError,
  serverVerbs,
  type Cloud,
  type CloudServer,
  type Price,
  type ServerOrder,
  type ServerVerb,
} from '../clouds/cloud'
import { isLabeled } from '../clouds/label-change'
import { stageAtServer } from '../firewalls/enforce'
import type { Followed } from '../firewalls/selectors'
import { attachOrdered, hasCloudFirewalls, hasOrderedFirewalls, orderedFirewalls, orderedState } from '../firewalls/ordered'
import { priceOf } from '../order'
import { priceProblem } from '../price-problem'
import { isAnother, isSurelySame, withIdentity } from '../same-server'
import { allowRise } from '../spend'
import { servers } from '../tables'
import { openUserData } from '../user-data'
import type { ServerRow } from '../view'
import { forgetStorage, readSnapshot, releaseSnapshots } from '../snapshots/snapshot-state'
import { snapshots } from '../snapshots/tables'
import { releaseOrderedVolumes } from '../volumes/ordered'
import { runByAgent } from './by-agent'
import { runByController } from './by-controller'
import { endOnServer } from './end-on-server'
import { maybeCarriedOut } from './attempts'
import { CloudAction, type CloudActionState } from './engine'
import type { PlainCommand, ServerActionInput } from './input'
import { limitOf, verbRules } from './verbs'

type State = CloudActionState

const steps = ['check_price', 'create', 'wait', 'firewalls'] as const

/** How long clouds may take to give a server its firewalls, in milliseconds. */
const firewallMs = 5 * 60_000

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
  run: (hub, work) => {
    if (work.input.via === 'cloud') return new ServerAction(hub, work).run()
    return work.input.via === 'agent' ? runByAgent(hub, work) : runByController(hub, work)
  },
})

export const serverActionKinds = serverVerbs.map(serverActionKind)

type Priced = NonNullable<ServerActionInput['priced']>

const maxTakenRefs = 20

/** A chunk of an action on a server. */
class ServerAction extends CloudAction<ServerActionInput, ServerRow, CloudServer> {
  protected readonly noun = 'server'

  protected async load() {
    const [found] = await this.hub.read
      .select({ row: servers, account: cloudAccounts })
      .from(servers)
      .innerJoin(cloudAccounts, eq(cloudAccounts.id, servers.accountId))
      .where(eq(servers.id, this.id))
    return found ?? null
  }

  /** What is carried out one after another; null is the creation of the server. */
  get #commands(): readonly (PlainCommand | null)[] {
    const { before = [], command, after = [] } = this.work.input
    return [...before, command, ...after]
  }

  #verbAt(at: number): ServerVerb {
    return this.#commands[at]?.verb ?? 'provision'
  }

  protected limitMs(at: number): number {
    return limitOf({ verb: this.#verbAt(at), command: this.#commands[at] ?? null })
  }

  protected isCreation(at: number): boolean {
    return this.#verbAt(at) === 'provision'
  }

  protected isDeletion(at: number): boolean {
    return this.#verbAt(at) === 'delete'
  }

  protected async saveRef(tx: Tx, ref: string | null): Promise<void> {
    await tx.update(servers).set({ providerRef: ref }).where(eq(servers.id, this.id))
  }

  protected async seenAt(cloud: Cloud, server: ServerRow, ref: string): Promise<CloudServer | null> {
    const seen = await cloud.get(ref)
    return seen && sameServer(server, seen)
  }

  protected hasEnded(seen: CloudServer, at: number): boolean {
    const { endsIn } = verbRules[this.#verbAt(at)]
    return (endsIn === null || endsIn.includes(seen.status)) && isAsAsked(seen, this.#commands[at] ?? null)
  }

  protected isRepeatable(at: number): boolean {
    return verbRules[this.#verbAt(at)].isRepeatable
  }

  /** Checks the price, and reserves a ref. */
  protected async prepare(cloud: Cloud, account: CloudAccountRow, server: ServerRow, state: State): Promise<CommitChunk<State>> {
    const { maxPriceMicros, priced } = this.work.input
    const next: State = { ...state, phase: 'send', sentAt: this.hub.clock.now(), attempts: 0 }
    const isNew = this.isCreation(state.at)
    if (isNew) await this.work.report({ step: 'check_price' })
    const kind = cloudKindOf(account.kind)!
    const location = isNew ? this.#location(state) : (priced?.location ?? null)
    const isPriced = kind.capabilities.hasPrices && priced !== null
    const price = isPriced ? await this.#priceNow(cloud, account, { ...priced, location }) : null
    const problem = isPriced && maxPriceMicros !== null ? priceProblem(price, maxPriceMicros, server.priceCurrency) : null
    const unchanged = isNew ? null : server.cloud
    if (problem) return this.failed(server, problem, unchanged, state)
    const ref = isNew ? ((await cloud.reserveRef?.()) ?? null) : null
    return async tx => {
      const more = price && price.monthlyMicros > (server.priceMicros ?? 0) ? await this.#reserve(tx, account.id, price) : []
      if (more instanceof Problem) return await this.failed(server, more, unchanged, state)(tx)
      return { result: { state: { ...next, ref }, ...(isNew && { step: 'create' }) }, notices: more }
    }
  }

  async #priceNow(cloud: Cloud, account: CloudAccountRow, priced: Priced): Promise<Price | null> {
    const { size } = priced
    const catalog = await (typeof size === 'string'
      ? readPrices(this.hub, account, cloud, size)
      : readCatalog(this.hub, account, false))
    return priceOf(cloudKindOf(account.kind)!, catalog, priced)
  }

  /** The location to create the server in: the ordered one, or an alternative. */
  #location({ location }: State): string | null {
    const { order } = this.work.input
    return [order!.location, ...order!.fallbackLocations][location]!
  }

  /** Reserves a price that rose, within what was accepted. Returns why it may not be paid. */
  async #reserve(tx: Tx, accountId: string, price: Price): Promise<NoticeDraft[] | Problem> {
    const max = this.work.input.maxPriceMicros ?? price.monthlyMicros
    const allowed = await allowRise(tx, accountId, price, max, this.id)
    if (allowed instanceof Problem) return allowed
    const columns = { priceMicros: price.monthlyMicros, priceAt: this.hub.clock.now() }
    await tx.update(servers).set(columns).where(eq(servers.id, this.id))
    return allowed
  }

  protected async send(cloud: Cloud, server: ServerRow, state: State): Promise<CommitChunk<State>> {
    const command = this.#commands[state.at] ?? null
    if (command === null) return await this.#provision(cloud, server, state)
    const { verb } = command
    const ref = server.providerRef ?? (await this.findCreated(cloud, server))?.ref ?? null
    if (ref === null) return await this.gone(server, state)
    // Its ref can have been used again by another server.
    const there = await cloud.get(ref)
    const seen = there && sameServer(server, there)
    if (there === null || seen === null) return await this.gone(server, state)
    const isReusable = cloud.reserveRef !== undefined || seen.ref === seen.name
    if (isReusable && destructive.has(verb) && !isSurelySame(server, there))
      return this.failed(
        server,
        new Problem(
          'conflict',
          `What has the ID ${ref} at the cloud is not marked as this server, so it may be another one. Nothing was changed.`,
        ),
        seen,
        state,
      )
    const mayBeSent = state.isUncertain || this.work.isRepeated
    if (mayBeSent && !this.isRepeatable(state.at)) {
      if (!cloud.findOperation) return this.failed(server, maybeCarriedOut(), seen, state)
      const operation = await cloud.findOperation(ref, verb, state.sentAt)
      if (operation) return this.polling(state, operation)
    }
    const isRebuild = command.verb === 'rebuild' && this.work.input.sendsUserData
    const sent = isRebuild ? { ...command, userData: await openUserData(this.hub, server) } : command
    return this.started(cloud, server, state, await cloud.start(ref, sent))
  }

  /** The server, which may have been created although its creation failed. */
  protected async findCreated(cloud: Cloud, server: ServerRow): Promise<CloudServer | null> {
    const found = await cloud.find({ mark: server.id, name: server.name, ref: null })
    return found?.mark === server.id ? found : null
  }

  /** Creates the server, or adopts the one that an earlier run created. */
  async #provision(cloud: Cloud, server: ServerRow, state: State): Promise<CommitChunk<State>> {
    const order = await this.#order(server, state)
    const found = await cloud.find(order)
    if (found?.mark === server.id) {
      const difference = differenceOf(found, this.work.input.order!)
      if (difference !== null)
        return this.failed(
          server,
          new Problem(
            'conflict',
            `An earlier order of this server was carried out after all, with ${difference}. Nothing more was bought.`,
          ),
          found,
          state,
        )
      const started = await cloud.continueProvision?.(found.ref, order)
      return started ? this.started(cloud, server, state, { ref: found.ref, ...started }) : this.polling(state, null, found.ref)
    }
    if (found) return await this.#taken(cloud, server, state, found)
    return this.started(cloud, server, state, await cloud.start(null, { verb: 'provision', order }))
  }

  /** The name or the ref belongs to another server. */
  async #taken(cloud: Cloud, server: ServerRow, state: State, found: CloudServer): Promise<CommitChunk<State>> {
    if (!cloud.reserveRef || found.ref !== state.ref)
      return this.failed(
        server,
        new Problem('already_exists', `A server named ${server.name} exists at the cloud already.`),
        null,
        state,
      )
    if (state.taken >= maxTakenRefs)
      return this.failed(server, new Problem('already_exists', 'Others took every ID that the cloud proposed.'), null, state)
    const ref = await cloud.reserveRef()
    return async () => ({ result: { state: { ...state, ref, taken: state.taken + 1 } } })
  }

  async #order(server: ServerRow, state: State): Promise<ServerOrder> {
    const { fallbackLocations: _, ...order } = this.work.input.order!
    const [account] = await this.hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, server.accountId!))
    const firewalls = await orderedFirewalls(this.hub.read, cloudKindOf(account!.kind)!, server)
    return {
      ...order,
      firewalls,
      userData: await openUserData(this.hub, server),
      ref: state.ref,
      location: this.#location(state),
    }
  }

  protected override alternative(error: CloudError, state: State): CommitChunk<State> | null {
    if (this.#verbAt(state.at) !== 'provision') return null
    // Another server has the name or the ref, or an earlier request of ours created it: the next look tells.
    if (state.phase === 'send' && error.failure === 'already_exists' && state.taken < maxTakenRefs)
      return async () => ({ result: { state: { ...state, taken: state.taken + 1, isUncertain: true } } })
    // Where the ref is our choice, another server took it before its turn came.
    if (state.phase === 'poll' && state.ref !== null && error.failure === 'already_exists')
      return async tx => {
        await this.saveRef(tx, null)
        return { result: { state: { ...state, phase: 'prepare', ref: null, operation: null }, at: this.after(0) } }
      }
    if (error.failure !== 'out_of_stock') return null
    const location = this.work.input.order!.fallbackLocations[state.location]
    return location === undefined ? null : this.#elsewhere({ ...state, location: state.location + 1 }, `Trying ${location}`)
  }

  /** Creates the server in another location. */
  #elsewhere(state: State, detail: string): CommitChunk<State> {
    return async tx => {
      await tx.update(servers).set({ providerRef: null }).where(eq(servers.id, this.id))
      return { result: { state: { ...state, phase: 'prepare', operation: null, attempts: 0 }, detail } }
    }
  }

  /** Ends the action successfully, unless there are more commands. */
  protected async done(
    server: ServerRow,
    seen: CloudServer | null,
    isUnchanged: boolean,
    state: State,
  ): Promise<CommitChunk<State>> {
    const { verb, prices } = this.work.input
    const command = this.#commands[state.at]
    const taken = command?.verb === 'snapshot' ? await readSnapshot(this.hub, server, command.order) : null
    if (command?.verb === 'snapshot' && !taken)
      return this.failed(server, new Problem('not_found', 'The snapshot does not exist at the cloud.'), seen, state)
    const waiting = seen ? await this.#firewalls(server, seen, state) : null
    if (waiting) return waiting
    // Nothing that follows may disturb it.
    const isUnfinished = taken?.state === 'creating'
    const wait = this.again({ ...state, phase: 'poll', operation: null })
    const next = state.at + 1
    return async tx => {
      if (taken) await tx.update(snapshots).set(taken).where(eq(snapshots.id, taken.id))
      if (isUnfinished) return await wait(tx)
      if (next < this.#commands.length) return { result: { state: this.continueAt(next, state.failure) } }
      const isDeleted = verb === 'delete'
      const removed = command?.verb === 'set_labels' ? command.labels.remove : []
      if (isDeleted) await forgetStorage(tx, this.id)
      const columns = {
        ...(isDeleted ? deleted(this.hub.clock.now()) : seenColumns(seen)),
        // The next sync attaches the firewalls of a server that can’t be read yet.
        ...(verb === 'provision' && seen && { order: null }),
        ...(removed.length > 0 && { removedLabels: await this.#stillRemoved(tx, removed) }),
        ...(verb !== 'provision' && prices && { priceMicros: prices.after }),
      }
      const { failure } = state
      const failed = failure && new Problem(failure.code as 'conflict', failure.detail, { fields: { failure: failure.failure } })
      return await this.#end(tx, server, columns, failed ? { failed } : { done: isUnchanged ? { unchanged: true } : {} })
    }
  }

  /** Labels that are still to be removed at the cloud, as some were. */
  async #stillRemoved(tx: Tx, removed: readonly string[]): Promise<string[]> {
    const [row] = await tx.select({ keys: servers.removedLabels }).from(servers).where(eq(servers.id, this.id))
    return (row?.keys ?? []).filter(one => !removed.includes(one))
  }

  /**
   * Gives a new server its firewalls, or one whose snapshot was restored, and with it the network interfaces of that time. Returns null
   * once it has them, or if there are none.
   */
  async #firewalls(server: ServerRow, seen: CloudServer, state: State): Promise<CommitChunk<State> | null> {
    const { hub } = this
    const isNew = this.isCreation(state.at)
    if (!isNew && this.#verbAt(state.at) !== 'restore_snapshot') return null
    const wait: State = { ...state, phase: 'poll', operation: null }
    if (state.firewallsUntil === null) {
      const hasFirewalls = isNew ? hasOrderedFirewalls(hub.read, server) : hasCloudFirewalls(hub.read, server.id)
      if (!(await hasFirewalls)) return null
      const created = { ...server, providerRef: seen.ref }
      return async tx => {
        await this.saveRef(tx, seen.ref)
        const next: State = { ...wait, attempts: 0, firewallsUntil: hub.clock.now() + firewallMs }
        if (!isNew) return { result: { state: next, at: this.after(0) }, jobs: await stageAtServer(tx, server.id) }
        const { problem, ...attached } = await attachOrdered(tx, created)
        if (problem === null) return { result: { state: next, at: this.after(0), step: 'firewalls' }, ...attached }
        const ended = await this.failed(server, new Problem('conflict', `The server was created. ${problem}`), seen, next)(tx)
        return withFollowed(ended, attached)
      }
    }
    const needsRunning = await this.#needsRunning(server)
    if (isNew && needsRunning && !this.work.input.order!.start) return null
    const { error, isApplied } = await orderedState(hub.read, server.id, isNew)
    if (error === null && isApplied) return null
    // The next reading after it was started applies them.
    if (error !== null && !isNew && needsRunning && seen.status === 'off') return null
    if (error === null && hub.clock.now() < state.firewallsUntil) return this.again(wait)
    const detail = `The ${isNew ? 'server was created' : 'snapshot was restored'}. ${error ?? 'Its firewalls could not be applied in time.'}`
    return this.failed(server, new Problem('provider_failed', detail), seen, state)
  }

  /** Whether the cloud only sets firewalls of servers that run. A new one that is not to be started has only those that select it. */
  async #needsRunning(server: ServerRow): Promise<boolean> {
    const [account] = await this.hub.read.select().from(cloudAccounts).where(eq(cloudAccounts.id, server.accountId!))
    return cloudKindOf(account!.kind)!.capabilities.firewallsOfNew === 'running'
  }

  /**
   * Ends the action with an error. A server that could not be created is a draft again, and one that was switched off for the action is
   * switched on again.
   */
  protected failed(server: ServerRow, problem: Problem, seen: CloudServer | null | undefined, state: State): CommitChunk<State> {
    const { verb, prices, after, statusBefore } = this.work.input
    const last = this.#commands.length - 1
    const { failure: why } = problem.extras.fields ?? {}
    const failure = { code: problem.code, detail: problem.detail, failure: (why ?? null) as string | null }
    return async tx => {
      if (after?.length && state.at > 0 && state.at < last) return { result: { state: this.continueAt(last, failure) } }
      // What an earlier order created may still appear.
      const isDraft = verb === 'provision' && seen === null && statusBefore !== 'error'
      const columns: Partial<ServerRow> = isDraft
        ? { status: 'draft', power: 'unknown', providerRef: null }
        : seen
          ? { ...seenColumns(seen), order: null }
          : { status: 'error', power: 'unknown' }
      // A server that may exist may also cost something.
      const isFree = isDraft || (verb !== 'provision' && prices !== null && seen !== undefined)
      const isUnattached = this.isCreation(state.at) && state.firewallsUntil === null
      const attached = seen && isUnattached ? await this.#attach(tx, server, seen) : { jobs: [], audits: [] }
      const ended = await this.#end(
        tx,
        server,
        { ...columns, ...(isFree && { priceMicros: prices?.before ?? null }) },
        { failed: problem },
      )
      return withFollowed(ended, attached)
    }
  }

  /** Attaches the firewalls of its order to a server that exists although its creation failed. */
  async #attach(tx: Tx, server: ServerRow, seen: CloudServer): Promise<Followed> {
    await this.saveRef(tx, seen.ref)
    return await attachOrdered(tx, { ...server, providerRef: seen.ref })
  }

  async #end(tx: Tx, { id }: ServerRow, columns: Partial<ServerRow>, next: Next<State>): Promise<RecordResult<Next<State>>> {
    await releaseSnapshots(tx, this.work.actionId)
    const isThere = (columns.providerRef ?? null) !== null
    await releaseOrderedVolumes(tx, this.work.actionId, isThere ? id : null, this.hub.clock.now())
    const takesDown = this.#commands.some((_, at) => verbRules[this.#verbAt(at)].takesDown)
    return await endOnServer(tx, this.hub, id, this.work.input.verb, columns, next, takesDown)
  }
}

const withFollowed = <T>(ended: RecordResult<T>, { jobs, audits }: Followed): RecordResult<T> => ({
  ...ended,
  jobs: [...jobs, ...(ended.jobs ?? [])],
  audits: [...audits, ...(ended.audits ?? [])],
})

/** How what an order is to adopt differs from it, such as because an earlier order created it; null if it doesn't. */
function differenceOf(found: CloudServer, order: NonNullable<ServerActionInput['order']>): string | null {
  const { size, image, location, fallbackLocations } = order
  if (found.size !== null && 'slug' in size && size.slug !== found.size) return `the size ${found.size}`
  if (found.image !== null && found.image !== image) return `the image ${found.image}`
  if (found.location !== null && location !== null && ![location, ...fallbackLocations].includes(found.location))
    return `the location ${found.location}`
  return null
}

/** Whether a server has what a command changes, as far as the cloud reports that. */
function isAsAsked({ name, size, resources, labels, protection, backups }: CloudServer, command: PlainCommand | null): boolean {
  switch (command?.verb) {
    case 'rename':
      return name === command.name
    case 'resize': {
      const { size: wanted, upgradeDisk } = command
      if ('slug' in wanted) return size === wanted.slug
      const { cores, memoryBytes, diskBytes } = wanted
      const isLarge = !upgradeDisk || resources.diskBytes === null || resources.diskBytes >= diskBytes
      return (resources.cores ?? cores) === cores && (resources.memoryBytes ?? memoryBytes) === memoryBytes && isLarge
    }
    case 'set_labels':
      return isLabeled(labels, command.labels)
    case 'set_protection':
      return isDeepStrictEqual(protection, command.protection)
    case 'enable_backups':
    case 'disable_backups':
      return backups === (command.verb === 'enable_backups')
    default:
      return true
  }
}

const destructive: ReadonlySet<ServerVerb> = new Set(['delete', 'rebuild'])

const deleted = (now: number): Partial<ServerRow> => ({
  status: 'deleted',
  power: 'unknown',
  deletedAt: now,
  order: null,
  priceMicros: null,
})

const sameServer = (server: ServerRow, seen: CloudServer): CloudServer | null =>
  isAnother(server, seen) ? null : withIdentity(server, seen)

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
