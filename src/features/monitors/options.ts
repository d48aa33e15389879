import type { Hub } from '../../core/hub'
import type { Reader, Tx } from '../../core/db/transaction'
import { mergePatch } from '../../core/merge-patch'
import { invalid } from '../../core/problem'
import {
  checkedSettings,
  openSettings,
  secretsOf,
  settingsColumns,
  type Settings,
  type SettingsForm,
} from '../../core/sealed-settings'
import { discriminator } from '../../core/shapes'
import { asProblem, type MonitorType } from './monitor-types'
import type { MonitorRow } from './view'

/** A target and options as they are kept, secrets among them. */
export interface Asked {
  target: string
  options: Settings
}

/**
 * Target and options of a new monitor, with what the type takes for granted written out.
 * @throws Problem 422 at each member that is wrong
 */
export function checkedOptions(type: MonitorType, target: string, given: Settings): Asked {
  const read = asProblem(() => type.target(target))
  const options = checkedSettings(formOf(type), given, '#/options')
  asProblem(() => type.refuse?.(options, read))
  return { target: read, options }
}

/**
 * The same after an edit (RFC 7396). Secrets go where they were given for only: whoever may edit a monitor could otherwise read them
 * by pointing it at themselves.
 * @param patch of the options; null is as in a new monitor
 * @throws Problem 422
 */
export function editedOptions(
  type: MonitorType,
  kept: Asked,
  patch: Partial<{ target: string; options: Settings | null }>,
): Asked {
  const given = patch.options ?? {}
  const base = patch.options === null ? {} : baseOf(type, kept.options, given)
  const edited = checkedOptions(type, patch.target ?? kept.target, mergePatch(base, given))
  const again = new Set(Object.keys(optionSecrets(type, given)))
  refuseCarried(
    type,
    kept,
    edited,
    Object.keys(optionSecrets(type, edited.options)).filter(path => !again.has(path)),
  )
  return edited
}

/**
 * Refuses secrets that would come along to another destination.
 * @param carried paths of secrets that were not given again
 * @throws Problem 422 at each of them
 */
export function refuseCarried(type: MonitorType, kept: Asked, edited: Asked, carried: readonly string[]): void {
  if (carried.length === 0 || destinationOf(type, kept) === destinationOf(type, edited)) return
  throw invalid(
    carried.map(path => ({
      pointer: `#/options/${path}`,
      code: 'required',
      detail: 'must be given again with another destination: it goes to the server it was given for only.',
    })),
  )
}

/** All options of a monitor, its secrets among them. @throws NotOpened */
export const openOptions = (
  hub: Hub,
  row: Pick<MonitorRow, 'id' | 'workspaceId' | 'options' | 'secretsSealed'>,
  read?: Reader,
): Promise<Settings> => openSettings(hub, placeOf(row), { settings: row.options, secretsSealed: row.secretsSealed }, read)

/** The columns that keep options. */
export async function optionColumns(
  tx: Tx,
  hub: Hub,
  row: Pick<MonitorRow, 'id' | 'workspaceId'>,
  type: MonitorType,
  options: Settings,
): Promise<Pick<MonitorRow, 'options' | 'secretsSealed' | 'secretNames'>> {
  const { settings, ...sealed } = await settingsColumns(tx, hub, placeOf(row), formOf(type), options)
  return { options: settings, ...sealed }
}

/** The secrets among options, by their paths. */
export const optionSecrets = (type: MonitorType, options: Settings): Settings => secretsOf(formOf(type), options)

const formOf = (type: MonitorType): SettingsForm => ({
  settings: type.options,
  secrets: type.secrets.map(pointer => pointer.replace(/^\//, '')),
  destination: [],
})

const placeOf = ({ id, workspaceId }: Pick<MonitorRow, 'id' | 'workspaceId'>) => ({
  table: 'monitors',
  column: 'secrets_sealed',
  row: id,
  workspaceId,
})

/** Everything that says where a check goes and who is believed to be there: its target up to the path, and what its type says. */
function destinationOf(type: MonitorType, { target, options }: Asked): string {
  const url = target.includes('://') ? URL.parse(target) : null
  return JSON.stringify([url ? url.origin : target, ...destinations(type, options).map(([, value]) => value ?? null)])
}

/** What the options of a type say about destinations, each with its JSON pointer below them; undefined for what they do not say. */
export const destinations = (type: MonitorType, options: Settings): [pointer: string, value: unknown][] =>
  (type.destination ?? []).map(pointer => [
    pointer,
    pointer
      .split('/')
      .slice(1)
      .reduce<unknown>((at, part) => (isObject(at) ? at[nameIn(at, part)] : undefined), options),
  ])

/** Names of headers are the same in capitals and small letters, and the last of two counts. */
const nameIn = (holder: Settings, name: string): string =>
  Object.keys(holder).findLast(one => one.toLowerCase() === name.toLowerCase()) ?? ''

/** Options that an edit starts from: of another kind of credentials, say, the members of the kind before mean nothing. */
function baseOf(type: MonitorType, kept: Settings, patch: Settings): Settings {
  const base = { ...kept }
  for (const [name, schema] of Object.entries(type.options.properties)) {
    const word = schema[discriminator] as string | undefined
    const [now, asked] = [kept[name], patch[name]]
    if (word && isObject(now) && isObject(asked) && asked[word] !== undefined && asked[word] !== now[word]) delete base[name]
  }
  return base
}

const isObject = (value: unknown): value is Settings => typeof value === 'object' && value !== null && !Array.isArray(value)
