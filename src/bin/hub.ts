import { runCommand } from '../cli'

// Database, keys and backups are for this user alone.
process.umask(0o077)

// Ends by exit and not by running dry: a library's stray timer must not keep a finished command alive.
process.exit(await runCommand(process.argv.slice(2), { nameServer: new URL('./name-server.ts', import.meta.url).href }))
