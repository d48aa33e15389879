import { Agent } from '../agent'
import type { Flags, Print } from './arguments'
import { openAgent } from './open-agent'

/** Sends one report with everything, without waiting minutes. */
export async function sendOnce(flags: Flags, { out, err }: Print): Promise<number> {
  const { identity, pieces } = await openAgent(flags, text => err(`${text}\n`))
  const agent = new Agent({
    ...pieces,
    spool: { add() {}, since: () => [], oldest: () => [], remove() {}, count: 0, dropped: 0 },
    keepConfig() {},
    onStatus() {},
  })
  await agent.reportOnce(() => Bun.sleep(1000))
  out(`The hub received a report of ${identity.server_id}.\n`)
  return 0
}
