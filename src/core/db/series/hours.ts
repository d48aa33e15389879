// Hours and days are numbered from 1970, UTC.
export const hourMs = 3_600_000
export const hoursADay = 24

export const hourOf = (at: number): number => Math.floor(at / hourMs)
export const dayOfHour = (hour: number): number => Math.floor(hour / hoursADay)
