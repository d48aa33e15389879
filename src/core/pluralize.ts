/** A number with its noun, passed in the plural: `2 data keys`, `1 data key`, `1 entry`. */
export const pluralize = (n: number, plural: string): string =>
  `${n} ${n === 1 ? plural.replace(/ies$/, 'y').replace(/s$/, '') : plural}`

export const isOrAre = (n: number): string => (n === 1 ? 'is' : 'are')

export const wasOrWere = (n: number): string => (n === 1 ? 'was' : 'were')
