// Milliseconds. Go's duration units, plus days and weeks.
const durations: Record<string, number> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3,
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
}
// Bytes: decimal (SI) and binary (IEC 80000-13).
const sizes: Record<string, number> = { B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }

const wholeNumber = /^[+-]?(?:0[xX][\dA-Fa-f]+|0[oO][0-7]+|0[bB][01]+|\d+)$/
const decimalNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** Parses a whole number in decimal, or with 0x, 0o or 0b; null for other text. */
export function parseWhole(text: string): number | null {
  if (text.length > 40 || !wholeNumber.test(text)) return null
  const [sign, digits] = /^[+-]/.test(text) ? [text[0] === '-' ? -1 : 1, text.slice(1)] : [1, text]
  return sign * Number(digits)
}

/** Parses a number, a duration in milliseconds (`48h`, `1h30m`, `250ms`, `30d`) or a size in bytes (`10KiB`, `2MB`); null for other text. */
export function parseNumber(text: string): number | null {
  if (text.length > 40) return null
  const plain = parseWhole(text) ?? (decimalNumber.test(text) ? Number(text) : null)
  if (plain !== null) return plain
  const size = /^(\d+(?:\.\d+)?)\s?(B|[kK]B|[MG]B|[KMG]iB)$/.exec(text)
  if (size) return Number(size[1]) * sizes[size[2]!]!
  if (!/^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|[smhdw]))+$/.test(text)) return null
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|[smhdw])/g)) sum += Number(amount) * durations[unit!]!
  return text.startsWith('-') ? -sum : sum
}

const readableUnits = ['d', 'h', 'm', 's'] as const

/** Formats a duration in its two largest adjacent units: `9d 23h`, `-1m 30s`, `250ms`. */
export function formatDuration(ms: number): string {
  const length = Math.abs(ms)
  if (length < 1000) return `${Math.round(ms) || 0}ms`
  const first = readableUnits.findIndex(unit => length >= durations[unit]!)
  const [large, small] = [readableUnits[first]!, readableUnits[first + 1]]
  const major = Math.floor(length / durations[large]!)
  const minor = small ? Math.floor((length % durations[large]!) / durations[small]!) : 0
  return `${ms < 0 ? '-' : ''}${major}${large}${minor > 0 ? ` ${minor}${small}` : ''}`
}

/** Parses a TLS or SSL version into a number, SSL below TLS: `TLSv1.3` and `1.3` are 1.3. Null for other text. */
export function parseTlsVersion(text: string): number | null {
  const [, kind, version] = /^(?:(TLS|SSL) ?v?)?(\d(?:\.\d)?)$/i.exec(text) ?? []
  if (version === undefined) return null
  return Number(version) - (kind?.toUpperCase() === 'SSL' ? 10 : 0)
}
