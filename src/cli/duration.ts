import { InvalidArgumentError } from 'commander'

const unitMs: Record<string, number> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }
const maxMs = 100 * 365 * 86_400_000

/**
 * Parses a duration such as `90d`, `12h`, `30m`, `45s` or `2w`, up to a hundred years.
 * @returns milliseconds
 * @throws InvalidArgumentError
 */
export function parseDuration(text: string): number {
  const match = /^(\d{1,10})([smhdw])$/.exec(text)
  const ms = match ? Number(match[1]) * unitMs[match[2]!]! : 0
  if (ms <= 0 || ms > maxMs) throw new InvalidArgumentError('It must be a number and a unit: 45s, 30m, 12h, 90d, or 2w.')
  return ms
}
