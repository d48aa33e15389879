/** `silent`: it has not reported for too long. `stopped`: it announced that it stops. */
export const agentStates = ['reporting', 'silent', 'stopped'] as const
export type AgentState = (typeof agentStates)[number]

/** Why an agent stops: its server is switched off, restarts, or only the program ends. */
export const stopReasons = ['shutdown', 'reboot', 'stop'] as const
export type StopReason = (typeof stopReasons)[number]

/** What an agent may do on its server, such as `firewall` or `restart:nginx`. */
export type AgentPermission = 'collect' | 'update' | 'reboot' | 'firewall' | 'wake' | `restart:${string}` | `recipe:${string}`

/** What an agent knows about its server. Absent facts are unknown. */
export interface AgentFacts {
  hostname?: string
  /** `PRETTY_NAME` in os-release. */
  os?: string
  kernel?: string
  arch?: string
  cores?: number
  memory_bytes?: number
  disk_bytes?: number
  addresses?: string[]
}
