import { eq } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import type { Hub } from '../../../core/hub'
import { networkPolicy } from '../../../core/net/egress'
import { guardedFetch } from '../../../core/net/guarded-fetch'
import { egressOf } from '../../../core/net/hub-egress'
import { openProviderSettings, type SettingsRow } from './settings'
import { providerKindOf } from '../providers'
import { ProviderError, type DnsProvider, type Surroundings } from '../providers/provider'

/**
 * A provider ready to be asked, whose every connection obeys the network policy of its workspace as it is now.
 * @throws ProviderError `refused` where this program does not know its kind, NotOpened
 */
export async function openProvider(hub: Hub, row: SettingsRow): Promise<DnsProvider> {
  const kind = providerKindOf(row.kind)
  if (!kind) throw new ProviderError('refused', `This version knows no providers of the kind ${row.kind}.`)
  return kind.open(await openProviderSettings(hub, row), await surroundingsOf(hub, row))
}

async function surroundingsOf(hub: Hub, { id, workspaceId }: SettingsRow): Promise<Surroundings> {
  const [workspace] = await hub.read
    .select({ stored: workspaces.networkPolicy })
    .from(workspaces)
    .where(eq(workspaces.id, workspaceId))
  const policy = networkPolicy(workspace!.stored, { carriesSecret: true })
  const egress = egressOf(hub)
  return {
    clock: hub.clock,
    log: hub.log.child({ provider: id }),
    request: (request, limits) => guardedFetch(request, { egress, policy, ...(limits && { limits }) }),
    vet: (host, port) => egress.vetHost(host, port, policy),
  }
}
