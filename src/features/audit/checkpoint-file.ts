import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/config'
import type { Hub } from '../../core/hub'
import { checkpointLine, readCheckpoints, type Checkpoint } from './checkpoint'
import { checkpointsAfter, makeCheckpoints } from './checkpoints'

/** Where a hub writes the checkpoints of its installation, for a copy on another machine. */
export const checkpointFile = (config: Config): string => join(config.data, 'audit-checkpoints.ndjson')

/** Signs what is due, and puts it where whoever can change the database need not reach. */
export async function signAudit(hub: Hub): Promise<void> {
  await makeCheckpoints(hub)
  await appendCheckpoints(hub)
}

/**
 * Appends to the file, and to the log, what the database has and the file has not: also what other hubs signed, and what a hub signed
 * that died before it wrote. What is in the file stays, whatever becomes of the database.
 */
export async function appendCheckpoints(hub: Hub): Promise<void> {
  const file = checkpointFile(hub.config)
  let written = lastWritten.get(hub)
  let known = new Set<string>()
  if (written === undefined) {
    known = new Set(wholeLines(file).map(one => one.signature))
    written = 0
  }
  for (;;) {
    const next = await checkpointsAfter(hub.read, written)
    if (next.length === 0) break
    const missing = next.filter(one => !known.has(one.signature))
    if (missing.length > 0) append(file, missing)
    for (const checkpoint of missing) hub.log.info({ checkpoint }, 'the audit log was signed')
    written = next.at(-1)!.number
  }
  lastWritten.set(hub, written)
}

// Number of the last checkpoint that is in the file of a hub.
const lastWritten = new WeakMap<Hub, number>()

/** What the file holds; the rest of a line that a power cut left at its end is cut off. */
function wholeLines(file: string): Checkpoint[] {
  if (!existsSync(file)) return []
  const bytes = readFileSync(file)
  const end = bytes.lastIndexOf(10) + 1
  if (end < bytes.length) {
    const handle = openSync(file, 'r+')
    ftruncateSync(handle, end)
    closeSync(handle)
  }
  return readCheckpoints(bytes.toString('utf8', 0, end))
}

function append(file: string, checkpoints: Checkpoint[]): void {
  const handle = openSync(file, 'a', 0o644)
  try {
    writeSync(handle, checkpoints.map(one => `${checkpointLine(one)}\n`).join(''))
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
