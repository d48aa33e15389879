/** Resolves with the first signal to stop; the second ends the process at once. */
export function stopAsked(): Promise<string> {
  return new Promise(resolve => {
    let heard = false
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (heard) process.exit(0)
        heard = true
        resolve(signal)
      })
    }
  })
}

/** After an error that nothing caught the state of the process is unknown: it says so and ends, and its supervisor starts it anew. */
export function endOnSurprises(tell: (error: unknown) => void): void {
  const end = (error: unknown) => {
    tell(error)
    process.exit(1)
  }
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
}
