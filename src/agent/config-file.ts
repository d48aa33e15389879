import { chmodSync, closeSync, existsSync, fstatSync, mkdirSync, openSync, readFileSync, statSync, type Stats } from 'node:fs'
import { dirname, isAbsolute } from 'node:path'
import {
  isPermissionWord,
  isProfileName,
  maxPermissions,
  profilePermission,
  type AgentPermission,
} from '../wire/agent-permissions'
import { isPublicKeyText } from '../wire/request-signature'
import { parseFingerprint } from '../core/net/fingerprint'
import { parseInstallProfile, type InstallProfile } from './certificates/install-profile'
import { Refused } from './refused'
import { writeFile } from './state/write-file'

/** Where the owner of a server decides what its agent may do. Only root writes to it, so that a hub can't allow itself more. */
export const configFile = '/etc/bailiwick-agent/agent.conf'

/** Settings of the file. */
export interface AgentSettings {
  /** URL of the hub without a trailing slash, such as `https://hub.example.com`. */
  hub: string
  /** Ed25519 key of the hub as in `publicKeyText`, which signs its commands. Null: as the enrolment returned it. */
  hubKey: string | null
  /** SHA-256 fingerprint of the only certificate that is accepted from the hub, in hexadecimal. Null: verified as usual. */
  pin: string | null
  /** What the hub may ask for. Always contains `collect`, and a permission for each install profile. */
  allow: AgentPermission[]
  /** Folder where the file system of the server is, such as `/host` in a container. */
  root: string
  /** Folder of its key, token, and minutes that wait to be sent. */
  stateFolder: string
  /** Folder of files that end with a restart of the server. */
  runtimeFolder: string
  /** Whether the agent reads names and states of containers from the socket of Docker or Podman. Access to it amounts to root access. */
  containers: boolean
  /** Whether the agent reports the arguments of processes in busy moments. They can contain passwords. */
  processArguments: boolean
  /** Patterns of own files with certificates, as absolute paths. Null: certificates are not looked for. */
  certificates: readonly string[] | null
  /** Where certificates may be installed, by the name of the profile. */
  installProfiles: ReadonlyMap<string, InstallProfile>
}

/** The file can't be used. The message is one sentence, with the line if it has one. */
export class InvalidConfigFile extends Error {
  override readonly name = 'InvalidConfigFile'
}

/** @throws InvalidConfigFile */
export function readConfigFile(path: string = configFile): AgentSettings {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    throw new InvalidConfigFile(code === 'ENOENT' ? `${path} does not exist.` : `${path} can’t be read: ${message}.`)
  }
  try {
    const stat = fstatSync(file)
    if (!stat.isFile()) throw new InvalidConfigFile(`${path} is not a file.`)
    checkWriters(path, stat)
    checkWriters(dirname(path), statSync(dirname(path)))
    if (stat.size > maxBytes) throw new InvalidConfigFile(`${path} is larger than ${maxBytes} bytes.`)
    return parseConfigFile(readFileSync(file, 'utf8'), path)
  } finally {
    closeSync(file)
  }
}

/** Parses the text of the file: `key = value` lines, and comments after `#`. @throws InvalidConfigFile */
export function parseConfigFile(text: string, path: string = configFile): AgentSettings {
  const values: Partial<Record<Key, unknown>> = {}
  const installProfiles = new Map<string, InstallProfile>()
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const content = line.replace(/(^|\s)#.*$/, '').trim()
    if (content === '') continue
    const refuse = (reason: string) => new InvalidConfigFile(`${path} line ${index + 1}: ${reason}`)
    const at = content.indexOf('=')
    if (at < 0) throw refuse(`${quoted(content)} is not in the form “key = value”.`)
    const [key, value] = [content.slice(0, at).trim(), content.slice(at + 1).trim()]
    const profile = key.startsWith(profileKey) ? key.slice(profileKey.length) : null
    if (profile === null && !isKey(key))
      throw refuse(`${quoted(key)} is not a setting. Settings are ${[...Object.keys(readers), `${profileKey}NAME`].join(', ')}.`)
    if (key in values || (profile !== null && installProfiles.has(profile))) throw refuse(`${key} is set twice.`)
    const read = profile === null ? readers[key as Key](value) : readProfile(profile, value)
    if (read instanceof Refused) throw refuse(`${key} ${read.reason}`)
    if (profile === null) values[key as Key] = read
    else installProfiles.set(profile, read as InstallProfile)
  }
  if (values.hub === undefined)
    throw new InvalidConfigFile(`${path} does not contain the address of the hub, such as hub = https://hub.example.com.`)
  if (values.pin && String(values.hub).startsWith('http:'))
    throw new InvalidConfigFile(`${path}: pin requires a hub whose address starts with https://.`)
  const words = (values.allow as AgentPermission[] | undefined) ?? ['collect']
  const allow = [...words, ...[...installProfiles.keys()].map(profilePermission)]
  if (allow.length > maxPermissions)
    throw new InvalidConfigFile(`${path} has more than ${maxPermissions} permissions and install profiles.`)
  const certificates = values.certificates === undefined ? [] : (values.certificates as string[] | null)
  return {
    hub: values.hub as string,
    hubKey: (values.hub_key as string | undefined) ?? null,
    pin: (values.pin as string | undefined) ?? null,
    allow,
    root: (values.root as string | undefined) ?? '/',
    stateFolder: (values.state_folder as string | undefined) ?? '/var/lib/bailiwick-agent',
    runtimeFolder: (values.runtime_folder as string | undefined) ?? '/run/bailiwick-agent',
    containers: (values.containers as boolean | undefined) ?? false,
    processArguments: (values.process_arguments as boolean | undefined) ?? false,
    certificates: certificates && [...certificates, ...[...installProfiles.values()].map(one => one.certificate)],
    installProfiles,
  }
}

