import { cloudKindOf, cloudKinds } from '../clouds'
import type { FirewallRule } from './rules'

/** Names the clouds that can block networks. */
export const blockingKinds = (): string =>
  `Clouds that support blocks: ${cloudKinds
    .filter(one => one.capabilities.firewallBlocks)
    .map(one => one.title)
    .join(', ')}.`

export const unsupportedProtocols = (kind: string, rules: readonly FirewallRule[]) => {
  const { firewallProtocols } = cloudKindOf(kind)!.capabilities
  return rules.map((rule, at) => ({ rule, at })).filter(({ rule }) => !firewallProtocols.includes(rule.protocol))
}
