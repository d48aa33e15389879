/** Resolves with the first SIGTERM or SIGINT. A second signal exits immediately. */
export function stopRequested(): Promise<string> {
  return new Promise(resolve => {
    let isStopping = false
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => {
        if (isStopping) process.exit(0)
        isStopping = true
        resolve(signal)
      })
    }
  })
}

/** Reports uncaught errors and exits, because the state of the process is unknown afterwards. A supervisor restarts it. */
export function exitOnUncaughtErrors(report: (error: unknown) => void): void {
  const end = (error: unknown) => {
    report(error)
    process.exit(1)
  }
  process.on('uncaughtException', end)
  process.on('unhandledRejection', end)
}
