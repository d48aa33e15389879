import { sql } from 'drizzle-orm'
import { forIds } from '../../../core/db/id-list'
import { prepared } from '../../../core/db/prepared'
import type { Reader } from '../../../core/db/transaction'
import { dnsZones } from './tables'

/** What the views of records need of their zone. */
interface ZoneBrief {
  id: string
  name: string
  targetCount: number
}

/** Zones by id. */
export async function zoneBriefs(read: Reader, ids: ReadonlySet<string>): Promise<Map<string, ZoneBrief>> {
  const rows = await forIds([...ids], (size, list, values) =>
    prepared<ZoneBrief[]>(read, `zone-briefs|${size}`, handle =>
      handle
        .select({ id: dnsZones.id, name: dnsZones.name, targetCount: dnsZones.targetCount })
        .from(dnsZones)
        .where(sql`${dnsZones.id} in ${list}`),
    ).execute(values),
  )
  return new Map(rows.map(row => [row.id, row]))
}
