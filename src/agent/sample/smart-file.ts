import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { readDisks, type DiskState } from './smart'

/** Reads the SMART data of all disks, as root, and stores it in a file for the agent, which isn’t root. @param now the time (ms UTC) */
export async function refreshSmartFile(file: string, now: number, problem: (sentence: string) => void): Promise<void> {
  const states = await readDisks(statesIn(file) ?? [], now, problem)
  if (states === null) return
  // The agent may read it at any time.
  writeFileSync(`${file}.new`, JSON.stringify(states), { mode: 0o644 })
  renameSync(`${file}.new`, file)
}

/** What is known about the disks; null if there is no such file. */
export function statesIn(file: string): DiskState[] | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as DiskState[]
  } catch {
    return null
  }
}
