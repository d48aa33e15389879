import { runCommand } from '../cli'

// Make database, keys and backups readable only by this user.
process.umask(0o077)

// Exits explicitly: a stray timer of a library must not keep a finished command running.
const threads = {
  nameServer: new URL('./name-server.ts', import.meta.url).href,
  checks: new URL('./checks.ts', import.meta.url).href,
}
process.exit(await runCommand(process.argv.slice(2), threads))
