import { expect, test } from 'bun:test'
import { dueNotice, nextDue } from './expiring'
import type { DomainStatus } from './statuses'

const dayMs = 86_400_000
const end = Date.parse('2027-05-01T10:00:00Z')

const scene = (more: object = {}) => ({
  status: 'active' as DomainStatus,
  expiresAt: end as number | null,
  notifyDays: null as number[] | null,
  autoRenew: null as boolean | null,
  notifiedEnd: null as number | null,
  notifiedDay: null as number | null,
  createdAt: end - 100 * dayMs,
  ...more,
})

/** Walks through the times at which something is due, as the hub does. Returns the days of the notices. */
function walk(domain: ReturnType<typeof scene>, from = end - 100 * dayMs, to = end + 100 * dayMs): number[] {
  const sent: number[] = []
  for (let now: number | null = from; now !== null && now <= to; now = nextDue(domain, now)) {
    if (domain.expiresAt !== null && domain.expiresAt <= now && domain.status === 'active') domain.status = 'expired'
    const day = dueNotice(domain, now)
    if (day === null) continue
    sent.push(day)
    domain.notifiedEnd = domain.expiresAt
    domain.notifiedDay = day
    expect(dueNotice(domain, now)).toBeNull()
  }
  return sent
}

test('notices are sent on their days, once', () => {
  expect(walk(scene())).toEqual([60, 30, 14, 7, 3, 1, 0])
  expect(walk(scene({ notifyDays: [3, 90] }))).toEqual([90, 3])
  expect(walk(scene({ expiresAt: null }))).toEqual([])
})

test('a domain that renews automatically has fewer, and one if it expires anyway', () => {
  expect(walk(scene({ autoRenew: true }))).toEqual([7, 3, 1, 0, -1])
})

test('after downtime, only the tightest is sent', () => {
  const domain = scene()
  expect(walk(domain, end - 100 * dayMs, end - 16 * dayMs)).toEqual([60, 30])
  expect(walk(domain, end - 5 * dayMs)).toEqual([7, 3, 1, 0])
  expect(walk(scene(), end + 3 * dayMs)).toEqual([0])
})

test('a moved date begins again, and another time within a day does not', () => {
  const domain = scene()
  walk(domain)
  domain.status = 'active'
  for (const difference of [60_000, dayMs, -dayMs]) {
    domain.expiresAt = end + difference
    expect(walk(domain, end - 30 * dayMs, end - 2 * dayMs)).toEqual([])
  }
  domain.expiresAt = end + 365 * dayMs
  expect(walk(domain, end, end + 365 * dayMs + 1)).toEqual([60, 30, 14, 7, 3, 1, 0])
})

test('nothing is sent about an end that was past when the domain was added, nor after it is deleted', () => {
  expect(walk(scene({ createdAt: end + dayMs }), end + dayMs)).toEqual([])
  for (const status of ['redemption', 'pending_delete', 'deleted', 'transferred_out']) expect(walk(scene({ status }))).toEqual([])
})
