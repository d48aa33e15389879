import { PartsReader } from '../../src/agent/sample/parts'
import { Root } from '../../src/agent/sample/root'

// Prints the parts of a report of this server as JSON. Arguments: the units to watch.
const reader = new PartsReader({ root: new Root(), containers: null, smartFile: '/run/smart.json' })
console.log(JSON.stringify(await reader.read(1, process.argv.slice(2))))
process.exit()
