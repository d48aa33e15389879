import { runProbe } from '../probe/run'

const { code, out, err } = runProbe(process.argv.slice(2))
process.stdout.write(out)
process.stderr.write(err)
process.exitCode = code
