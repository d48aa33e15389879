export const areas = ['domains', 'dns', 'cloud', 'certificates', 'monitoring', 'dynamic_ip', 'webhooks', 'account'] as const
export type Area = (typeof areas)[number]
export type Access = 'read' | 'write'
/** `<area>.<access>`, as a token holds it and a route asks for it. */
export type Permission = `${Area}.${Access}`

export const permissions: Permission[] = areas.flatMap(area => [`${area}.read`, `${area}.write`] as Permission[])

/** What a caller may do; `write` of an area implies `read` of it. */
export type Permissions = ReadonlySet<Permission>

export const fullAccess: Permissions = new Set(permissions)
export const readOnly: Permissions = new Set(permissions.filter(one => one.endsWith('.read')))

/** The permissions of a scoped token, with each implied read written out. */
export function granted(listed: readonly Permission[]): Permissions {
  return new Set(listed.flatMap(one => (one.endsWith('.write') ? [one, one.replace('.write', '.read') as Permission] : [one])))
}

/** Everything read and written but the account area, or read alone: the roles member and viewer. */
export const memberAccess: Permissions = new Set(permissions.filter(one => one !== 'account.write'))
export const viewerAccess: Permissions = new Set(permissions.filter(one => one.endsWith('.read') && one !== 'account.read'))
