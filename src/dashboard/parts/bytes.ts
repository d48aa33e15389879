const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB']

/** “12.6 MB” */
export function formatBytes(bytes: number): string {
  const power = bytes < 1 ? 0 : Math.min(Math.floor(Math.log10(bytes) / 3), units.length - 1)
  const value = bytes / 1000 ** power
  return `${value.toLocaleString(undefined, { maximumFractionDigits: value < 100 && power > 0 ? 1 : 0 })} ${units[power]}`
}
