import { expect, test } from 'bun:test'
import { criticalAt, expiringAt, levelAt, nextAlarmAt, overdueAt, renewsItself, usualRenewalAt, type AlarmLevel } from './life'

const day = 86_400_000
const lasting = (days: number) => ({ notBefore: 0, notAfter: days * day })
const inDays = (ms: number) => Math.round((ms / day) * 10) / 10

test.each([
  // Life, then when it counts as expiring, as critical, when it is usually renewed, and when that is overdue; in days.
  [6, 4, 5, 3, 3.6],
  [10, 6.7, 8.3, 5, 6],
  [47, 31.3, 40, 31.3, 36],
  [90, 60, 83, 60, 69],
  [200, 170, 193, 133.3, 153.3],
  [398, 368, 391, 265.3, 305.1],
])('the alarms of a certificate that lasts %p days', (days, expiring, critical, renewal, overdue) => {
  const one = lasting(days)
  const due = usualRenewalAt(one)
  expect([expiringAt(one), criticalAt(one), due, overdueAt(one, due)].map(inDays)).toEqual([expiring, critical, renewal, overdue])
})

test.each([false, true])('each level begins at its time (renews itself: %p)', autoRenewing => {
  for (const days of [6, 47, 90, 200, 398]) {
    const one = { ...lasting(days), renewalDueAt: usualRenewalAt(lasting(days)), autoRenewing }
    const begins: number[] = []
    let sent: AlarmLevel | null = null
    for (let at = nextAlarmAt(one, sent); at !== null; at = nextAlarmAt(one, sent)) {
      expect(levelAt(one, at - 1)).toBe(sent)
      sent = levelAt(one, at)
      begins.push(at)
    }
    const first = autoRenewing ? overdueAt(one, one.renewalDueAt) : expiringAt(one)
    expect(begins).toEqual([first, criticalAt(one), one.notAfter].map(Math.ceil))
    expect(sent).toBe('expired')
  }
})

test('a certificate renews itself if its last two predecessors were replaced in time', () => {
  const lineage = (...starts: number[]) =>
    starts.map(start => {
      const one = { notBefore: start * day, notAfter: (start + 90) * day }
      return { ...one, renewalDueAt: usualRenewalAt(one) }
    })
  expect(renewsItself(lineage(0, 60, 120))).toBe(true)
  expect(renewsItself(lineage(0, 85, 145, 205))).toBe(true)
  expect(renewsItself(lineage(0, 60))).toBe(false)
  expect(renewsItself(lineage(0, 60, 145))).toBe(false)
  expect(renewsItself(lineage(0, 85, 145))).toBe(false)
})
