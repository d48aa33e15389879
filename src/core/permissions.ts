export const areas = ['domains', 'dns', 'cloud', 'certificates', 'monitoring', 'dynamic_ip', 'webhooks', 'account'] as const
export type Area = (typeof areas)[number]
type Access = 'read' | 'write'
/** `<area>.<access>`, as assigned to tokens and required by routes. */
export type Permission = `${Area}.${Access}`

export const permissions: Permission[] = areas.flatMap(area => [`${area}.read`, `${area}.write`] as Permission[])

/** The permissions of a caller. `write` implies `read`. */
export type Permissions = ReadonlySet<Permission>

export const fullAccess: Permissions = new Set(permissions)
export const readOnly: Permissions = new Set(permissions.filter(one => one.endsWith('.read')))

/** Adds the implied read permissions. */
export function expandPermissions(listed: readonly Permission[]): Permissions {
  return new Set(listed.flatMap(one => (one.endsWith('.write') ? [one, one.replace('.write', '.read') as Permission] : [one])))
}

/** Permissions of the roles member and viewer: write or read access to everything except the account area. */
export const memberAccess: Permissions = new Set(permissions.filter(one => one !== 'account.write'))
export const viewerAccess: Permissions = new Set(permissions.filter(one => one.endsWith('.read') && one !== 'account.read'))
