import { EventStream } from '../../access/event-stream'
import { Problem } from '../../core/problem'
import type { Change } from './shapes'
import { changesIn, type Hearing, type News } from './told'

/** Changes in one event at most: of more the page that listens reads anew what it shows. */
export const mostChanges = 200

/** A place in what is told of a workspace: in its audit log, and among the rounds of touches, which one tail of it counts. */
export interface Place {
  seq: number
  round: number
}

/** One who listens: a stream, and what may be told over it. */
export class Listener {
  readonly stream: EventStream
  /** Up to where it was told of. */
  place: Place = { seq: 0, round: 0 }
  /** While it is told of what it missed, the log's tail passes it by. */
  isBehind = true
  /** Names the tail whose rounds its place is of. */
  tail = ''
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

  /** Tells it news, after which it has come to a place. @param known what others were told of the same news, by what they may hear of */
  tell(news: News, place: Place, known = new Map<unknown, Change[]>()): void {
    const isShared = this.hearing.resourceIds === null
    const changes = (isShared && known.get(this.hearing.permissions)) || changesIn(news, this.hearing)
    if (isShared) known.set(this.hearing.permissions, changes)
    if (changes.length > mostChanges) return this.reset(place)
    this.place = place
    if (changes.length > 0) this.stream.send('change', { changes }, this.position)
  }

  /** Says that everything is to be read anew. */
  reset(place: Place): void {
    this.place = place
    this.stream.send('reset', {}, this.position)
  }

  /** Its place in words, for the client to come back with. */
  get position(): string {
    return `${this.place.seq}-${this.tail}-${this.place.round}`
  }

  /** Holds it to what may be told by now, and says so where that is another; ends it where nothing may. */
  async recheck(): Promise<void> {
    try {
      const { permissions, resourceIds } = await this.again()
      const isOther = permissions.symmetricDifference(this.hearing.permissions).size > 0
      this.hearing = { permissions, resourceIds }
      if (isOther) this.reset(this.place)
    } catch (error) {
      if (!(error instanceof Problem)) throw error
      this.stream.close()
    }
  }
}
