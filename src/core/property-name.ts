/** The name of a field of the API as a property: `created_at` becomes `createdAt`. */
export type PropertyName<S extends string> = S extends `${infer A}_${infer B}` ? `${A}${Capitalize<PropertyName<B>>}` : S

export const propertyOf = (field: string): string => field.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase())
