import type { CheckError } from '../../checks/check'
import type { Sample } from './monitors'

/** A time in which a monitor of the demo was not well. Ms UTC; `to` is null while it goes on. */
export interface Trouble {
  key: string
  from: number
  to: number | null
  status: 'down' | 'degraded'
  error: CheckError
  code: number | null
}

const [dayMs, hourMs, minuteMs] = [86_400_000, 3_600_000, 60_000]

/** Days that the past of the demo is long. */
export const daysBack = 90
// Short ones stay away from what is told by name below.
const quietDays = 3

const unavailable = { kind: 'status', message: 'HTTP 503 where 200-299 is accepted' } as const
const refused = { kind: 'refused', message: 'connection refused' } as const
const timeout = { kind: 'timeout', message: 'no answer within the time limit' } as const
const slow = (ms: number) => ({ kind: 'condition', message: `It took ${ms} ms, more than 900 ms.` }) as const

/** Everything that went wrong before `now`: the same for the same random numbers. */
export function troubles(all: readonly Sample[], now: number, random: () => number): Trouble[] {
  const told = named(now)
  for (const { key, mishaps, usual } of all)
    for (let n = 0; n < mishaps && usual; n++) {
      const from = now - (quietDays + random() * (daysBack - quietDays - 1)) * dayMs
      const mishap = {
        key,
        from,
        to: from + (3 + random() * 22) * minuteMs,
        status: 'down' as const,
        ...failure(usual.code === 200, random),
      }
      if (!told.some(one => one.key === key && overlaps(one, mishap))) told.push(mishap)
    }
  const whole = told.map(one => ({ ...one, from: Math.round(one.from), to: one.to === null ? null : Math.round(one.to) }))
  return whole.sort((a, b) => a.from - b.from)
}

/** What went wrong with what, of which people remember something. */
function named(now: number): Trouble[] {
  const down = (key: string, from: number, to: number | null, error: CheckError, code: number | null = null): Trouble => ({
    key,
    from: now - from,
    to: to === null ? null : now - to,
    status: 'down',
    error,
    code,
  })
  return [
    // A failover that went wrong.
    ...['shop', 'api', 'search'].map(key => down(key, 9 * dayMs + 52 * minuteMs, 9 * dayMs, unavailable, 503)),
    // The router in front of them was away.
    ...['edge', 'db', 'cache'].map((key, place) => down(key, 12 * dayMs + 38 * minuteMs - place * 4000, 12 * dayMs, refused)),
    down('images', 26 * hourMs, 25.8 * hourMs, timeout),
    // These go on.
    down('payments', 47 * minuteMs, null, unavailable, 503),
    down('warehouse', 3.2 * hourMs, null, refused),
    {
      key: 'legacy',
      from: now - 4.6 * hourMs,
      to: null,
      status: 'degraded',
      error: { kind: 'condition', message: '[CERTIFICATE_EXPIRATION] (13d 23h) < 14d' },
      code: null,
    },
    { key: 'search', from: now - 24 * minuteMs, to: null, status: 'degraded', error: slow(1_412), code: 200 },
    ...Array.from({ length: 9 }, (_, n) => down('crm', (9 - n) * 50_000, (9 - n) * 50_000 - 25_000, unavailable, 503)),
  ]
}

function failure(isHttp: boolean, random: () => number): Pick<Trouble, 'error' | 'code'> {
  if (random() < 0.4) return { error: timeout, code: null }
  return isHttp ? { error: unavailable, code: 503 } : { error: refused, code: null }
}

const overlaps = (a: Trouble, b: Trouble): boolean => a.from < (b.to ?? Infinity) && b.from < (a.to ?? Infinity)

/** The trouble that a monitor has at a time (ms UTC). */
export const troubleOf = (all: readonly Trouble[], key: string, at: number): Trouble | null =>
  all.find(one => one.key === key && one.from <= at && (one.to === null || at < one.to)) ?? null
