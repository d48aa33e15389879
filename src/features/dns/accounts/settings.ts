import type { Reader } from '../../../core/db/transaction'
import type { Hub } from '../../../core/hub'
import { openSettings, type Settings } from '../../../core/sealed-settings'
import type { Place } from '../../../core/secrets'
import type { dnsProviders } from './tables'

/** The part of a provider that its settings are in. */
export type SettingsRow = Pick<
  typeof dnsProviders.$inferSelect,
  'id' | 'workspaceId' | 'kind' | 'settings' | 'secretsSealed' | 'secretNames'
>

/** All settings of a provider, its secrets among them. @throws NotOpened */
export const openProviderSettings = (hub: Hub, row: SettingsRow, read?: Reader): Promise<Settings> =>
  openSettings(hub, sealedIn(row), row, read)

/** Where the secrets of a provider are sealed for. */
export const sealedIn = ({ id, workspaceId }: Pick<SettingsRow, 'id' | 'workspaceId'>): Place => ({
  table: 'dns_providers',
  column: 'secrets_sealed',
  row: id,
  workspaceId,
})
