import { startAgent } from '../agent/run'

// Keys, tokens, and minutes that wait are only readable by the user of the agent.
process.umask(0o077)

process.exit(await startAgent(process.argv.slice(2)))
