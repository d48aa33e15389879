import { runAgent } from '../agent/run'

const { code, out, err } = runAgent(process.argv.slice(2))
process.stdout.write(out)
process.stderr.write(err)
process.exitCode = code