/**
 * Sets settings in the file, and leaves its other lines as they are. Creates the file and its folder if necessary. Only root can do this.
 * @throws InvalidConfigFile if the result would not be valid; nothing is changed then
 */
export function changeConfigFile(path: string, changes: Partial<Record<Key, string>>): AgentSettings {
  // The agent reads it, whatever the file mode creation mask is.
  if (mkdirSync(dirname(path), { recursive: true }) !== undefined) chmodSync(dirname(path), 0o755)
  let text = existsSync(path) ? readFileSync(path, 'utf8') : heading
  for (const [key, value] of Object.entries(changes)) {
    const line = new RegExp(`^[ \\t]*${key}[ \\t]*=.*$`, 'm')
    const set = `${key} = ${value.replaceAll(/[\r\n#]/g, ' ')}`
    text = line.test(text) ? text.replace(line, () => set) : `${text.replace(/(?<=[^\n])$/, '\n')}${set}\n`
  }
  const settings = parseConfigFile(text, path)
  writeFile(path, text, { mode: 0o644, durable: true })
  return settings
}

const heading = `# Settings of the Bailiwick agent. Restart it after a change: systemctl restart bailiwick-agent
# allow: what the hub may ask for, such as update, reboot, firewall, wake, restart:nginx.service. Without it, only data is collected.
`

/** A configuration file has at most this many bytes. */
const maxBytes = 64 * 1024

const folder = (value: string) =>
  isAbsolute(value) ? value.replace(/(?<=.)\/+$/, '') : new Refused(`must be an absolute path, not ${quoted(value)}.`)

const yesOrNo = (value: string) =>
  value === 'yes' || value === 'no' ? value === 'yes' : new Refused(`must be yes or no, not ${quoted(value)}.`)

/** Reads the value of each setting. */
const readers = {
  hub: readHubUrl,
  hub_key: (value: string) =>
    isPublicKeyText(value) ? value : new Refused('must be “ed25519:” and 43 characters, as the dashboard shows it.'),
  pin: (value: string) =>
    parseFingerprint(value.replace(/^sha256:/i, '')) ?? new Refused('must be “sha256:” and 64 hexadecimal digits.'),
  allow: readPermissions,
  root: folder,
  state_folder: folder,
  runtime_folder: folder,
  containers: yesOrNo,
  process_arguments: yesOrNo,
  certificates: readPatterns,
} satisfies Record<string, (value: string) => unknown>

/** Begins the settings of install profiles. */
const profileKey = 'install.'
const readProfile = (name: string, value: string): InstallProfile | Refused =>
  isProfileName(name)
    ? parseInstallProfile(value)
    : new Refused('must end with a name of lower-case letters, digits, and hyphens, such as install.web.')

/** A setting of the file. */
type Key = keyof typeof readers
const isKey = (text: string): text is Key => Object.hasOwn(readers, text)

function readHubUrl(value: string): string | Refused {
  if (!/^https?:\/\//i.test(value)) return new Refused(`must start with https:// or http://, but is ${quoted(value)}.`)
  const url = URL.parse(value)
  if (!url || url.hostname === '') return new Refused(`is not a URL: ${quoted(value)}.`)
  if (url.username || url.password || url.pathname !== '/' || url.search || url.hash)
    return new Refused('must have no path, query, or password.')
  return url.origin
}

const maxPatterns = 50

/** `no`, or paths in which `*` stands for any characters of a name. */
function readPatterns(value: string): string[] | null | Refused {
  if (value === 'no') return null
  const patterns = value.split(/[\s,]+/).filter(one => one !== '')
  const wrong = patterns.find(one => !isAbsolute(one) || one.split('/').includes('..') || one.endsWith('/') || one.length > 1000)
  if (wrong !== undefined)
    return new Refused(`must be no, or paths of files such as /srv/*/cert.pem. ${quoted(wrong)} is not one.`)
  if (patterns.length === 0) return new Refused('must be no, or paths of files such as /srv/*/cert.pem.')
  return patterns.length > maxPatterns ? new Refused(`has more than ${maxPatterns} paths.`) : patterns
}

function readPermissions(value: string): AgentPermission[] | Refused {
  const words = value.split(/[\s,]+/).filter(word => word !== '')
  const wrong = words.find(word => !isPermissionWord(word))
  if (wrong !== undefined)
    return new Refused(
      `contains ${quoted(wrong)}, which is not a permission. Permissions are collect, update, reboot, firewall, wake, and restart:UNIT. To let the hub install certificates, add an install.NAME line.`,
    )
  const all = new Set<AgentPermission>(['collect', ...(words as AgentPermission[])])
  return all.size > maxPermissions ? new Refused(`has more than ${maxPermissions} permissions.`) : [...all]
}

/** Others must not be able to change what the agent may do: only root, and the user that runs this. */
function checkWriters(path: string, { mode, uid }: Stats): void {
  if (uid !== 0 && uid !== process.getuid?.())
    throw new InvalidConfigFile(`${path} must belong to root, but belongs to the user with ID ${uid}.`)
  if ((mode & 0o022) !== 0)
    throw new InvalidConfigFile(
      `${path} can be written by other users (mode ${(mode & 0o777).toString(8)}). Run chmod go-w ${path}.`,
    )
}

const quoted = (text: string) => `“${text.length > 60 ? `${text.slice(0, 60)}…` : text}”`
