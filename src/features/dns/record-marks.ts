import { Type } from '@sinclair/typebox'
import { eq, sql, type SQL } from 'drizzle-orm'
import type { Filter, Listing } from '../../core/list'
import { Tag } from '../../core/shapes'
import { lockMark, tagMark } from './rrset-members'
import { dnsRecordMarks, dnsRecords } from './tables'
import type { RecordRow } from './zone-rows'

type Query = Record<string, unknown>

/** Parameters that find records by their marks. */
export const markFilters = (query: Query): Record<string, Filter> => ({
  tag: {
    schema: { ...Tag, description: 'Only those with this tag.' },
    where: (value, place) => sql`${dnsRecordMarks.mark} = ${place(tagMark(value as string))}`,
  },
  locked: {
    schema: Type.Boolean({ description: 'Only those that are locked, or only those that are not.' }),
    where(value, place) {
      if (value === false) return sql`not ${hasMark(lockMark, place)}`
      return query.tag === undefined ? sql`${dnsRecordMarks.mark} = ${place(lockMark)}` : hasMark(lockMark, place)
    },
    variant: String,
  },
})

const hasMark = (mark: string, place: (value: unknown) => SQL): SQL =>
  sql`exists (select 1 from ${dnsRecordMarks} as other where other.record_id = ${dnsRecords.id} and other.mark = ${place(mark)})`

/** Whether a query is answered by walking along marks. */
export const asksForMarks = (query: Query): boolean => query.tag !== undefined || query.locked === true

/** A listing of records that walks along their marks: a page costs the same however few have them. */
export const throughMarks = (listing: Listing<RecordRow>): Listing<RecordRow> => ({
  ...listing,
  name: `${listing.name}-marked`,
  through: { table: dnsRecordMarks, on: eq(dnsRecords.id, dnsRecordMarks.recordId) },
  id: dnsRecordMarks.recordId,
  owner: listing.owner === dnsRecords.zoneId ? dnsRecordMarks.zoneId : dnsRecordMarks.workspaceId,
  narrowedBy: dnsRecordMarks.zoneId,
})
