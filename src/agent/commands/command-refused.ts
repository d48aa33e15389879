import type { AgentCommand } from '../../wire/agent-command'

/** Why a command is not run. The message is a sentence. */
export class CommandRefused extends Error {
  override readonly name = 'CommandRefused'
  constructor(
    message: string,
    /** The command, if the hub has sent it to this agent: only then, the hub wants to know why. */
    readonly command: AgentCommand | null = null,
    readonly outcome: 'refused' | 'expired' | 'repeated' = 'refused',
  ) {
    super(message)
  }
}
