import type { CheckContext, Facts } from './check'
import { noFacts } from './check'
import { CheckFailed, connectFailure } from './connect-failure'

/** A resource that must not outlive its check. */
interface Closable {
  destroy(): unknown
}

/**
 * A running check: the facts observed so far and the open connections. Each step writes into the facts, so that a check that fails
 * halfway reports what came before.
 */
export class Attempt {
  readonly facts: Facts = noFacts()
  readonly startedAt: number
  /** When the target had responded completely, if what follows does not count toward the latency; else null. */
  respondedAt: number | null = null
  private readonly resources = new Set<Closable>()
  /** Rejects the pending {@link within} calls. */
  private readonly waiting = new Set<() => void>()

  constructor(readonly context: CheckContext) {
    this.startedAt = context.now()
  }

  /** Destroys a resource when the check ends, in whatever way. */
  track<T extends Closable>(resource: T): T {
    if (this.context.signal.aborted) resource.destroy()
    else this.resources.add(resource)
    return resource
  }

  /**
   * Waits for a promise, but not longer than the check's time limit.
   * @param awaited what is waited for, for the message: `the response to EHLO`
   * @throws CheckFailed `timeout`
   */
  within<T>(promise: Promise<T>, awaited: string): Promise<T> {
    const { signal } = this.context
    return new Promise((resolve, reject) => {
      const stop = () => reject(new CheckFailed('timeout', `timed out waiting for ${awaited}`))
      void promise.then(
        value => {
          this.waiting.delete(stop)
          resolve(value)
        },
        error => {
          this.waiting.delete(stop)
          // Sockets are destroyed at the same moment; their errors are not the cause.
          if (signal.aborted) stop()
          else reject(error)
        },
      )
      if (signal.aborted) stop()
      else this.waiting.add(stop)
    })
  }

  /** Adds to the duration of a phase: redirects and further connections are summed up. */
  addToPhase(phase: 'dns' | 'connect' | 'tls' | 'first_byte', since: number): void {
    this.facts.phases[phase] = (this.facts.phases[phase] ?? 0) + Math.max(0, this.context.now() - since)
  }

  /** Closes all connections; the check may open more. */
  close(): void {
    for (const resource of this.resources) resource.destroy()
    this.resources.clear()
  }

  /** Ends the check at its time limit. */
  stop(): void {
    for (const stop of this.waiting) stop()
    this.close()
  }
}

/**
 * Runs the steps of a check. Whatever they throw becomes `error`; connections are closed and the total time is recorded.
 * @param steps throw CheckFailed if the target is not as expected
 */
export async function runAttempt(context: CheckContext, steps: (attempt: Attempt) => Promise<void>): Promise<Facts> {
  return await withAttempt(context, async attempt => {
    try {
      await steps(attempt)
    } catch (error) {
      const { kind, message } = isCheckFailure(error) ? connectFailure(error, 'established') : internal
      attempt.facts.error = { kind, message }
    }
    attempt.facts.phases.total = Math.max(0, (attempt.respondedAt ?? context.now()) - attempt.startedAt)
    return attempt.facts
  })
}

/** Calls `use` with an attempt that ends at the time limit, and closes its connections at the end. */
export async function withAttempt<T>(context: CheckContext, use: (attempt: Attempt) => Promise<T>): Promise<T> {
  const attempt = new Attempt(context)
  const stop = () => attempt.stop()
  context.signal.addEventListener('abort', stop, { once: true })
  try {
    return await use(attempt)
  } finally {
    context.signal.removeEventListener('abort', stop)
    attempt.close()
  }
}

/** Bugs of this program say nothing about the target: their errors have no code, or a Node code for invalid arguments. */
function isCheckFailure(error: unknown): boolean {
  if (error instanceof CheckFailed) return true
  if (error instanceof TypeError || error instanceof RangeError || error instanceof ReferenceError) return false
  return error instanceof Error && ('code' in error || error.name === 'EgressRefused')
}

const internal = { kind: 'internal', message: 'the check itself failed because of a bug in Bailiwick' } as const
