import type { CheckError } from '../../checks/check'
import type { Sample } from './monitors'

/** A period in which a monitor of the demo was down or degraded. Times in ms UTC; `to` is null while it lasts. */
export interface Outage {
  key: string
  from: number
  to: number | null
  status: 'down' | 'degraded'
  error: CheckError
  code: number | null
}

const [dayMs, hourMs, minuteMs] = [86_400_000, 3_600_000, 60_000]

/** Length of the simulated past in days. */
export const daysBack = 90
// No random outages in the last days, which belong to the named ones below.
const quietDays = 3

const unavailable = { kind: 'status', message: 'HTTP 503, expected 200-299' } as const
const refused = { kind: 'refused', message: 'connection refused' } as const
const timeout = { kind: 'timeout', message: 'timed out waiting for the response' } as const
const slow = (ms: number) => ({ kind: 'condition', message: `Response took ${ms} ms, more than 900 ms.` }) as const

/** All outages before `now`; the same for the same random numbers. */
export function createOutages(all: readonly Sample[], now: number, random: () => number): Outage[] {
  const outages = namedOutages(now)
  for (const { key, shortOutages, usual } of all)
    for (let n = 0; n < shortOutages && usual; n++) {
      const from = now - (quietDays + random() * (daysBack - quietDays - 1)) * dayMs
      const outage = {
        key,
        from,
        to: from + (3 + random() * 22) * minuteMs,
        status: 'down' as const,
        ...failure(usual.code === 200, random),
      }
      if (!outages.some(one => one.key === key && overlaps(one, outage))) outages.push(outage)
    }
  const rounded = outages.map(one => ({ ...one, from: Math.round(one.from), to: one.to === null ? null : Math.round(one.to) }))
  return rounded.sort((a, b) => a.from - b.from)
}

/** The outages that incidents, notes and postmortems refer to. */
function namedOutages(now: number): Outage[] {
  const down = (key: string, from: number, to: number | null, error: CheckError, code: number | null = null): Outage => ({
    key,
    from: now - from,
    to: to === null ? null : now - to,
    status: 'down',
    error,
    code,
  })
  return [
    // A failed database failover.
    ...['shop', 'api', 'search'].map(key => down(key, 9 * dayMs + 52 * minuteMs, 9 * dayMs, unavailable, 503)),
    // The router in front of the database and the cache was down.
    ...['edge', 'db', 'cache'].map((key, place) => down(key, 12 * dayMs + 38 * minuteMs - place * 4000, 12 * dayMs, refused)),
    down('images', 26 * hourMs, 25.8 * hourMs, timeout),
    // Still ongoing.
    down('payments', 47 * minuteMs, null, unavailable, 503),
    down('warehouse', 3.2 * hourMs, null, refused),
    {
      key: 'legacy',
      from: now - 4.6 * hourMs,
      to: null,
      status: 'degraded',
      error: { kind: 'condition', message: 'Certificate expires in 13d 23h, less than 14d' },
      code: null,
    },
    { key: 'search', from: now - 24 * minuteMs, to: null, status: 'degraded', error: slow(1_412), code: 200 },
    ...Array.from({ length: 9 }, (_, n) => down('crm', (9 - n) * 50_000, (9 - n) * 50_000 - 25_000, unavailable, 503)),
  ]
}

function failure(isHttp: boolean, random: () => number): Pick<Outage, 'error' | 'code'> {
  if (random() < 0.4) return { error: timeout, code: null }
  return isHttp ? { error: unavailable, code: 503 } : { error: refused, code: null }
}

const overlaps = (a: Outage, b: Outage): boolean => a.from < (b.to ?? Infinity) && b.from < (a.to ?? Infinity)

/** The outage of a monitor at a time (ms UTC). */
export const outageAt = (all: readonly Outage[], key: string, at: number): Outage | null =>
  all.find(one => one.key === key && one.from <= at && (one.to === null || at < one.to)) ?? null
