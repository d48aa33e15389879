import { surroundingsOf } from '../../../access/surroundings'
import type { Hub } from '../../../core/hub'
import { providerKindOf } from '../providers'
import { ProviderError, type DnsProvider } from '../providers/provider'
import { openProviderSettings, type SettingsRow } from './settings'

/**
 * A provider ready to be asked, whose every connection obeys the network policy of its workspace as it is now.
 * @throws ProviderError `refused` where this program does not know its kind, NotOpened
 */
export async function openProvider(hub: Hub, row: SettingsRow): Promise<DnsProvider> {
  const kind = providerKindOf(row.kind)
  if (!kind) throw new ProviderError('refused', `This version knows no providers of the kind ${row.kind}.`)
  return kind.open(await openProviderSettings(hub, row), await surroundingsOf(hub, row.workspaceId, { provider: row.id }))
}
