/** Why this side ended a request. The message may be shown to customers. */
type Ending = { errorClass: 'timeout' | 'aborted'; message: string }

/**
 * The lifetime of one request. It ends with the signal of the caller, a timer, or `end`, whichever is first; `reason` says which. Call
 * `release` when the request has finished.
 */
export function lifetime(signal: AbortSignal | undefined) {
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
  const onAbort = (): void => end('aborted', 'The request was aborted.')
  if (signal?.aborted) onAbort()
  else signal?.addEventListener('abort', onAbort, { once: true })

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
    /** Waits for a promise that can't be aborted, at most until the request ends. */
    orEnd<T>(promise: Promise<T>): Promise<T> {
      promise.catch(() => {})
      return Promise.race([promise, ended.promise])
    },
    release(): void {
      timers.forEach(clearTimeout)
      signal?.removeEventListener('abort', onAbort)
    },
  }
}
