import { Type } from '@sinclair/typebox'
import { eq, sql, type SQL } from 'drizzle-orm'
import type { Filter, Listing } from '../../core/list'
import { Tag, Words } from '../../core/shapes'
import { lockMark, tagMark } from './rrset-members'
import { stateMark, syncStates, unsyncedMark, type SyncState } from './sync/three-way'
import { dnsRecordMarks, dnsRecords } from './tables'
import type { RecordRow } from './zone-rows'

type Query = Record<string, unknown>

/** Parameters that find records by their marks. */
export const markFilters = (query: Query): Record<string, Filter> => {
  // One of them is walked along; the others are looked up for each record that it finds.
  const walked = walkedMark(query)
  const marked = (mark: string, place: (value: unknown) => SQL): SQL =>
    mark === walked ? sql`${dnsRecordMarks.mark} = ${place(mark)}` : hasMark(mark, place)
  const variant = (value: unknown) => `${String(value)} ${walked === undefined}`
  return {
    tag: {
      schema: { ...Tag, description: 'Only those with this tag.' },
      where: (value, place) => marked(tagMark(value as string), place),
    },
    locked: {
      schema: Type.Boolean({ description: 'Only those that are locked, or only those that are not.' }),
      where: (value, place) => (value ? marked(lockMark, place) : sql`not ${hasMark(lockMark, place)}`),
      variant,
    },
    state: {
      schema: Words(syncStates, {
        description:
          'Only those that stand so at the providers of their zone. `unmanaged` lists those that are there alone, by `zone`, `type` and `name`.',
      }),
      where: (value, place) =>
        value === 'synced'
          ? sql`not ${hasMark(unsyncedMark, place)} and not ${hasMark(stateMark('ignored'), place)}`
          : marked(stateMark(value as SyncState), place),
      variant,
    },
    synced: {
      schema: Type.Boolean({ description: 'Only those that are synced, or only those that are not.' }),
      where: (value, place) => (value ? sql`not ${hasMark(unsyncedMark, place)}` : marked(unsyncedMark, place)),
      variant,
    },
  }
}

/** The mark that a query walks along: of those that it asks for the one that most likely is the rarest. */
function walkedMark({ tag, locked, state, synced }: Query): string | undefined {
  if (tag !== undefined) return tagMark(tag as string)
  if (state !== undefined && state !== 'synced') return stateMark(state as SyncState)
  if (synced === false) return unsyncedMark
  return locked === true ? lockMark : undefined
}

const hasMark = (mark: string, place: (value: unknown) => SQL): SQL =>
  sql`exists (select 1 from ${dnsRecordMarks} as other where other.record_id = ${dnsRecords.id} and other.mark = ${place(mark)})`

/** Whether a query is answered by walking along marks. */
export const asksForMarks = (query: Query): boolean => walkedMark(query) !== undefined

/** A listing of records that walks along their marks: a page costs the same however few have them. */
export const throughMarks = (listing: Listing<RecordRow>): Listing<RecordRow> => ({
  ...listing,
  name: `${listing.name}-marked`,
  through: { table: dnsRecordMarks, on: eq(dnsRecords.id, dnsRecordMarks.recordId) },
  id: dnsRecordMarks.recordId,
  owner: listing.owner === dnsRecords.zoneId ? dnsRecordMarks.zoneId : dnsRecordMarks.workspaceId,
  narrowedBy: dnsRecordMarks.zoneId,
})
