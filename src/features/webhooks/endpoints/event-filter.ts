import { sql, type SQL } from 'drizzle-orm'
import type { EventKind } from '../../../core/event-kinds'
import { webhookEndpoints } from './tables'

/** SQL condition that an endpoint is subscribed to a kind, given its `eventPattern`. */
export const subscribesTo = (pattern: string | SQL): SQL => sql`${webhookEndpoints.events} like ${pattern} escape '\\'`

/** The column is a JSON array as text, so each name is in quotes. */
export const eventPattern = (kind: EventKind): string => `%"${kind.replaceAll('_', '\\_')}"%`
