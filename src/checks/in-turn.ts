/** Lets so many calls be under way at once; the others wait. */
export function inTurn<A, R>(most: number, call: (given: A) => Promise<R>): (given: A) => Promise<R> {
  const waiting: (() => void)[] = []
  let running = 0
  return async given => {
    if (running >= most) await new Promise<void>(resolve => waiting.push(resolve))
    running++
    try {
      return await call(given)
    } finally {
      running--
      waiting.shift()?.()
    }
  }
}
