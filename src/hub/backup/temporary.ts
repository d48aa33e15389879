import { rmSync } from 'node:fs'

/** Exit codes of shells for processes that a signal ended: 128 and its number. */
const exitCodes = { SIGINT: 130, SIGTERM: 143 } as const
const signals = ['SIGINT', 'SIGTERM'] as const

/**
 * Creates a folder and deletes it when `use` ends, and also if the command is interrupted. Signals are handled before the folder
 * exists, and until it is deleted.
 */
export async function withTemporaryFolder<T>(create: () => string, use: (folder: string) => Promise<T>): Promise<T> {
  let folder: string | undefined
  const remove = () => folder && rmSync(folder, { recursive: true, force: true })
  const interrupted = (signal: keyof typeof exitCodes) => {
    remove()
    process.exit(exitCodes[signal])
  }
  for (const signal of signals) process.on(signal, interrupted)
  try {
    folder = create()
    return await use(folder)
  } finally {
    remove()
    for (const signal of signals) process.off(signal, interrupted)
  }
}
