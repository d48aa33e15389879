import { sql, type SQL } from 'drizzle-orm'
import type { EventKind } from '../../core/events'
import { webhookEndpoints } from './tables'

/** The condition that an endpoint chose a kind, given as `chosenPattern` makes it. */
export const chose = (pattern: string | SQL): SQL => sql`${webhookEndpoints.events} like ${pattern} escape '\\'`

/** The list of kinds is JSON text, in which each name stands in quotes. */
export const chosenPattern = (kind: EventKind): string => `%"${kind.replaceAll('_', '\\_')}"%`
