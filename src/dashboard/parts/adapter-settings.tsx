import type { Values } from './form'
import { OptionFields, OptionGroups, schemasOf } from './option-fields'
import { fieldsOf, mergePatch, optionsFrom } from './option-values'

/** A kind of provider, channel or other external system, as the API lists it. */
interface Kind {
  settings: Record<string, unknown>
  secrets: readonly string[]
}

export interface SettingsFieldsProps {
  kind: Kind
  /** Paths of the secrets that are set. */
  secretsSet?: readonly string[] | undefined
}

const optionsOf = ({ kind, secretsSet = [] }: SettingsFieldsProps) => ({
  prefix: 'settings',
  schemas: schemasOf(kind.settings),
  secrets: kind.secrets,
  secretsSet,
})

/** Fields for the common settings of a kind. */
export const SettingsFields = (props: SettingsFieldsProps) => <OptionFields {...optionsOf(props)} />

/** The groups of its other settings. For `Advanced`. */
export const SettingsGroups = (props: SettingsFieldsProps) => <OptionGroups {...optionsOf(props)} />

/** Form values for settings, or for the defaults of their kind. */
export const settingValues = (kind: Kind, settings: Values = {}): Values =>
  Object.assign(
    {},
    ...Object.entries(schemasOf(kind.settings)).map(([name, schema]) => fieldsOf(`settings.${name}`, schema, settings[name])),
  )

/** The settings described by form values, without defaults. */
export const settingsOf = (kind: Kind, values: Values): Values => optionsFrom(schemasOf(kind.settings), values, 'settings')

/** The `settings` of a request: all of a new account, or those that an edit changed, if any. */
export function settingsBody(kind: Kind, values: Values, before: Values | null): { settings?: Values } {
  const settings = settingsOf(kind, values)
  const changed = before === null ? settings : mergePatch(settingsOf(kind, before), settings)
  return changed ? { settings: changed } : {}
}
