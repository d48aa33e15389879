import type { FirewallRules } from '../../src/features/dynamic-ips/firewall-rules'

interface Rule {
  direction: 'inbound' | 'outbound'
  sources: string[] | null
}

/** Firewalls with rules in memory. While they are slow, changes are staged, but not applied. */
export class FirewallDouble implements FirewallRules {
  readonly rules = new Map<string, Rule>()
  /** All changes of sources, oldest first. */
  readonly log: string[] = []
  isSlow = false

  constructor(private readonly workspaceId: string) {}

  async find(_: unknown, workspaceId: string, firewallId: string, ruleId: string) {
    const rule = workspaceId === this.workspaceId ? this.rules.get(`${firewallId} ${ruleId}`) : undefined
    return rule ? { direction: rule.direction, hasSources: rule.sources !== null } : null
  }

  async stageSources(...[, , change]: Parameters<FirewallRules['stageSources']>) {
    const rule = this.rules.get(`${change.firewallId} ${change.ruleId}`)
    if (!rule?.sources) return null
    const added = change.add.filter(one => !rule.sources!.includes(one))
    rule.sources = [...rule.sources.filter(one => !change.remove.includes(one)), ...added]
    this.log.push(...added.map(one => `+${one}`), ...change.remove.map(one => `-${one}`))
    const firewall = { type: 'firewall', id: change.firewallId, name: null }
    return { firewall, added, isApplied: !this.isSlow, effects: {} }
  }

  async nameSource() {
    return {}
  }
}
