import { nftRuleset } from '../../src/features/servers/firewalls/host-ruleset'

/** The rule set of a host that allows connections to these TCP ports from anywhere. @param uplink network interface of its default route */
export const rulesetAllowing = (ports: readonly string[], uplink: string): string =>
  nftRuleset({
    rules: ports.map(port => ({
      ...{ id: `p${port}`, firewallId: 'fw_01k3zd5s7t9v1w3x5y7z9a1b3c', direction: 'in', protocol: 'tcp', ports: [port] },
      networks: ['0.0.0.0/0', '::/0'],
    })),
    agent: { uid: 987, hubPort: 443, isHubNamed: true },
    uplinks: [uplink],
  })
