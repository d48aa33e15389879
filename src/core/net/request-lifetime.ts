/** Why a request was ended from this side; the message may be shown to a customer. */
export type Ending = { errorClass: 'timeout' | 'aborted'; message: string }

/**
 * The life of one request: ended by the caller's signal, by a timer, or by `end`, whichever comes first; `reason` says
 * which. Call `release` when the request is over.
 */
export function lifetime(given: AbortSignal | undefined) {
  const controller = new AbortController()
  const ended = Promise.withResolvers<never>()
  ended.promise.catch(() => {})
  const timers: Timer[] = []
  let reason: Ending | null = null
  const end = (errorClass: Ending['errorClass'], message: string): void => {
    if (reason) return
    reason = { errorClass, message }
    controller.abort()
    ended.reject(new Error(message))
  }
  const onGiven = (): void => end('aborted', 'The request was given up.')
  if (given?.aborted) onGiven()
  else given?.addEventListener('abort', onGiven, { once: true })

  return {
    signal: controller.signal,
    get reason(): Ending | null {
      return reason
    },
    end,
    after(ms: number, message: string): Timer {
      const timer = setTimeout(() => end('timeout', message), ms)
      timers.push(timer)
      return timer
    },
    /** Waits for what cannot be aborted itself, no longer than the request lives. */
    orEnd<T>(promise: Promise<T>): Promise<T> {
      promise.catch(() => {})
      return Promise.race([promise, ended.promise])
    },
    release(): void {
      timers.forEach(clearTimeout)
      given?.removeEventListener('abort', onGiven)
    },
  }
}
