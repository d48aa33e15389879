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
 * What a kind of thing wants to be told. A path is a JSON pointer (RFC 6901) without its first slash, so that a member at the top is
 * its name alone: `api_key`, `auth/password`; `*` as its last part stands for each member of an object: `headers/*`.
 */
export interface SettingsForm {
  settings: TObject
  /** Paths of what is sealed and never shown. */
  secrets: readonly string[]
  /** Paths of what says where secrets go: with another value of one, secrets have to be given again. */
  destination: readonly string[]
  /** What the schema cannot say of the settings. @throws Problem 422 below `#/settings` */
  refuse?(settings: any): void
}

/** Settings as they are kept: the secrets are JSON of path and value, sealed as one, and null where there are none. */
export interface KeptSettings {
  settings: Settings
  secretsSealed: string | null
  secretNames: string[]
}

/**
 * Settings as a form wants them, with what it takes for granted written out.
 * @param at JSON pointer of where the caller wrote them
 * @throws Problem 422 at each member that is wrong, below `at`
 */
export function checkedSettings(form: SettingsForm, given: Settings, at = '#/settings'): Settings {
  const members = form.settings.properties
  const granted = Object.entries(members).map(([name, schema]) => [name, given[name] ?? schema.default])
  const settings: Settings = { ...Object.fromEntries(granted.filter(([, value]) => value !== undefined)), ...given }
  const problems = fieldProblems(form.settings, settings, at)
  if (problems.length > 0) throw invalid(problems)
  form.refuse?.(settings)
  return settings
}

/**
 * Settings after an edit (RFC 7396). Secrets go to the destination they were given for only: whoever may edit could otherwise read
 * them by pointing the settings at themselves.
 * @param kept with its secrets
 * @throws Problem 422
 */
export function editedSettings(form: SettingsForm, kept: Settings, patch: Settings, at = '#/settings'): Settings {
  const edited = checkedSettings(form, mergePatch(kept, patch), at)
  const elsewhere = isElsewhere(form, kept, edited)
  const carried = Object.keys(secretsOf(form, edited)).filter(path => elsewhere && valueAt(patch, partsOf(path)) === undefined)
  if (carried.length === 0) return edited
  throw invalid(
    carried.map(path => ({
      pointer: `${at}/${path}`,
      code: 'required',
      detail: `must be given again with another ${form.destination.join(', ')}: it goes to the server it was given for only.`,
    })),
  )
}

/** Whether settings lead to another destination. */
export const isElsewhere = (form: Pick<SettingsForm, 'destination'>, kept: Settings, edited: Settings): boolean =>
  form.destination.some(path => JSON.stringify(valueAt(edited, partsOf(path))) !== JSON.stringify(valueAt(kept, partsOf(path))))

/** All settings, the secrets among them. @throws NotOpened */
export async function openSettings(
  hub: Hub,
  place: Place,
  row: Pick<KeptSettings, 'settings' | 'secretsSealed'>,
  read?: Reader,
): Promise<Settings> {
  if (row.secretsSealed === null) return row.settings
  return filledIn(row.settings, JSON.parse(await hub.keys.open(place, row.secretsSealed, read)) as Settings)
}

/** Settings with values put where their paths lead. */
export function filledIn(settings: Settings, values: Settings): Settings {
  const filled = structuredClone(settings)
  for (const [path, value] of Object.entries(values)) put(filled, partsOf(path), value)
  return filled
}

/** The columns that keep settings. */
export async function settingsColumns(
  tx: Tx,
  hub: Hub,
  place: Place,
  form: Pick<SettingsForm, 'secrets'>,
  settings: Settings,
): Promise<KeptSettings> {
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

/** The secrets among settings, by their paths. */
export const secretsOf = (form: Pick<SettingsForm, 'secrets'>, settings: Settings): Settings =>
  Object.fromEntries(form.secrets.flatMap(path => found(settings, partsOf(path))))

/** Each value that a path leads to, with the path that leads to it alone. */
function found(settings: Settings, parts: readonly string[]): [string, unknown][] {
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
