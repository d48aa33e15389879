import { icmp } from '../../src/checks/icmp'
import { ownPingWays } from '../../src/checks/ping/ways'
import { around } from './around'

// Pings the addresses of its arguments and prints what came of it: compiled, it shows what a program of its own may do.
const facts = []
for (const address of process.argv.slice(2))
  facts.push(await icmp.run(icmp.target(address), { count: 2, gap_ms: 10, answer_within_ms: 10_000 }, around()))
const found = facts.map(({ connected, error, phases }) => ({ connected, error, total: phases.total }))
process.stdout.write(JSON.stringify({ user: process.getuid?.(), capability: ownPingWays().capability(), found }))
