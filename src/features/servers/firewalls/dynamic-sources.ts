import { and, eq } from 'drizzle-orm'
import { forUpdate } from '../../../core/db/dialect'
import type { Reader } from '../../../core/db/transaction'
import { saveRow, targetOf } from '../../../core/rows'
import type { FirewallRules } from '../../dynamic-ips/firewall-rules'
import { insertVersion } from './change-rules'
import { hint, stageEnforcement } from './enforce'
import { dynamicSourceOf, type FirewallRule } from './rules'
import { firewalls } from './tables'
import { firewallRows, type FirewallRow } from './view'

/** Lets firewalls follow dynamic IP sources: rules list the sources, and links have their networks. */
export const firewallRules: FirewallRules = {
  async find(read, workspaceId, firewallId, ruleId) {
    const rule = ruleOf(await firewallOf(read, workspaceId, firewallId), ruleId)
    return rule ? { direction: rule.direction === 'in' ? 'inbound' : 'outbound', hasSources: rule.direction === 'in' } : null
  },

  async stageSources(tx, _, { workspaceId, firewallId, ruleId, add }) {
    const row = await firewallOf(tx, workspaceId, firewallId)
    if (!row || !ruleOf(row, ruleId)) return null
    const jobs = await stageEnforcement(tx, firewallId)
    hint(tx, row)
    return { firewall: targetOf(firewallRows, row), added: add, isApplied: jobs.length === 0, effects: { jobs } }
  },

  async nameSource(tx, hub, { workspaceId, firewallId, ruleId, sourceId, entries, by }) {
    const [row] = await forUpdate(
      tx
        .select()
        .from(firewalls)
        .where(and(eq(firewalls.id, firewallId), eq(firewalls.workspaceId, workspaceId))),
    )
    const rule = ruleOf(row, ruleId)
    if (!row || !rule) return {}
    const others = rule.sources.filter(one => dynamicSourceOf(one)?.sourceId !== sourceId)
    const own = rule.sources.filter(one => dynamicSourceOf(one)?.sourceId === sourceId)
    if (own.length === entries.length && entries.every(one => own.includes(one))) return {}
    const rules = row.rules.map(one => (one === rule ? { ...rule, sources: [...others, ...entries] } : one))
    const after = await saveRow(tx, { hub }, firewallRows, row, { rules, rulesVersion: row.rulesVersion + 1 })
    await insertVersion(tx, hub, after, { reason: 'dynamic_ip', note: null, allowed: [], by })
    hint(tx, row)
    return { jobs: await stageEnforcement(tx, firewallId) }
  },
}

const firewallOf = async (read: Reader, workspaceId: string, id: string): Promise<FirewallRow | undefined> =>
  (
    await read
      .select()
      .from(firewalls)
      .where(and(eq(firewalls.id, id), eq(firewalls.workspaceId, workspaceId)))
  )[0]

const ruleOf = (row: FirewallRow | undefined, id: string): FirewallRule | undefined => row?.rules.find(one => one.id === id)
