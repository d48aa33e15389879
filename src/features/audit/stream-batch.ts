import { and, asc, desc, eq, gt, lte } from 'drizzle-orm'
import { auditCheckpoints, auditEntries } from '../../core/db/tables'
import type { Reader } from '../../core/db/transaction'
import { actionsAmong } from './actions-filter'
import { boundaryOf, checkpointView } from './checkpoints'
import { linkedEntry } from './export'
import { headOf, type StreamRow } from './stream-view'

/** `event` of every message of a stream, and its X-Service-Event. */
export const streamEvent = 'audit.entries'

/** Most entries of a message, and most bytes; an entry that is larger by itself goes alone. */
export const mostEntries = 100
export const mostBytes = 64 * 1024
// Entries leave room for the rest of the message and some checkpoints.
const mostEntryBytes = 60 * 1024
const envelopeBytes = 2 * 1024
const mostCheckpoints = 100

/** The next message of a stream. */
export interface Batch {
  /** Null when there is nothing to send: what is left out moves the position all the same. */
  body: string | null
  /** What the stream has once this was taken. */
  position: number
  checkpoint: number
  /** Entries that were pruned before they could be sent. */
  gap: Gap | null
  /** There is more behind it already. */
  more: boolean
}
export interface Gap {
  from: number
  to: number
}

type Place = Pick<StreamRow, 'id' | 'workspaceId' | 'actions' | 'position' | 'checkpoint' | 'retryPosition' | 'retryCheckpoint'>

/**
 * What goes to a stream next: entries in the order of their numbers, and the checkpoints that speak of nothing beyond them. After a
 * try that failed it is the same again, to the byte.
 */
export async function nextBatch(read: Reader, stream: Place): Promise<Batch> {
  const { workspaceId: chain, retryPosition } = stream
  // Read first: all entries up to it are committed.
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
        actionsAmong(stream.actions),
      ),
    )
    .orderBy(asc(auditEntries.seq))
    .limit(mostEntries)
  // Read last: what was deleted while the entries were read is below it.
  const boundary = await boundaryOf(read, chain)
  const start = Math.max(stream.position, boundary)
  const rows = found.filter(row => row.seq > start)
  const entries = fitting(
    rows.map(row => JSON.stringify(linkedEntry(row))),
    mostEntryBytes,
    1,
  )
  const cut = found.length === mostEntries || entries.length < rows.length
  const position = cut ? (rows[entries.length - 1]?.seq ?? start) : Math.max(head, start)
  const { checkpoints, last, more } = await checkpointsFor(read, stream, position, mostBytes - envelopeBytes - bytesOf(entries))
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

/** A message without entries, by which a receiver can be tried out. */
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

/** Checkpoints behind the stream's last, as far as they speak of entries up to `position` and fit. */
async function checkpointsFor(read: Reader, stream: Place, position: number, room: number) {
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
    .limit(mostCheckpoints)
  const beyond = found.findIndex(row => row.seq > position)
  const known = beyond < 0 ? found : found.slice(0, beyond)
  const checkpoints = fitting(
    known.map(row => JSON.stringify(checkpointView(row))),
    room,
    0,
  )
  return {
    checkpoints,
    last: known[checkpoints.length - 1]?.number ?? checkpoint,
    more: checkpoints.length < known.length || found.length === mostCheckpoints,
  }
}

/** The first of some texts that have room together; `least` of them go however long they are. */
function fitting(texts: string[], room: number, least: number): string[] {
  let taken = 0
  for (let left = room; taken < texts.length; taken++) {
    left -= Buffer.byteLength(texts[taken]!) + 1
    if (left < 0 && taken >= least) break
  }
  return texts.slice(0, taken)
}

const bytesOf = (texts: string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text) + 1, 0)
