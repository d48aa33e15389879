import { surroundingsOf } from '../../../access/surroundings'
import type { Hub } from '../../../core/hub'
import type { Settings } from '../../../core/sealed-settings'
import { providerKindOf } from '../providers'
import { ProviderError, type DnsProvider, type ProviderKind } from '../providers/provider'
import { openProviderSettings, type SettingsRow } from './settings'

/**
 * A provider ready to be asked, whose every connection obeys the network policy of its workspace as it is now.
 * @throws ProviderError `refused` where this program does not know its kind, NotOpened
 */
export async function openProvider(hub: Hub, row: SettingsRow): Promise<DnsProvider> {
  const kind = providerKindOf(row.kind)
  if (!kind) throw new ProviderError('refused', `This version knows no providers of the kind ${row.kind}.`)
  return await openWith(hub, kind, await openProviderSettings(hub, row), row)
}

/** The same with settings at hand. */
export const openWith = async (
  hub: Hub,
  kind: ProviderKind,
  settings: Settings,
  { id, workspaceId }: Pick<SettingsRow, 'id' | 'workspaceId'>,
): Promise<DnsProvider> => kind.open(settings, await surroundingsOf(hub, workspaceId, { provider: id }))
