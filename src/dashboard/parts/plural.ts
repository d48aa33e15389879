/** Returns a number with its noun: “1 monitor”, “12 monitors”. */
export const pluralize = (count: number, one: string, many: string): string =>
  `${count.toLocaleString()} ${count === 1 ? one : many}`
