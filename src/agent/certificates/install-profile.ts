import { Refused } from '../refused'

/** Where the owner of a server lets the hub install a certificate. The hub can only name the profile. */
export interface InstallProfile {
  /** Path of the certificate with its issuers. */
  certificate: string
  /** Path of the private key. If it is the same, the file contains both. */
  key: string
  /** Names or IDs. */
  user: string
  group: string
  /** Permissions of the file with the key. */
  mode: number
  /** How the service loads the certificate; null if it notices by itself. */
  load: { verb: 'reload' | 'restart'; unit: string } | null
}

/** The root half can write below these folders. */
export const installFolders = ['/etc', '/opt', '/srv', '/usr/local/etc', '/var/lib']

const example = 'certificate=/etc/nginx/tls/web.pem key=/etc/nginx/tls/web.key reload=nginx.service'
const names = ['certificate', 'key', 'owner', 'mode', 'reload', 'restart']
const userName = '[a-z_][a-z0-9_.-]{0,31}|[0-9]{1,10}'
const owner = new RegExp(`^(?:${userName}):(?:${userName})$`, 'i')
const unitName = /^[A-Za-z0-9][A-Za-z0-9@_.:\\-]{0,199}\.[a-z]+$/

/** Parses `certificate=PATH key=PATH owner=USER:GROUP mode=0600 reload=UNIT`. */
export function parseInstallProfile(text: string): InstallProfile | Refused {
  const values = new Map<string, string>()
  for (const part of text.split(/\s+/).filter(one => one !== '')) {
    const [name, value] = [part.slice(0, Math.max(0, part.indexOf('='))), part.slice(part.indexOf('=') + 1)]
    if (!names.includes(name) || values.has(name))
      return new Refused(`must be in the form ${example}; “${part}” is not expected.`)
    values.set(name, value)
  }
  const [certificate = '', key = ''] = [values.get('certificate'), values.get('key')]
  for (const [name, path] of [
    ['certificate', certificate],
    ['key', key],
  ] as const)
    if (!isInstallPath(path)) return new Refused(`must have a path below ${installFolders.join(', ')} as ${name}, not “${path}”.`)
  const { 0: belongs = 'root:root', 1: mode = '0600' } = [values.get('owner'), values.get('mode')]
  if (!owner.test(belongs)) return new Refused(`must have an owner such as root:www-data, not “${belongs}”.`)
  if (mode !== '0600' && mode !== '0640') return new Refused(`must have the mode 0600 or 0640, not “${mode}”.`)
  const [user, group] = belongs.split(':') as [string, string]
  const [reload, restart] = [values.get('reload'), values.get('restart')]
  if ((reload === undefined) === (restart === undefined))
    return new Refused('must have either reload or restart with a unit of systemd, or reload=none.')
  const unit = (reload ?? restart)!
  const isNone = reload === 'none'
  if (!isNone && !unitName.test(unit)) return new Refused(`must have a unit of systemd such as nginx.service, not “${unit}”.`)
  const load = isNone ? null : { verb: reload === undefined ? ('restart' as const) : ('reload' as const), unit }
  return { certificate, key, user, group, mode: Number.parseInt(mode, 8), load }
}

const isInstallPath = (path: string): boolean =>
  path.length <= 1000 &&
  installFolders.some(folder => path.startsWith(`${folder}/`)) &&
  !path.endsWith('/') &&
  path.split('/').every((part, at) => at === 0 || (part !== '' && part !== '.' && part !== '..'))
