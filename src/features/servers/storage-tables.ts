import { int, text, time } from '../../core/db/columns'
import { cloudAccounts } from './accounts/tables'
import { storageOrigins } from './storage-shapes'
import { servers } from './tables'

/** The columns of what is stored in cloud accounts in addition to servers. */
export const storageColumns = () => ({
  accountId: text('account_id')
    .notNull()
    .references(() => cloudAccounts.id, { onDelete: 'cascade' }),
  serverId: text('server_id').references(() => servers.id, { onDelete: 'set null' }),
  // Id at the cloud; null until it exists there.
  providerRef: text('provider_ref'),
  origin: text('origin', { enum: [...storageOrigins] }).notNull(),
  sizeBytes: int('size_bytes'),
  // Price per month in millionths; null if not known. Set from the order until it exists.
  priceMicros: int('price_micros'),
  priceCurrency: text('price_currency'),
  priceAt: time('price_at'),
  // The action that works on it.
  actionId: text('action_id'),
  // When an action or a reading last wrote its state. Readings that started before are ignored.
  writtenAt: time('written_at').notNull(),
})
