import { eq } from 'drizzle-orm'
import { workspaces } from '../../../access/tables'
import { target } from '../../../core/audit'
import { instant } from '../../../core/clock'
import type { Ctx } from '../../../core/ctx'
import type { DnsProviderView } from './shapes'
import type { dnsProviders } from './tables'
import { builtin } from '../zone-shapes'

export type ProviderRow = typeof dnsProviders.$inferSelect

/** A provider as the API shows it; of its secrets only which there are. */
export const providerView = (row: ProviderRow): DnsProviderView => ({
  id: row.id,
  kind: row.kind as DnsProviderView['kind'],
  name: row.name,
  settings: row.settings,
  secrets_set: row.secretNames,
  state: row.state,
  detail: row.detail,
  warnings: row.warnings,
  last_checked_at: instant(row.lastCheckedAt),
  last_ok_at: instant(row.lastOkAt),
  last_error: row.lastError,
  version: row.version,
  created_at: instant(row.createdAt),
  updated_at: instant(row.updatedAt),
})

/** The name server of the hub, which every workspace has and no row stands for. */
export async function builtinView(ctx: Ctx): Promise<DnsProviderView> {
  const [workspace] = await ctx.hub.read
    .select({ createdAt: workspaces.createdAt })
    .from(workspaces)
    .where(eq(workspaces.id, ctx.workspaceId))
  return {
    id: builtin,
    kind: builtin,
    name: 'Built-in name server',
    settings: {},
    secrets_set: [],
    state: 'ok',
    detail: null,
    warnings: [],
    last_checked_at: null,
    last_ok_at: null,
    last_error: null,
    version: 1,
    created_at: instant(workspace!.createdAt),
    updated_at: instant(workspace!.createdAt),
  }
}

/** A provider as the audit log names it. */
export const providerTarget = (row: Pick<ProviderRow, 'id' | 'name'>) => target('dns_provider', row)
