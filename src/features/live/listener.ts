import { EventStream } from '../../access/event-stream'
import { Problem } from '../../core/problem'
import { changesIn, type Entry, type Hearing } from './told'

/** Changes in one event at most: of more the page that listens reads anew what it shows. */
export const mostChanges = 200

/** One who listens: a stream, and what may be told over it. */
export class Listener {
  readonly stream: EventStream
  /** Up to where in the log it was told of. */
  place = 0
  /** While it is told of what it missed, the log's tail passes it by. */
  isBehind = true
  /** What it watches, by the kind's place in `watchables`. */
  watches: readonly (readonly string[])[] = []

  /**
   * @param holder the session or token, of whose streams there may be so many
   * @param again what may be told by now; throws a Problem once nothing may
   */
  constructor(
    readonly workspaceId: string,
    readonly holder: string,
    public hearing: Hearing,
    private readonly again: () => Promise<Hearing>,
    ended: (listener: Listener) => void,
  ) {
    this.stream = new EventStream(() => ended(this))
  }

  /** Tells of the entries behind its place. @param known what others were told of the same entries, by what they may hear of */
  tell(entries: readonly Entry[], known = new Map<unknown, ReturnType<typeof changesIn>>()): void {
    const last = entries.at(-1)
    if (!last || last.seq <= this.place) return
    const fresh = entries[0]!.seq > this.place ? entries : entries.filter(one => one.seq > this.place)
    const isShared = fresh === entries && this.hearing.resourceIds === null
    const changes = (isShared && known.get(this.hearing.permissions)) || changesIn(fresh, this.hearing)
    if (isShared) known.set(this.hearing.permissions, changes)
    if (changes.length > mostChanges) return this.reset(last.seq)
    this.place = last.seq
    if (changes.length > 0) this.stream.send('change', { changes }, this.position)
  }

  /** Says that everything is to be read anew. */
  reset(place: number): void {
    this.place = place
    this.stream.send('reset', {}, this.position)
  }

  get position(): string {
    return String(this.place)
  }

  /** Holds it to what may be told by now; ends it where nothing may. */
  async recheck(): Promise<void> {
    try {
      const { permissions, resourceIds } = await this.again()
      this.hearing = { permissions, resourceIds }
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      this.stream.close()
    }
  }
}
