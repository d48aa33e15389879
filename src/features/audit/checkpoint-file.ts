import { closeSync, existsSync, fsyncSync, ftruncateSync, openSync, readFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../core/config'
import type { Hub } from '../../core/hub'
import { checkpointLine, readCheckpoints, type Checkpoint } from './checkpoint'
import { checkpointsAfter, createCheckpoints } from './checkpoints'

/** The file a hub writes the checkpoints of its installation to, so that they can be copied to another machine. */
export const checkpointFile = (config: Config): string => join(config.data, 'audit-checkpoints.ndjson')

/** Signs the checkpoints that are due, and stores them outside the database. */
export async function signAudit(hub: Hub): Promise<void> {
  await createCheckpoints(hub)
  await appendCheckpoints(hub)
}

/**
 * Appends checkpoints that are missing from the file to the file and the log, including those signed by other hubs, or by a hub
 * that died before it wrote them. Lines in the file are never removed, even if the database changes.
 */
async function appendCheckpoints(hub: Hub): Promise<void> {
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
    for (const checkpoint of missing) hub.log.info({ checkpoint }, 'signed an audit checkpoint')
    written = next.at(-1)!.number
  }
  lastWritten.set(hub, written)
}

// Number of the last checkpoint in the file, by hub.
const lastWritten = new WeakMap<Hub, number>()

/** Reads the checkpoints in the file. An incomplete last line, for example after a power failure, is truncated. */
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
