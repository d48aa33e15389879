import type { Reader, Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { mergePatch } from '../../core/merge-patch'
import { invalid } from '../../core/problem'
import type { Place } from '../../core/secrets'
import { fieldProblems } from '../../core/validate'
import type { dnsProviders } from './provider-tables'
import type { ProviderKind } from './providers/provider'

export type Settings = Record<string, unknown>

/** The part of a provider that its settings are in. */
export type SettingsRow = Pick<
  typeof dnsProviders.$inferSelect,
  'id' | 'workspaceId' | 'kind' | 'settings' | 'secretsSealed' | 'secretNames'
>

/**
 * Settings as a kind wants them, with what it takes for granted written out.
 * @throws Problem 422 at each member that is wrong, below `#/settings`
 */
export function checkedSettings(kind: ProviderKind, given: Settings): Settings {
  const members = kind.settings.properties
  const granted = Object.entries(members).map(([name, schema]) => [name, given[name] ?? schema.default])
  const settings: Settings = { ...Object.fromEntries(granted.filter(([, value]) => value !== undefined)), ...given }
  const problems = fieldProblems(kind.settings, settings, '#/settings')
  if (problems.length > 0) throw invalid(problems)
  kind.refuse?.(settings)
  return settings
}

/**
 * Settings after an edit (RFC 7396). Secrets go to the server they were given for only: whoever may edit a provider could otherwise
 * read them by pointing it at themselves.
 * @param kept with its secrets
 * @throws Problem 422
 */
export function editedSettings(kind: ProviderKind, kept: Settings, patch: Settings): Settings {
  const edited = checkedSettings(kind, mergePatch(kept, patch))
  const elsewhere = isElsewhere(kind, kept, edited)
  const carried = kind.secrets.filter(name => elsewhere && edited[name] !== undefined && !(name in patch))
  if (carried.length === 0) return edited
  throw invalid(
    carried.map(name => ({
      pointer: `#/settings/${name}`,
      code: 'required',
      detail: `must be given again with another ${kind.destination.join(', ')}: it goes to the server it was given for only.`,
    })),
  )
}

/** Whether settings lead to another server. */
export const isElsewhere = (kind: ProviderKind, kept: Settings, edited: Settings): boolean =>
  kind.destination.some(name => JSON.stringify(edited[name]) !== JSON.stringify(kept[name]))

/** All settings of a provider, its secrets among them. @throws NotOpened */
export async function openSettings(hub: Hub, row: SettingsRow, read?: Reader): Promise<Settings> {
  if (row.secretsSealed === null) return row.settings
  return { ...row.settings, ...(JSON.parse(await hub.keys.open(sealedIn(row), row.secretsSealed, read)) as Settings) }
}

/** The columns that keep settings. */
export async function settingsColumns(
  tx: Tx,
  hub: Hub,
  row: Pick<SettingsRow, 'id' | 'workspaceId'>,
  kind: ProviderKind,
  settings: Settings,
): Promise<Pick<SettingsRow, 'settings' | 'secretsSealed' | 'secretNames'>> {
  const secrets = secretsOf(kind, settings)
  const secretNames = Object.keys(secrets)
  return {
    settings: Object.fromEntries(Object.entries(settings).filter(([name]) => !kind.secrets.includes(name))),
    secretsSealed: secretNames.length === 0 ? null : await hub.keys.seal(tx, sealedIn(row), JSON.stringify(secrets)),
    secretNames,
  }
}

/** The secrets among settings. */
export const secretsOf = (kind: ProviderKind, settings: Settings): Settings =>
  Object.fromEntries(kind.secrets.flatMap(name => (settings[name] === undefined ? [] : [[name, settings[name]]])))

const sealedIn = ({ id, workspaceId }: Pick<SettingsRow, 'id' | 'workspaceId'>): Place => ({
  table: 'dns_providers',
  column: 'secrets_sealed',
  row: id,
  workspaceId,
})
