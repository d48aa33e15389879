import { and, eq, exists, isNull, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Reader } from '../../core/db/transaction'
import { webhookDeliveries } from './tables'

/** Whether some delivery of the event has not ended: it still needs the event's bytes. */
export const isAwaited = (read: Reader, eventId: SQLiteColumn): SQL =>
  exists(
    read
      .select({ id: webhookDeliveries.id })
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.eventId, eventId), isNull(webhookDeliveries.finishedAt))),
  )
