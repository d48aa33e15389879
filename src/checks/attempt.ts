import type { Around, Facts } from './check'
import { noFacts } from './check'
import { CheckFailed, connectFailure } from './connect-failure'

/** Something that must not outlive its check. */
interface Closable {
  destroy(): unknown
}

/**
 * One run of a check while it goes on: the facts that it has found so far, and the connections that it holds. Steps of connecting and
 * talking write into the facts, so that a check that fails half way tells what came before.
 */
export class Attempt {
  readonly facts: Facts = noFacts()
  readonly startedAt: number
  /** When the target had answered all that was asked, where something comes after that does not count; else null. */
  answeredAt: number | null = null
  private readonly held = new Set<Closable>()
  /** Ends the waiting of each step that waits. */
  private readonly waiting = new Set<() => void>()

  constructor(readonly around: Around) {
    this.startedAt = around.now()
  }

  /** Destroys it when the check ends, however that comes about. */
  hold<T extends Closable>(one: T): T {
    if (this.around.signal.aborted) one.destroy()
    else this.held.add(one)
    return one
  }

  /**
   * Waits no longer than the check may take.
   * @param late what did not happen in time, as a sentence: `no answer to the greeting`
   * @throws CheckFailed `timeout`
   */
  within<T>(promise: Promise<T>, late: string): Promise<T> {
    const { signal } = this.around
    return new Promise((resolve, reject) => {
      const stop = () => reject(new CheckFailed('timeout', `${late} within the time limit`))
      void promise.then(
        value => {
          this.waiting.delete(stop)
          resolve(value)
        },
        error => {
          this.waiting.delete(stop)
          // Sockets are destroyed at the same moment: what they say of it is not why.
          if (signal.aborted) stop()
          else reject(error)
        },
      )
      if (signal.aborted) stop()
      else this.waiting.add(stop)
    })
  }

  /** Adds to a phase: redirects and further connections count together. */
  spent(phase: 'dns' | 'connect' | 'tls' | 'first_byte', since: number): void {
    this.facts.phases[phase] = (this.facts.phases[phase] ?? 0) + Math.max(0, this.around.now() - since)
  }

  /** Closes what it holds; it may go on with further connections. */
  close(): void {
    for (const one of this.held) one.destroy()
    this.held.clear()
  }

  /** The time is up: nobody waits any longer. */
  stop(): void {
    for (const stop of this.waiting) stop()
    this.close()
  }
}

/**
 * Runs a check by its steps. Whatever they throw becomes `error`; connections are closed, and the total is written down.
 * @param steps throw CheckFailed where the target is not as it should be
 */
export async function attempt(around: Around, steps: (attempt: Attempt) => Promise<void>): Promise<Facts> {
  return await withAttempt(around, async one => {
    try {
      await steps(one)
    } catch (error) {
      const { kind, message } = expected(error) ? connectFailure(error, 'talking') : internal
      one.facts.error = { kind, message }
    }
    one.facts.phases.total = Math.max(0, (one.answeredAt ?? around.now()) - one.startedAt)
    return one.facts
  })
}

/** Gives an attempt to its user, for as long as that takes or the check may take; its connections are closed at the end. */
export async function withAttempt<T>(around: Around, use: (attempt: Attempt) => Promise<T>): Promise<T> {
  const one = new Attempt(around)
  const stop = () => one.stop()
  around.signal.addEventListener('abort', stop, { once: true })
  try {
    return await use(one)
  } finally {
    around.signal.removeEventListener('abort', stop)
    one.close()
  }
}

/** Faults of this program are no news of the target: they have no code, or one of Node's for wrong arguments. */
function expected(error: unknown): boolean {
  if (error instanceof CheckFailed) return true
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) return false
  return error instanceof Error && ('code' in error || error.name === 'EgressRefused')
}

const internal = { kind: 'internal', message: 'the check itself failed: this is a fault of the hub, not of the target' } as const
