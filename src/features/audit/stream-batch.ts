import { and, asc, desc, eq, gt, lte } from 'drizzle-orm'
import { auditCheckpoints, auditEntries } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import { actionCondition } from './actions-filter'
import { boundaryOf, checkpointView } from './checkpoints'
import { linkedEntry } from './export'
import { headOf, type StreamRow } from './stream-view'

/** The `event` of all messages of a stream, and their X-Service-Event header. */
export const streamEvent = 'audit.entries'

/** Limits of a message. A single entry that is larger is sent alone. */
const maxEntries = 100
const maxBytes = 64 * 1024
// Leaves space for the rest of the message and some checkpoints.
const maxEntryBytes = 60 * 1024
const envelopeBytes = 2 * 1024
const maxCheckpoints = 100

/** The next message of a stream. */
export interface Batch {
  /** Null if there is nothing to send. The position still moves past entries that are filtered out. */
  body: string | null
  /** Position of the stream once the message is delivered. */
  position: number
  checkpoint: number
  /** Entries that were pruned before they could be sent. */
  gap: Gap | null
  /** Whether there is more to send. */
  more: boolean
}
interface Gap {
  from: number
  to: number
}

type Place = Pick<StreamRow, 'id' | 'workspaceId' | 'actions' | 'position' | 'checkpoint' | 'retryPosition' | 'retryCheckpoint'>

/**
 * Builds the next message of a stream: entries in order, and the checkpoints that don't cover later entries. After a failed
 * attempt, the message is byte-identical.
 */
export async function nextBatch(read: Reader, stream: Place): Promise<Batch> {
  const { workspaceId: chain, retryPosition } = stream
  // Read first: all entries up to the head are committed.
  const written = await headOf(read, chain)
  const head = retryPosition === null ? written : Math.min(written, retryPosition)
  const found = await read
    .select()
    .from(auditEntries)
    .where(
      and(
        eq(auditEntries.workspaceId, chain),
        gt(auditEntries.seq, stream.position),
        lte(auditEntries.seq, head),
        actionCondition(stream.actions),
      ),
    )
    .orderBy(asc(auditEntries.seq))
    .limit(maxEntries)
  // Read last: entries deleted in the meantime are below the boundary.
  const boundary = await boundaryOf(read, chain)
  const start = Math.max(stream.position, boundary)
  const rows = found.filter(row => row.seq > start)
  const entries = fitting(
    rows.map(row => JSON.stringify(linkedEntry(row))),
    maxEntryBytes,
    1,
  )
  const cut = found.length === maxEntries || entries.length < rows.length
  const position = cut ? (rows[entries.length - 1]?.seq ?? start) : Math.max(head, start)
  const { checkpoints, last, more } = await checkpointsFor(read, stream, position, maxBytes - envelopeBytes - bytesOf(entries))
  const gap = boundary > stream.position ? { from: stream.position + 1, to: boundary } : null
  const empty = entries.length === 0 && checkpoints.length === 0 && gap === null
  return {
    body: empty ? null : await bodyOf(read, stream, { entries, checkpoints, last, gap }),
    position,
    checkpoint: last,
    gap,
    more: cut || more,
  }
}

/** A message without entries, to test a receiver. */
export const testBody = (read: Reader, stream: Place): Promise<string> =>
  bodyOf(read, stream, { entries: [], checkpoints: [], last: stream.checkpoint, gap: null })

interface Content {
  entries: string[]
  checkpoints: string[]
  last: number
  gap: Gap | null
}

async function bodyOf(read: Reader, stream: Place, { entries, checkpoints, last, gap }: Content): Promise<string> {
  const [latest] = await read
    .select()
    .from(auditCheckpoints)
    .where(and(eq(auditCheckpoints.chain, stream.workspaceId), lte(auditCheckpoints.number, last)))
    .orderBy(desc(auditCheckpoints.number))
    .limit(1)
  const about = {
    workspace_id: stream.workspaceId,
    stream_id: stream.id,
    gap,
    checkpoint: latest ? checkpointView(latest) : null,
  }
  const start = JSON.stringify({ event: streamEvent, data: about }).slice(0, -2)
  return `${start},"checkpoints":[${checkpoints.join(',')}],"entries":[${entries.join(',')}]}}`
}

/** Returns the checkpoints after the stream's last one that cover entries up to `position`, as far as they fit. */
async function checkpointsFor(read: Reader, stream: Place, position: number, bytes: number) {
  const { workspaceId, checkpoint, retryCheckpoint } = stream
  const found = await read
    .select()
    .from(auditCheckpoints)
    .where(
      and(
        eq(auditCheckpoints.chain, workspaceId),
        gt(auditCheckpoints.number, checkpoint),
        retryCheckpoint === null ? undefined : lte(auditCheckpoints.number, retryCheckpoint),
      ),
    )
    .orderBy(asc(auditCheckpoints.number))
    .limit(maxCheckpoints)
  const beyond = found.findIndex(row => row.seq > position)
  const known = beyond < 0 ? found : found.slice(0, beyond)
  const checkpoints = fitting(
    known.map(row => JSON.stringify(checkpointView(row))),
    bytes,
    0,
  )
  return {
    checkpoints,
    last: known[checkpoints.length - 1]?.number ?? checkpoint,
    more: checkpoints.length < known.length || found.length === maxCheckpoints,
  }
}

/** Returns the first texts that fit in `bytes` together, but at least `min` of them. */
function fitting(texts: string[], bytes: number, min: number): string[] {
  let count = 0
  for (let left = bytes; count < texts.length; count++) {
    left -= Buffer.byteLength(texts[count]!) + 1
    if (left < 0 && count >= min) break
  }
  return texts.slice(0, count)
}

const bytesOf = (texts: string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0)
