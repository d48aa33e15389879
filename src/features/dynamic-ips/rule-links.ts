import { and, asc, count, eq, inArray } from 'drizzle-orm'
import { forUpdate } from '../../core/db/dialect'
import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { newId } from '../../core/ids'
import { inputColumns } from '../../core/members'
import { invalid } from '../../core/problem'
import { driveLinks } from './drive-links'
import { joinedEffects, type Effects } from './effects'
import { linkMembers, maxLinks } from './link-shapes'
import { dynamicIpLinks, dynamicIps } from './tables'
import type { LinkRow, SourceRow } from './view'

/** A firewall rule that names a source: its addresses, its delegated IPv6 prefix, or both. */
export interface NamedSource {
  ruleId: string
  sourceId: string
  hasAddresses: boolean
  hasPrefix: boolean
}

/** The sources of a workspace with these ids. Locked in a fixed order, before the firewalls that name them. */
export const lockSources = (tx: Tx, workspaceId: string, ids: readonly string[]): Promise<SourceRow[]> =>
  ids.length === 0
    ? Promise.resolve([])
    : forUpdate(
        tx
          .select()
          .from(dynamicIps)
          .where(and(eq(dynamicIps.workspaceId, workspaceId), inArray(dynamicIps.id, [...ids])))
          .orderBy(asc(dynamicIps.id)),
      )

/** The networks of sources of a workspace, by what a rule lists for them. Sources that don’t exist are left out. */
export async function networksOfSources(
  read: Reader,
  workspaceId: string,
  ids: readonly string[],
): Promise<Map<string, { addresses: string[]; prefix: string[] }>> {
  if (ids.length === 0) return new Map()
  const found = await read
    .select()
    .from(dynamicIps)
    .where(and(eq(dynamicIps.workspaceId, workspaceId), inArray(dynamicIps.id, [...ids])))
  return new Map(
    found.map(one => [
      one.id,
      {
        addresses: [...(one.ipv4 ? [`${one.ipv4}/32`] : []), ...(one.ipv6 ? [`${one.ipv6}/128`] : [])],
        prefix: one.prefix6 ? [one.prefix6] : [],
      },
    ]),
  )
}

/** The networks of sources that rules of these firewalls allow now, including those within their grace period. */
export async function linkedNetworks(read: Reader, firewallIds: readonly string[]): Promise<Map<string, string[]>> {
  if (firewallIds.length === 0) return new Map()
  const links = await read
    .select()
    .from(dynamicIpLinks)
    .where(inArray(dynamicIpLinks.firewallId, [...firewallIds]))
  return new Map(links.map(one => [linkKey(one.firewallId, one.ruleId, one.sourceId), one.applied]))
}

export const linkKey = (firewallId: string, ruleId: string, sourceId: string): string => `${firewallId} ${ruleId} ${sourceId}`

/** @throws Problem 422 if a source would have too many links */
async function refuseTooManyLinks(tx: Tx, added: readonly NamedSource[], sources: readonly SourceRow[]): Promise<void> {
  if (added.length === 0) return
  const rows = await tx
    .select({ id: dynamicIpLinks.sourceId, links: count() })
    .from(dynamicIpLinks)
    .where(inArray(dynamicIpLinks.sourceId, [...new Set(added.map(one => one.sourceId))]))
    .groupBy(dynamicIpLinks.sourceId)
  const problems = sources.flatMap(({ id, name }) => {
    const links = (rows.find(one => one.id === id)?.links ?? 0) + added.filter(one => one.sourceId === id).length
    const detail = `can name a dynamic IP source ${maxLinks} times in all firewalls, but ${name} would be named ${links} times.`
    return links > maxLinks ? [{ pointer: '#/rules', code: 'too_many', detail }] : []
  })
  if (problems.length > 0) throw invalid(problems)
}

/** Links exactly the sources that the rules of a firewall name. @param sources locked @throws Problem 422 */
export async function followRules(
  tx: Tx,
  hub: Hub,
  firewallId: string,
  named: readonly NamedSource[],
  sources: readonly SourceRow[],
): Promise<Effects> {
  const links = await tx.select().from(dynamicIpLinks).where(eq(dynamicIpLinks.firewallId, firewallId))
  const isNamedBy = (link: LinkRow) => (one: NamedSource) => one.ruleId === link.ruleId && one.sourceId === link.sourceId
  const gone = links.filter(link => !named.some(isNamedBy(link))).map(one => one.id)
  if (gone.length > 0) await tx.delete(dynamicIpLinks).where(inArray(dynamicIpLinks.id, gone))
  const added = named.filter(one => !links.some(link => isNamedBy(link)(one)))
  await refuseTooManyLinks(tx, added, sources)
  let effects = joinedEffects()
  for (const source of sources)
    for (const one of named.filter(each => each.sourceId === source.id)) {
      const existing = links.find(link => isNamedBy(link)(one))
      const link = existing ? await adapted(tx, existing, one) : await insertLink(tx, firewallId, one)
      if (link === existing || source.status === 'paused' || source.status === 'held') continue
      effects = joinedEffects(effects, (await driveLinks(tx, hub, source, [link])).effects)
    }
  return effects
}

const modeOf = ({ hasAddresses, hasPrefix }: NamedSource): Pick<LinkRow, 'families' | 'ipv6'> => ({
  families: hasAddresses ? ['ipv4', 'ipv6'] : ['ipv6'],
  ipv6: hasPrefix ? 'prefix' : 'address',
})

async function insertLink(tx: Tx, firewallId: string, named: NamedSource): Promise<LinkRow> {
  const row: LinkRow = {
    id: newId('dfl'),
    sourceId: named.sourceId,
    ...inputColumns(linkMembers, { firewall_id: firewallId, rule_id: named.ruleId }),
    ...modeOf(named),
    status: 'active',
    reason: null,
    applied: [],
    pendingRemoval: [],
    changes: [],
  }
  await tx.insert(dynamicIpLinks).values(row)
  return row
}

/** The link with what the rule names now. Which families it has is kept, as far as possible. */
async function adapted(tx: Tx, link: LinkRow, named: NamedSource): Promise<LinkRow> {
  const entries = new Set(entriesOf(link))
  const isSame = entries.has(link.sourceId) === named.hasAddresses && entries.has(prefixEntry(link.sourceId)) === named.hasPrefix
  if (isSame) return link
  const set = modeOf(named)
  await tx.update(dynamicIpLinks).set(set).where(eq(dynamicIpLinks.id, link.id))
  return { ...link, ...set }
}

const prefixEntry = (sourceId: string): string => `${sourceId}/prefix6`

/** What a rule lists for a link. */
export function entriesOf({ sourceId, families, ipv6 }: Pick<LinkRow, 'sourceId' | 'families' | 'ipv6'>): string[] {
  const hasPrefix = ipv6 === 'prefix' && families.includes('ipv6')
  const hasAddresses = families.includes('ipv4') || !hasPrefix
  return [...(hasAddresses ? [sourceId] : []), ...(hasPrefix ? [prefixEntry(sourceId)] : [])]
}
