import type { FirewallRules } from '../features/dynamic-ips/firewall-rules'

/** There are no firewalls in this version. */
export const noFirewalls: FirewallRules = { find: async () => null, stageSources: async () => null }
