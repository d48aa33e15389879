/** Where the hub's own engine checks from. */
export const localLocation = 'local'

/** How series name a location: the hub's own is 0. Null for one that is not known. */
export const locationNumber = (name: string): number | null => (name === localLocation ? 0 : null)

/** The location of a number in the series; one that is gone keeps its number. */
export const locationName = (number: number): string => (number === 0 ? localLocation : `location-${number}`)
