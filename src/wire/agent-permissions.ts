/**
 * What the owner of a server can allow its agent to do, in a file on the server. `restart:nginx.service` allows restarting one unit.
 * Collecting data is always allowed. `certificates:web` allows issuing and installing certificates with the install profile `web`; the
 * profile itself allows it.
 */
export type AgentPermission =
  'collect' | 'update' | 'reboot' | 'firewall' | 'wake' | `restart:${string}` | `certificates:${string}`

/** Regular expression of a permission that is a word in the file. */
export const permissionPattern = '^(?:collect|update|reboot|firewall|wake|restart:[A-Za-z0-9][A-Za-z0-9@_.:\\\\-]{0,199})$'
const permission = new RegExp(permissionPattern)

/** Regular expression of the name of an install profile. */
export const profilePattern = '^[a-z0-9][a-z0-9-]{0,39}$'
const profile = new RegExp(profilePattern)

/** An agent is allowed at most this many things. */
export const maxPermissions = 50

/** Whether a text is a permission that the file contains as a word. */
export const isPermissionWord = (text: string): text is AgentPermission => permission.test(text)

export const isProfileName = (text: string): boolean => profile.test(text)

const profilePrefix = 'certificates:'
/** The permission that an install profile gives. */
export const profilePermission = (name: string): AgentPermission => `${profilePrefix}${name}`

/** The names of the install profiles among permissions. */
export const profilesIn = (allow: readonly string[]): string[] =>
  allow.flatMap(one => (one.startsWith(profilePrefix) ? [one.slice(profilePrefix.length)] : []))

/** Whether a text names something that agents can be allowed to do. */
export const isAgentPermission = (text: string): text is AgentPermission =>
  isPermissionWord(text) || profilesIn([text]).some(isProfileName)
