import { Type } from '@sinclair/typebox'
import { sql, type SQL } from 'drizzle-orm'
import { hasMark, listingByMark } from '../../../core/list-marks'
import type { Filter, Listing } from '../../../core/listing'
import { Tag, Words } from '../../../core/shapes'
import { lockMark, tagMark } from './rrset-metadata'
import { stateMark, syncStates, unsyncedMark, type SyncState } from '../sync/three-way'
import { dnsRecordMarks, dnsRecords } from './tables'
import type { RecordRow } from './rows'

type Query = Record<string, unknown>

/** Filters that find records by their marks. */
export const markFilters = (query: Query): Record<string, Filter> => {
  // One mark is scanned; the others are checked for each record it finds.
  const scanned = scannedMark(query)
  const marked = (mark: string, place: (value: unknown) => SQL): SQL =>
    mark === scanned ? sql`${dnsRecordMarks.mark} = ${place(mark)}` : isMarked(mark, place)
  const finds = (mark: string) => (mark === scanned ? 'scanned' : undefined)
  const variant = (value: unknown) => `${String(value)} ${scanned === undefined}`
  return {
    tag: {
      schema: { ...Tag, description: 'Only records with this tag.' },
      where: (value, place) => marked(tagMark(value as string), place),
      finds: value => finds(tagMark(value as string)),
    },
    locked: {
      schema: Type.Boolean({ description: 'True for locked records, false for records that are not locked.' }),
      where: (value, place) => (value ? marked(lockMark, place) : sql`not ${isMarked(lockMark, place)}`),
      variant,
      finds: value => (value ? finds(lockMark) : undefined),
    },
    state: {
      schema: Words(syncStates, {
        description:
          'Only records in this sync state. `unmanaged` lists records that exist only at a provider; it can be combined with ' +
          '`zone`, `type`, and `name`.',
      }),
      where: (value, place) =>
        value === 'synced'
          ? sql`not ${isMarked(unsyncedMark, place)} and not ${isMarked(stateMark('ignored'), place)}`
          : marked(stateMark(value as SyncState), place),
      variant,
      finds: value => (value === 'synced' ? undefined : finds(stateMark(value as SyncState))),
    },
    synced: {
      schema: Type.Boolean({ description: 'True for records that are in sync, false for records that are not.' }),
      where: (value, place) => (value ? sql`not ${isMarked(unsyncedMark, place)}` : marked(unsyncedMark, place)),
      variant,
      finds: value => (value ? undefined : finds(unsyncedMark)),
    },
  }
}

/** The mark to scan: the one in the query that is probably the rarest. */
function scannedMark({ tag, locked, state, synced }: Query): string | undefined {
  if (tag !== undefined) return tagMark(tag as string)
  if (state !== undefined && state !== 'synced') return stateMark(state as SyncState)
  if (synced === false) return unsyncedMark
  return locked === true ? lockMark : undefined
}

const isMarked = (mark: string, place: (value: unknown) => SQL): SQL =>
  hasMark({ row: dnsRecordMarks.recordId, mark: dnsRecordMarks.mark }, dnsRecords.id, place(mark))

/** Whether a query scans marks. */
export const filtersByMark = (query: Query): boolean => scannedMark(query) !== undefined

/** A listing that scans marks, so that pages are fast even if few records have the mark. */
export const markListing = (listing: Listing<RecordRow>): Listing<RecordRow> => {
  const owner = listing.owner === dnsRecords.zoneId ? dnsRecordMarks.zoneId : dnsRecordMarks.workspaceId
  return listingByMark(listing, dnsRecordMarks.recordId, owner, dnsRecordMarks.zoneId)
}
