import { icmp } from '../../src/checks/icmp'
import { systemPingMethods } from '../../src/checks/ping/methods'
import { checkContext } from './check-context'

// Pings the addresses in its arguments and prints the results. When compiled, it shows which ping methods a standalone program
// can use.
const facts = []
for (const address of process.argv.slice(2))
  facts.push(
    await icmp.run(icmp.target(address), { count: 2, packet_interval_ms: 10, packet_timeout_ms: 10_000 }, checkContext()),
  )
const found = facts.map(({ connected, error, phases }) => ({ connected, error, total: phases.total }))
process.stdout.write(JSON.stringify({ user: process.getuid?.(), capability: systemPingMethods().capability(), found }))
