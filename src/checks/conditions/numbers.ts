// Milliseconds. As Go writes durations, and days and weeks beside.
const spans: Record<string, number> = {
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
// Octets: decimal (SI) and binary (IEC 80000-13).
const sizes: Record<string, number> = { B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30 }

const wholeNumber = /^[+-]?(?:0[xX][\dA-Fa-f]+|0[oO][0-7]+|0[bB][01]+|\d+)$/
const decimalNumber = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/

/** A whole number in decimal, or with 0x, 0o or 0b; null for any other text. */
export function wholeOf(text: string): number | null {
  if (text.length > 40 || !wholeNumber.test(text)) return null
  const [sign, digits] = /^[+-]/.test(text) ? [text[0] === '-' ? -1 : 1, text.slice(1)] : [1, text]
  return sign * Number(digits)
}

/** A number, a duration as milliseconds (`48h`, `1h30m`, `250ms`, `30d`) or a size as octets (`10KiB`, `2MB`); null for any other text. */
export function numberOf(text: string): number | null {
  if (text.length > 40) return null
  const plain = wholeOf(text) ?? (decimalNumber.test(text) ? Number(text) : null)
  if (plain !== null) return plain
  const size = /^(\d+(?:\.\d+)?)\s?(B|[kK]B|[MG]B|[KMG]iB)$/.exec(text)
  if (size) return Number(size[1]) * sizes[size[2]!]!
  if (!/^-?(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|[smhdw]))+$/.test(text)) return null
  let sum = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ns|us|µs|ms|[smhdw])/g)) sum += Number(amount) * spans[unit!]!
  return text.startsWith('-') ? -sum : sum
}

const readableUnits = ['d', 'h', 'm', 's'] as const

/** A span of milliseconds as conditions write one, in its two largest units that follow each other: `9d 23h`, `-1m 30s`, `250ms`. */
export function readable(ms: number): string {
  const length = Math.abs(ms)
  if (length < 1000) return `${Math.round(ms) || 0}ms`
  const first = readableUnits.findIndex(unit => length >= spans[unit]!)
  const [large, small] = [readableUnits[first]!, readableUnits[first + 1]]
  const many = Math.floor(length / spans[large]!)
  const few = small ? Math.floor((length % spans[large]!) / spans[small]!) : 0
  return `${ms < 0 ? '-' : ''}${many}${large}${few > 0 ? ` ${few}${small}` : ''}`
}

/** A version of TLS or, below it, of SSL, so that later ones are greater: `TLSv1.3` and `1.3` are 1.3. Null for any other text. */
export function tlsVersionOf(text: string): number | null {
  const [, kind, version] = /^(?:(TLS|SSL) ?v?)?(\d(?:\.\d)?)$/i.exec(text) ?? []
  if (version === undefined) return null
  return Number(version) - (kind?.toUpperCase() === 'SSL' ? 10 : 0)
}
