/** Limits how many calls run at once; further calls wait. */
export function limitConcurrency<A, R>(limit: number, call: (argument: A) => Promise<R>): (argument: A) => Promise<R> {
  const waiting: (() => void)[] = []
  let running = 0
  return async argument => {
    if (running >= limit) await new Promise<void>(resolve => waiting.push(resolve))
    running++
    try {
      return await call(argument)
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}
