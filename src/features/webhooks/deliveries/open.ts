import { and, eq, exists, isNull, type SQL } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Reader } from '../../../core/db/transaction'
import { webhookDeliveries } from './tables'

/** SQL condition that an event has an unfinished delivery, which still needs its body. */
export const hasOpenDelivery = (read: Reader, eventId: SQLiteColumn): SQL =>
  exists(
    read
      .select({ id: webhookDeliveries.id })
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.eventId, eventId), isNull(webhookDeliveries.finishedAt))),
  )
