/**
 * What the owner of a server can allow its agent to do, in a file on the server. `restart:nginx.service` allows restarting one unit.
 * Collecting data is always allowed.
 */
export type AgentPermission = 'collect' | 'update' | 'reboot' | 'firewall' | 'wake' | `restart:${string}` | `recipe:${string}`

const words = ['collect', 'update', 'reboot', 'firewall', 'wake'] as const
const scoped = /^(?:restart:[A-Za-z0-9][A-Za-z0-9@_.:\\-]{0,199}|recipe:[a-z0-9][a-z0-9_-]{0,62})$/

/** An agent is allowed at most this many things. */
export const maxPermissions = 50

/** Whether a text names something that agents can be allowed to do. */
export const isAgentPermission = (text: string): text is AgentPermission =>
  (words as readonly string[]).includes(text) || scoped.test(text)
