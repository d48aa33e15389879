import { domainToUnicode } from 'node:url'
import { refuseTooManyRequests } from '../../access/limiter'
import { callAdapter } from '../../adapters/call'
import { instant } from '../../core/clock'
import { sha256Hex } from '../../core/crypto'
import type { Ctx } from '../../core/ctx'
import { cursorKey, cursorValues } from '../../core/list'
import { sealCursor } from '../../core/page'
import type { Page } from '../../core/shapes'
import { registrarAccountOf } from './accounts'
import { registrarKindOf } from './kinds'
import { withRegistrar } from './open'
import { readAccount } from './read-account'
import type { Held } from './registrar'
import type { RegistrarAccountDomainView } from './shapes'

/**
 * Lists the domains that an account has now, by name. Each page queries the registrar again. Limited to 10 a minute per account.
 * @throws Problem 400, 404, 424, 429
 */
export async function listAccountDomains(
  ctx: Ctx,
  id: string,
  { limit = 100, cursor, q }: { limit?: number; cursor?: string; q?: string },
): Promise<Page<RegistrarAccountDomainView>> {
  const row = await registrarAccountOf(ctx, id)
  const filterHash = sha256Hex(JSON.stringify(['registrar-account-domains', id, q ?? null])).slice(0, 16)
  const [after] = cursor === undefined ? [''] : (cursorValues(ctx, cursor, filterHash, 1) as [string])
  refuseTooManyRequests(ctx, 'registrar-account-domains', id, 10)
  const held = await callAdapter(() => withRegistrar(ctx.hub, row, true, registrar => readAccount(registrar, ctx.hub.clock)))
  const wanted = q?.toLowerCase() ?? ''
  const found = held
    .filter(one => one.name > after && (one.name.includes(wanted) || unicodeOf(one.name).includes(wanted)))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
  const page = found.slice(0, limit)
  const more = found.length > limit
  const all = [...(registrarKindOf(row.kind)?.caps.capabilities ?? [])]
  return {
    data: page.map(one => viewOf(one, all)),
    pagination: {
      has_more: more,
      next_cursor: more ? sealCursor(cursorKey(ctx), { values: [page.at(-1)!.name], filterHash }) : null,
    },
  }
}

const viewOf = (held: Held, all: RegistrarAccountDomainView['capabilities']): RegistrarAccountDomainView => ({
  name: held.name,
  unicode_name: unicodeOf(held.name),
  status: held.status,
  registered_at: instant(held.registeredAt),
  expires_at: instant(held.expiresAt),
  auto_renew: held.autoRenew,
  locked: held.locked,
  capabilities: held.capabilities === null ? all : [...held.capabilities],
})

// An account can have 100,000 names, and converting one takes about a microsecond.
const unicodeOf = (name: string): string => (name.includes('xn--') && domainToUnicode(name)) || name
