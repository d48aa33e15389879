import type { TObject } from '@sinclair/typebox'
import type { Reader, Tx } from './db/transaction'
import type { Hub } from './hub'
import { mergePatch } from './merge-patch'
import { pointerPart } from './pointer'
import { invalid } from './problem'
import type { Place } from './secrets'
import { fieldProblems } from './validate'

export type Settings = Record<string, unknown>

/**
 * The settings of one type of check, channel or provider. Paths are JSON pointers (RFC 6901) without the leading slash, such as
 * `api_key` or `auth/password`. `*` as the last part matches all fields of an object: `headers/*`.
 */
export interface SettingsDefinition {
  settings: TObject
  /** Paths of secrets: stored encrypted and never shown. */
  secrets: readonly string[]
  /** Paths of the settings that determine where secrets are sent. If one of them changes, secrets must be entered again. */
  destination: readonly string[]
  /** Validates what the schema can't express. @throws Problem 422 below `#/settings` */
  validate?(settings: any): void
}

/** Settings as stored. The secrets are encrypted together as a JSON object from path to value; null without secrets. */
interface StoredSettings {
  settings: Settings
  secretsSealed: string | null
  secretNames: string[]
}

/**
 * Validates settings and fills in defaults.
 * @param at JSON pointer of the settings in the request
 * @throws Problem 422 for each invalid field, below `at`
 */
export function validateSettings(form: SettingsDefinition, input: Settings, at = '#/settings'): Settings {
  const members = form.settings.properties
  const withDefaults = Object.entries(members).map(([name, schema]) => [name, input[name] ?? schema.default])
  const settings: Settings = { ...Object.fromEntries(withDefaults.filter(([, value]) => value !== undefined)), ...input }
  const problems = fieldProblems(form.settings, settings, at)
  if (problems.length > 0) throw invalid(problems)
  form.validate?.(settings)
  return settings
}

/**
 * Applies a merge patch (RFC 7396) to settings. Secrets are only sent to the destination they were entered for: otherwise anyone
 * with write access could read them by changing the destination to their own server.
 * @param stored settings including secrets
 * @throws Problem 422
 */
export function patchSettings(form: SettingsDefinition, stored: Settings, patch: Settings, at = '#/settings'): Settings {
  const edited = validateSettings(form, mergePatch(stored, patch), at)
  const moved = destinationChanged(form, stored, edited)
  const carried = Object.keys(secretsOf(form, edited)).filter(path => moved && valueAt(patch, partsOf(path)) === undefined)
  if (carried.length === 0) return edited
  throw invalid(
    carried.map(path => ({
      pointer: `${at}/${path}`,
      code: 'required',
      detail: `must be entered again when you change ${form.destination.join(', ')}: secrets are only sent to the server they were entered for.`,
    })),
  )
}

/** Whether an update changes where secrets are sent. */
export const destinationChanged = (form: Pick<SettingsDefinition, 'destination'>, stored: Settings, edited: Settings): boolean =>
  form.destination.some(path => JSON.stringify(valueAt(edited, partsOf(path))) !== JSON.stringify(valueAt(stored, partsOf(path))))

/** The settings including secrets. @throws DecryptionFailed */
export async function openSettings(
  hub: Hub,
  place: Place,
  row: Pick<StoredSettings, 'settings' | 'secretsSealed'>,
  read?: Reader,
): Promise<Settings> {
  if (row.secretsSealed === null) return row.settings
  return withValues(row.settings, JSON.parse(await hub.keys.open(place, row.secretsSealed, read)) as Settings)
}

/** Returns a copy of the settings with values set at paths. */
export function withValues(settings: Settings, values: Settings): Settings {
  const filled = structuredClone(settings)
  for (const [path, value] of Object.entries(values)) put(filled, partsOf(path), value)
  return filled
}

/** The columns in which settings are stored. */
export async function settingsColumns(
  tx: Tx,
  hub: Hub,
  place: Place,
  form: Pick<SettingsDefinition, 'secrets'>,
  settings: Settings,
): Promise<StoredSettings> {
  const secrets = secretsOf(form, settings)
  const secretNames = Object.keys(secrets)
  const shown = structuredClone(settings)
  for (const path of secretNames) drop(shown, partsOf(path))
  return {
    settings: shown,
    secretsSealed: secretNames.length === 0 ? null : await hub.keys.seal(tx, place, JSON.stringify(secrets)),
    secretNames,
  }
}

/** The secrets in settings, by path. */
export const secretsOf = (form: Pick<SettingsDefinition, 'secrets'>, settings: Settings): Settings =>
  Object.fromEntries(form.secrets.flatMap(path => matches(settings, partsOf(path))))

/** All values that a path matches, each with its exact path. */
function matches(settings: Settings, parts: readonly string[]): [string, unknown][] {
  const above = parts.slice(0, -1)
  const holder = valueAt(settings, above)
  if (!isObject(holder)) return []
  const names = parts.at(-1) === '*' ? Object.keys(holder) : [parts.at(-1)!]
  return names.flatMap(name => {
    const value = Object.hasOwn(holder, name) ? holder[name] : undefined
    return value === undefined ? [] : [[[...above, name].map(pointerPart).join('/'), value] as [string, unknown]]
  })
}

function valueAt(settings: unknown, parts: readonly string[]): unknown {
  let at = settings
  for (const part of parts) {
    if (!isObject(at) || !Object.hasOwn(at, part)) return undefined
    at = at[part]
  }
  return at
}

function put(settings: Settings, parts: readonly string[], value: unknown): void {
  let at = settings
  for (const part of parts.slice(0, -1)) at = (isObject(at[part]) ? at[part] : (at[part] = {})) as Settings
  at[parts.at(-1)!] = value
}

function drop(settings: Settings, parts: readonly string[]): void {
  const holder = valueAt(settings, parts.slice(0, -1))
  if (isObject(holder)) delete holder[parts.at(-1)!]
}

const partsOf = (path: string): string[] => path.split('/').map(part => part.replaceAll('~1', '/').replaceAll('~0', '~'))
const isObject = (value: unknown): value is Settings => typeof value === 'object' && value !== null && !Array.isArray(value)
