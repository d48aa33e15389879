import type { Static, TProperties, TSchema } from '@sinclair/typebox'
import { Shape } from '../core/shapes'

// Symbols don’t appear in the JSON Schema of a kind.
const isSecret = Symbol('secret')
const isDestination = Symbol('destination')

/** Schema option of a secret setting: stored encrypted and never returned. For the values of a map, each of them is. */
export const secret = { [isSecret]: true }

/** Schema option of a setting that determines where secrets are sent. If it changes, secrets must be entered again. */
export const destination = { [isDestination]: true }

/**
 * Declares the settings of a kind of adapter, from which everything else is derived: validation, encryption, the JSON Schema and the
 * form of the dashboard, and the handbook. Each field has a description.
 */
export function settingsForm<F extends TProperties>(fields: F) {
  const settings = Shape(fields)
  return { settings, secrets: pathsOf(settings, isSecret), destination: pathsOf(settings, isDestination) }
}

/** Settings that are valid for a form. */
export type SettingsOf<T extends { settings: TSchema }> = Static<T['settings']>

/** The paths of the marked fields. */
function pathsOf(schema: TSchema, mark: symbol, path = ''): string[] {
  if ((schema as unknown as Record<symbol, unknown>)[mark]) return [path]
  const below = (name: string, inner: TSchema) => pathsOf(inner, mark, path === '' ? name : `${path}/${name}`)
  return [
    ...Object.entries((schema.properties ?? {}) as TProperties).flatMap(([name, inner]) => below(name, inner)),
    ...Object.values((schema.patternProperties ?? {}) as TProperties).flatMap(inner => below('*', inner)),
  ]
}
