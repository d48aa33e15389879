import { oneTimeCodes } from '../../features/people/second-factors/tables'
import { getTableName } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Place } from '../../core/secrets'
import { managedCertificates } from '../../features/acme/managed-certificates/tables'
import { acmeAccounts } from '../../features/acme/accounts/tables'
import { calendarFeeds } from '../../features/calendar/tables'
import { contacts } from '../../features/contacts/tables'
import { certificateSettings } from '../../features/coverage/tables'
import { auditStreams } from '../../features/audit/tables'
import { dnsProviders } from '../../features/dns/accounts/tables'
import { dnsTsigKeys } from '../../features/dns/transfers/tables'
import { heartbeats, pingKeys } from '../../features/heartbeats/tables'
import { monitors } from '../../features/monitors/tables'
import { notificationChannels } from '../../features/notifications/tables'
import { registrarAccounts } from '../../features/registrars/tables'
import { cloudAccounts } from '../../features/servers/accounts/tables'
import { servers } from '../../features/servers/tables'
import { serverControllers } from '../../features/servers/server-controllers/tables'
import { webhookEndpoints } from '../../features/webhooks/endpoints/tables'

/** A column with sealed values, used to count, verify and rotate keys. */
export interface SealedColumn {
  table: SQLiteTable
  column: SQLiteColumn
  /** Name of the column in the drizzle table, for updates. */
  property: string
  /** The primary key. */
  row: SQLiteColumn
  workspaceId: SQLiteColumn
  /** `table.column`, for messages. */
  name: string
  place(row: string, workspaceId: string): Place
}

/**
 * All columns with sealed values. Values of a missing column would be lost with their key: a test compares the list with the
 * schema.
 */
export const sealedColumns: readonly SealedColumn[] = [
  sealed(heartbeats, 'uuidSealed', heartbeats.id),
  sealed(pingKeys, 'keySealed', pingKeys.workspaceId),
  sealed(webhookEndpoints, 'secretSealed', webhookEndpoints.id),
  sealed(webhookEndpoints, 'nextSecretSealed', webhookEndpoints.id),
  sealed(webhookEndpoints, 'headersSealed', webhookEndpoints.id),
  sealed(auditStreams, 'secretSealed', auditStreams.id),
  sealed(auditStreams, 'nextSecretSealed', auditStreams.id),
  sealed(dnsProviders, 'secretsSealed', dnsProviders.id),
  sealed(registrarAccounts, 'secretsSealed', registrarAccounts.id),
  sealed(cloudAccounts, 'secretsSealed', cloudAccounts.id),
  sealed(acmeAccounts, 'secretsSealed', acmeAccounts.id),
  sealed(managedCertificates, 'keySealed', managedCertificates.id),
  sealed(managedCertificates, 'nextKeySealed', managedCertificates.id),
  sealed(calendarFeeds, 'secretSealed', calendarFeeds.id),
  sealed(contacts, 'personalSealed', contacts.id),
  sealed(certificateSettings, 'ctTokenSealed', certificateSettings.workspaceId),
  sealed(servers, 'userDataSealed', servers.id),
  sealed(monitors, 'secretsSealed', monitors.id),
  sealed(notificationChannels, 'secretsSealed', notificationChannels.id),
  sealed(dnsTsigKeys, 'secretSealed', dnsTsigKeys.id),
  sealed(serverControllers, 'secretsSealed', serverControllers.id),
  sealed(oneTimeCodes, 'secretSealed', oneTimeCodes.userId),
]

function sealed<T extends SQLiteTable & { workspaceId: SQLiteColumn }>(
  table: T,
  property: keyof T['$inferSelect'] & string,
  row: SQLiteColumn,
): SealedColumn {
  const column = (table as unknown as Record<string, SQLiteColumn>)[property]!
  const tableName = getTableName(table)
  return {
    table,
    column,
    property,
    row,
    workspaceId: table.workspaceId,
    name: `${tableName}.${column.name}`,
    place: (id, workspaceId) => ({ table: tableName, column: column.name, row: id, workspaceId }),
  }
}
