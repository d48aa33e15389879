import { addChangeHint } from '../../../core/change-hints'
import type { Tx } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import type { NoticeDraft } from '../../../core/notices'
import { Problem } from '../../../core/problem'
import type { CommitChunk, Work } from '../../actions/kind'
import type { CloudAccountRow } from '../accounts/view'
import type { Cloud, CloudStorage } from '../clouds/cloud'
import { maybeCarriedOut } from './attempts'
import { CloudAction, type CloudActionState } from './engine'

/** What an action on a volume or snapshot was asked to do. */
export type StorageInput<Command> = {
  command: Command
  /** What follows. */
  after?: Command
}

interface StorageRow {
  id: string
  providerRef: string | null
}

/** A kind of storage, as actions know it. */
interface StorageOf<Row extends StorageRow, Seen, Command> {
  noun: 'volume' | 'snapshot'
  storage(cloud: Cloud): CloudStorage<Seen, Command>
  load(id: string): Promise<{ row: Row; account: CloudAccountRow } | null>
  /** Whether a command has ended, as far as the resource tells. */
  hasEnded(seen: Seen, command: Command): boolean
  /** Whether a command may be sent again if it is not known whether it was carried out. By default, all may. */
  isRepeatable?(command: Command): boolean
  /** Checks what it costs now. @returns what reserves a price that rose; why it may not be done; null if there is nothing to do */
  checkPrice?(cloud: Cloud, account: CloudAccountRow, row: Row): Promise<Reservation | Problem | null>
  /**
   * Stores what the cloud reports at the end of the action; null if it doesn't exist, undefined if it is not known.
   * @param isUndone whether the action failed, and its outcome is known
   */
  save(tx: Tx, row: Row, seen: Seen | null | undefined, isUndone: boolean): Promise<unknown>
  remove(tx: Tx, row: Row): Promise<unknown>
  saveRef?(tx: Tx, id: string, ref: string | null): Promise<unknown>
}

/** Reserves a price. @returns notices, or why it may not be paid */
type Reservation = (tx: Tx) => Promise<NoticeDraft[] | Problem>

/** A command that creates something. */
interface Creation {
  order: { mark: string; name: string }
}

/** What a command creates; undefined if it creates nothing. */
const orderOf = (command: object): Creation['order'] | undefined => ('order' in command ? (command as Creation).order : undefined)

type State = CloudActionState

const limitMs = 30 * 60_000

/** A chunk of an action on a volume or snapshot. */
export class StorageAction<
  Row extends StorageRow,
  Seen extends { ref: string; mark: string | null },
  Command extends { verb: string },
  Input extends StorageInput<Command> = StorageInput<Command>,
> extends CloudAction<Input, Row, Seen> {
  protected readonly noun: string

  constructor(
    hub: Hub,
    work: Work<Input, State>,
    private readonly of: StorageOf<Row, Seen, Command>,
  ) {
    super(hub, work)
    this.noun = of.noun
  }

  #commandAt(at: number): Command {
    return at === 0 ? this.work.input.command : this.work.input.after!
  }

  protected load() {
    return this.of.load(this.id)
  }

  protected limitMs(): number {
    return limitMs
  }

  protected isCreation(at: number): boolean {
    return 'order' in this.#commandAt(at)
  }

  protected isDeletion(at: number): boolean {
    return this.#commandAt(at).verb === 'delete'
  }

  protected hasEnded(seen: Seen, at: number): boolean {
    return this.of.hasEnded(seen, this.#commandAt(at))
  }

  protected isRepeatable(at: number): boolean {
    return this.of.isRepeatable?.(this.#commandAt(at)) ?? true
  }

  protected async saveRef(tx: Tx, ref: string | null): Promise<void> {
    await this.of.saveRef?.(tx, this.id, ref)
  }

  protected async findCreated(cloud: Cloud): Promise<Seen | null> {
    const found = await this.of.storage(cloud).find(orderOf(this.work.input.command)!, null)
    return found?.mark === this.id ? found : null
  }

  protected async seenAt(cloud: Cloud, _row: Row, ref: string): Promise<Seen | null> {
    return await this.of.storage(cloud).get(ref)
  }

  protected async prepare(cloud: Cloud, account: CloudAccountRow, row: Row, state: State): Promise<CommitChunk<State>> {
    const refuse = (problem: Problem) => this.failed(row, problem, row.providerRef === null ? null : undefined, state)
    const reserve = state.at === 0 ? await this.of.checkPrice?.(cloud, account, row) : null
    if (reserve instanceof Problem) return refuse(reserve)
    const next: State = { ...state, phase: 'send', sentAt: this.hub.clock.now(), attempts: 0 }
    return async tx => {
      const reserved = reserve ? await reserve(tx) : []
      return reserved instanceof Problem ? await refuse(reserved)(tx) : { result: { state: next }, notices: reserved }
    }
  }

  /** Most commands look first, so that they can be repeated. What an earlier run created is adopted. */
  protected async send(cloud: Cloud, row: Row, state: State): Promise<CommitChunk<State>> {
    const command = this.#commandAt(state.at)
    const storage = this.of.storage(cloud)
    const order = orderOf(command)
    const mayBeSent = state.isUncertain || this.work.isRepeated
    if (mayBeSent && !this.isRepeatable(state.at)) return this.failed(row, maybeCarriedOut(), undefined, state)
    if (!order) return await this.started(cloud, row, state, await storage.start(row.providerRef, command))
    const found = await storage.find(order, null)
    if (found?.mark === row.id) return this.polling(state, null, found.ref)
    if (!found) return await this.started(cloud, row, state, await storage.start(null, command))
    const problem = new Problem('already_exists', `A ${this.noun} named ${order.name} exists at the cloud already.`)
    return this.failed(row, problem, null, state)
  }

  /** Lets pages that show it be reloaded. */
  #hint(tx: Tx): void {
    const { noun: type } = this.of
    addChangeHint(tx, { workspaceId: this.work.workspaceId, action: `cloud.${type}.follow`, type, id: this.id, parentId: null })
  }

  protected done(row: Row, seen: Seen | null, isUnchanged: boolean, state: State): CommitChunk<State> {
    const hasNext = this.work.input.after !== undefined && state.at === 0
    if (hasNext && seen === null)
      return this.failed(row, new Problem('not_found', `The ${this.noun} does not exist at the cloud.`), null, state)
    return async tx => {
      if (hasNext) {
        // A creation without an operation has not stored it yet.
        await this.saveRef(tx, seen!.ref)
        return { result: { state: this.continueAt(1) } }
      }
      await (this.isDeletion(state.at) ? this.of.remove(tx, row) : this.of.save(tx, row, seen, false))
      this.#hint(tx)
      return { result: { done: isUnchanged ? { unchanged: true } : {} } }
    }
  }

  protected failed(row: Row, problem: Problem, seen: Seen | null | undefined, { phase }: State): CommitChunk<State> {
    return async tx => {
      await this.of.save(tx, row, seen, seen !== undefined || phase === 'prepare')
      this.#hint(tx)
      return { result: { failed: problem } }
    }
  }
}
