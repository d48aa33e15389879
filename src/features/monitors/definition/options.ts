import type { Hub } from '../../../core/hub'
import type { Reader, Tx } from '../../../core/db/transaction'
import { mergePatch } from '../../../core/merge-patch'
import { invalid } from '../../../core/problem'
import {
  validateSettings,
  openSettings,
  secretsOf,
  settingsColumns,
  type Settings,
  type SettingsDefinition,
} from '../../../core/sealed-settings'
import { discriminator } from '../../../core/shapes'
import { asProblem, type MonitorType } from './types'
import type { MonitorRow } from '../view'

/** A target and options, including secrets, as they are stored. */
export interface TargetAndOptions {
  target: string
  options: Settings
}

/**
 * Target and options of a new monitor, with the defaults of the type filled in.
 * @throws Problem 422 for each invalid field
 */
export function validatedOptions(type: MonitorType, target: string, input: Settings): TargetAndOptions {
  const read = asProblem(() => type.target(target))
  const options = validateSettings(formOf(type), input, '#/options')
  asProblem(() => type.validate?.(options, read))
  return { target: read, options }
}

/**
 * The same after an update (RFC 7396). A secret is only ever sent to the destination it was entered for: otherwise anyone who may edit
 * a monitor could read its secrets by pointing it at their own server.
 * @param patch changes to the target and the options; null options reset to the defaults
 * @throws Problem 422
 */
export function patchedOptions(
  type: MonitorType,
  current: TargetAndOptions,
  patch: Partial<{ target: string; options: Settings | null }>,
): TargetAndOptions {
  const input = patch.options ?? {}
  const base = patch.options === null ? {} : baseOf(type, current.options, input)
  const updated = validatedOptions(type, patch.target ?? current.target, mergePatch(base, input))
  const reentered = new Set(Object.keys(optionSecrets(type, input)))
  refuseCarriedSecrets(
    type,
    current,
    updated,
    Object.keys(optionSecrets(type, updated.options)).filter(path => !reentered.has(path)),
  )
  return updated
}

/**
 * Rejects secrets that would be carried over to a different destination.
 * @param carried paths of secrets that were not entered again
 * @throws Problem 422 for each of them
 */
export function refuseCarriedSecrets(
  type: MonitorType,
  current: TargetAndOptions,
  updated: TargetAndOptions,
  carried: readonly string[],
): void {
  if (carried.length === 0 || destinationOf(type, current) === destinationOf(type, updated)) return
  throw invalid(
    carried.map(path => ({
      pointer: `#/options/${path}`,
      code: 'required',
      detail:
        'must be entered again, because the destination changed. Secrets are only sent to the server they were entered for.',
    })),
  )
}

/** All options of a monitor, with decrypted secrets. @throws DecryptionFailed */
export const openOptions = (
  hub: Hub,
  row: Pick<MonitorRow, 'id' | 'workspaceId' | 'options' | 'secretsSealed'>,
  read?: Reader,
): Promise<Settings> => openSettings(hub, placeOf(row), { settings: row.options, secretsSealed: row.secretsSealed }, read)

/** The columns that store options. */
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

/** The secrets in the options, by path. */
export const optionSecrets = (type: MonitorType, options: Settings): Settings => secretsOf(formOf(type), options)

const formOf = (type: MonitorType): SettingsDefinition => ({
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

/** Everything that decides where a check connects to and whom it trusts there: the target without path, and options of the type. */
function destinationOf(type: MonitorType, { target, options }: TargetAndOptions): string {
  const url = target.includes('://') ? URL.parse(target) : null
  return JSON.stringify([url ? url.origin : target, ...destinations(type, options).map(([, value]) => value ?? null)])
}

/** The options that affect the destination, each with its JSON pointer; undefined for options that are not set. */
export const destinations = (type: MonitorType, options: Settings): [pointer: string, value: unknown][] =>
  (type.destination ?? []).map(pointer => [
    pointer,
    pointer
      .split('/')
      .slice(1)
      .reduce<unknown>((at, part) => (isObject(at) ? at[nameIn(at, part)] : undefined), options),
  ])

/** Header names are case-insensitive, and the last of several wins. */
const nameIn = (holder: Settings, name: string): string =>
  Object.keys(holder).findLast(one => one.toLowerCase() === name.toLowerCase()) ?? ''

/** The options to merge a patch into. An option whose kind changes (such as credentials) starts empty: its old fields don't apply. */
function baseOf(type: MonitorType, current: Settings, patch: Settings): Settings {
  const base = { ...current }
  for (const [name, schema] of Object.entries(type.options.properties)) {
    const word = schema[discriminator] as string | undefined
    const [now, patched] = [current[name], patch[name]]
    if (word && isObject(now) && isObject(patched) && patched[word] !== undefined && patched[word] !== now[word])
      delete base[name]
  }
  return base
}

const isObject = (value: unknown): value is Settings => typeof value === 'object' && value !== null && !Array.isArray(value)
