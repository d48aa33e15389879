import { rmSync } from 'node:fs'

/** Exit codes of shells for processes that a signal ended: 128 and its number. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const

/** Deletes a folder when `fn` ends, and also if the command is interrupted. */
export async function deletedAfter<T>(folder: string, fn: () => Promise<T>): Promise<T> {
  const remove = () => rmSync(folder, { recursive: true, force: true })
  const interrupted = (signal: keyof typeof exitCodes) => {
    remove()
    process.exit(exitCodes[signal])
  }
  const signals = ['SIGINT', 'SIGTERM'] as const
  for (const signal of signals) process.on(signal, interrupted)
  try {
    return await fn()
  } finally {
    for (const signal of signals) process.off(signal, interrupted)
    remove()
  }
}
