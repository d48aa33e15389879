/** The name of a field of the API as a property: `created_at` becomes `createdAt`. */
export type PropertyName<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<PropertyName<B>>}` : S

// Lists convert every field of every row.
const converted = new Map<string, string>()

/** @param field a declared name, not one from a request */
export function propertyOf(field: string): string {
  let property = converted.get(field)
  if (property === undefined) {
    property = field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
    converted.set(field, property)
  }
  return property
}
