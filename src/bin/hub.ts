import { basename } from 'node:path'
import { runCommand } from '../cli'

// Make database, keys and backups readable only by this user.
process.umask(0o077)

// Exits explicitly: a stray timer of a library must not keep a finished command running.
const threads = {
  nameServer: new URL('./name-server.ts', import.meta.url).href,
  checks: new URL('./checks.ts', import.meta.url).href,
  checkpoints: new URL('./checkpoints.ts', import.meta.url).href,
}
// Hubs give their own program to servers if they have no smaller one, and the agent’s name then makes it the agent.
const words = basename(process.execPath).startsWith('bailiwick-agent') ? ['agent'] : []
process.exit(await runCommand([...words, ...process.argv.slice(2)], threads))
