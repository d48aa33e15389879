import { readFileSync } from 'node:fs'
import { writeFile } from '../state/write-file'
import { readDisks, type DiskState } from './smart'

/** Reads the SMART data of all disks, as root, and stores it in a file for the agent, which isn’t root. @param now the time (ms UTC) */
export async function refreshSmartFile(file: string, now: number, problem: (sentence: string) => void): Promise<void> {
  const states = await readDisks(statesIn(file) ?? [], now, problem)
  if (states === null) return
  writeFile(file, JSON.stringify(states), { mode: 0o644 })
}

/** What is known about the disks; null if there is no such file. */
export function statesIn(file: string): DiskState[] | null {
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as DiskState[]
  } catch {
    return null
  }
}
