/** The values of a form, by the names of the fields. */
export type Values = Record<string, unknown>

export const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Values for the fields in `defaults`: those of a resource, or the defaults for a new one. */
export const valuesFor = (defaults: Values, resource: object | null): Values =>
  resource ? Object.fromEntries(Object.keys(defaults).map(name => [name, (resource as Values)[name]])) : defaults

/** The fields whose values differ. */
export const changedFields = (before: Values, values: Values, names: readonly string[] = Object.keys(values)): Values =>
  Object.fromEntries(names.filter(name => !isSame(values[name], before[name])).map(name => [name, values[name]]))

/** Values for the fields of an object in a field, named `prefix.name`. */
export const flattened = (prefix: string, value: object): Values =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [`${prefix}.${name}`, inner]))

/** The object whose fields are named `prefix.name`. */
export const nested = (prefix: string, values: Values): Values =>
  Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) =>
      name.startsWith(`${prefix}.`) ? [[name.slice(prefix.length + 1), value]] : [],
    ),
  )
