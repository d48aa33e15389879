import { PartsReader } from '../../src/agent/sample/parts'
import { Root } from '../../src/agent/sample/root'

// Prints the parts of a report of this server as JSON. Arguments: the units to watch; or --until-disks, which also prints the first
// report with SMART data.
const args = process.argv.slice(2)
const reader = new PartsReader({ root: new Root(), containers: null, smartFile: '/run/smart.json' })
const before = performance.now()
const first = await reader.read(1, args)
const firstMs = performance.now() - before
if (args[0] !== '--until-disks') console.log(JSON.stringify(first))
else {
  let last = first
  for (let at = 2; last.disks === undefined; at++) last = await reader.read(at, args)
  console.log(JSON.stringify({ first, firstMs, last }))
}
process.exit()
