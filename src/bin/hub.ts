import { runCommand } from '../cli'

// Database, keys and backups are for this user alone.
process.umask(0o077)

// Ends by exit and not by running dry: a library's stray timer must not keep a finished command alive.
const threads = {
  nameServer: new URL('./name-server.ts', import.meta.url).href,
  checks: new URL('./checks.ts', import.meta.url).href,
}
process.exit(await runCommand(process.argv.slice(2), threads))
