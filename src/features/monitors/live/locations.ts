/** The location of the hub's own engine. */
export const localLocation = 'local'

/** The number of a location in series; the hub's own is 0. Null for an unknown location. */
export const locationNumber = (name: string): number | null => (name === localLocation ? 0 : null)

/** The location with a number in series. A location that no longer exists keeps its number. */
export const locationName = (number: number): string => (number === 0 ? localLocation : `location-${number}`)
