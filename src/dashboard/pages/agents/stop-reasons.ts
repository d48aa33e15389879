import type { AgentView } from '../../../features/servers/agents/shapes'

/** Why agents stop. */
export const stopReasons: Readonly<Record<NonNullable<AgentView['stop_reason']>, string>> = {
  shutdown: 'The server shut down.',
  reboot: 'The server restarts.',
  stop: 'The program was stopped.',
}
