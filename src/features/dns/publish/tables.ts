import { int, text } from '../../../core/db/columns'
import { index, primaryKey, table, uniqueIndex } from '../../../core/db/dialect'

/** The last change of each zone, numbered in commit order across all zones. Name servers use it to find what to read again. */
export const dnsZoneChanges = table(
  'dns_zone_changes',
  {
    zoneId: text('zone_id').primaryKey(),
    number: int('number').notNull(),
    name: text('name').notNull(),
    // Last change that isn’t tracked by rrset. Readers that haven’t seen it must read the whole zone.
    wholeNumber: int('whole_number').notNull(),
  },
  t => [uniqueIndex('dns_zone_changes_number').on(t.number)],
)

/** The last change of each name and type of a zone, including deleted ones, with the number of the zone’s change. */
export const dnsRrsetChanges = table(
  'dns_rrset_changes',
  {
    zoneId: text('zone_id').notNull(),
    name: text('name').notNull(),
    type: text('type').notNull(),
    number: int('number').notNull(),
  },
  t => [primaryKey({ columns: [t.zoneId, t.name, t.type] }), index('dns_rrset_changes_number').on(t.zoneId, t.number)],
)
