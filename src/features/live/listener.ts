import { EventStream } from '../../api/event-stream'
import { Problem } from '../../core/problem'
import type { Change } from './shapes'
import { visibleChanges, type Access, type NewChanges } from './visible-changes'

/** Maximum number of changes in one event. If there are more, the client has to reload everything. */
export const maxChanges = 200

/** A position in the changes of a workspace: in its audit log, and in the batches of hints, which each log tail numbers itself. */
export interface Position {
  seq: number
  batch: number
}

/** A client that streams changes. */
export class Listener {
  readonly stream: EventStream
  /** The last position sent. */
  position: Position = { seq: 0, batch: 0 }
  /** The log tail skips a listener that is catching up on missed changes. */
  isCatchingUp = true
  /** Name of the log tail that numbers the batches. */
  tail = ''
  /** Watched ids, in the order of `watchKinds`. */
  watches: readonly (readonly string[])[] = []

  /**
   * @param holder the session or token, for the limit of streams per credential
   * @param reauthenticate returns the current access; throws a Problem if the credential is no longer valid
   */
  constructor(
    readonly workspaceId: string,
    readonly holder: string,
    public access: Access,
    private readonly reauthenticate: () => Promise<Access>,
    ended: (listener: Listener) => void,
  ) {
    this.stream = new EventStream(() => ended(this))
  }

  /** Sends changes and moves to a position. @param cache visible changes of other listeners, by their permissions */
  notify(news: NewChanges, position: Position, cache = new Map<unknown, Change[]>()): void {
    const isCacheable = this.access.resourceIds === null
    const changes = (isCacheable && cache.get(this.access.permissions)) || visibleChanges(news, this.access)
    if (isCacheable) cache.set(this.access.permissions, changes)
    if (changes.length > maxChanges) return this.reset(position)
    this.position = position
    if (changes.length > 0) this.stream.send('change', { changes }, this.eventId)
  }

  /** Tells the client to reload everything. */
  reset(position: Position): void {
    this.position = position
    this.stream.send('reset', {}, this.eventId)
  }

  /** The position as an event id, with which the client can resume. */
  get eventId(): string {
    return `${this.position.seq}-${this.tail}-${this.position.batch}`
  }

  /** Updates the access. Sends `reset` if the permissions changed, and closes the stream if the credential is no longer valid. */
  async recheck(): Promise<void> {
    try {
      const { permissions, resourceIds } = await this.reauthenticate()
      const hasChanged = permissions.symmetricDifference(this.access.permissions).size > 0
      this.access = { permissions, resourceIds }
      if (hasChanged) this.reset(this.position)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      this.stream.close()
    }
  }
}
