import { eq } from 'drizzle-orm'
import { refuseTooManyRequests } from '../../access/limiter'
import { change } from '../../core/change'
import { instant } from '../../core/clock'
import type { Ctx } from '../../core/ctx'
import { listingOf, listPage } from '../../core/list'
import { conflict } from '../../core/problem'
import { findRow, targetOf } from '../../core/rows'
import { onePage, type Page } from '../../core/shapes'
import { lookBy } from '../registry/interests'
import { countedOf, knownFacts, supportedNames } from '../registry/known'
import type { DomainFacts } from './facts'
import type { DomainMoveView, DomainReadingView } from './history-shapes'
import type { DomainView } from './shapes'
import { domainHistory, domainReadings } from './tables'
import { domainRows, domainView } from './view'

export const moveListing = listingOf('domain-moves', domainHistory, { owner: domainHistory.domainId, isSmall: true, sorts: {} })

/** Lists the changes of the status of a domain, newest first. @throws Problem 404 */
export async function listMoves(ctx: Ctx, id: string, query: Record<string, unknown>): Promise<Page<DomainMoveView>> {
  const domain = await findRow(ctx.hub.read, ctx, domainRows, id)
  const view = ({ at, from, to, source, irregular, id: move }: typeof domainHistory.$inferSelect) => ({
    ...{ id: move, at: instant(at), from, to, source, irregular },
  })
  return await listPage(ctx, moveListing, query, view, domain.id)
}

/** The last answer of each source. @throws Problem 404 */
export async function listReadings(ctx: Ctx, id: string): Promise<Page<DomainReadingView>> {
  const { read } = ctx.hub
  const domain = await findRow(read, ctx, domainRows, id)
  const known = (await knownFacts(read, [domain.name])).get(domain.name)
  const counted = known && countedOf(known)
  const own = await read.select().from(domainReadings).where(eq(domainReadings.domainId, domain.id))
  return onePage([
    ...own.map(({ source, at, state, facts, detail }) => ({
      ...{ source, at: instant(at), state, detail },
      facts: facts && factsView(facts),
    })),
    ...(known?.evidence ?? []).map(one => ({
      source: one.source,
      at: instant(one.at),
      state: one.result,
      facts: known!.facts && (one === counted || known!.evidence.length === 1) ? factsView(known!.facts) : null,
      detail: one.detail,
    })),
  ])
}

const factsView = (
  facts: Pick<DomainFacts, 'statuses' | 'registered_at' | 'expires_at' | 'registrar_expires_at' | 'registrar' | 'nameservers'>,
) => ({
  statuses: facts.statuses,
  registered_at: instant(facts.registered_at),
  expires_at: instant(facts.expires_at),
  registrar_expires_at: instant(facts.registrar_expires_at),
  registrar: facts.registrar?.name ?? null,
  nameservers: facts.nameservers,
})

const maxRefreshesPerMinute = 3

/** Asks the registry again, within seconds. @throws Problem 404, 409 if no server is known for the top-level domain, 429 */
export async function refreshDomain(ctx: Ctx, id: string): Promise<DomainView> {
  const { hub } = ctx
  const row = await findRow(hub.read, ctx, domainRows, id)
  const isSupported = await supportedNames(hub)
  if (!isSupported(row.name)) throw conflict(`No server is known for .${row.tld}, so the domain can’t be looked up.`)
  refuseTooManyRequests(ctx, 'domain-refreshes', id, maxRefreshesPerMinute)
  return await change(ctx, 'domains.domain.refresh', async tx => {
    await lookBy(tx, row.name, hub.clock.now())
    return { result: domainView(hub, row), target: targetOf(domainRows, row) }
  })
}
