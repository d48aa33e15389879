import type { StoredReport } from '../grades/report'
import type { ScanChange } from './shapes'

type Field = ScanChange['field']

/** The differences between two scans of an endpoint. What could not be scanned both times is not compared. */
export function compareReports(before: StoredReport, after: StoredReport): ScanChange[] {
  const changes: ScanChange[] = []
  const single = (field: Field, from: string | number | null, to: string | number | null) => {
    if (from !== to) changes.push({ field, from: textOf(from), to: textOf(to) })
  }
  const several = (field: Field, from: Iterable<string>, to: Iterable<string>) => {
    const [old, now] = [new Set(from), new Set(to)]
    for (const one of now.difference(old)) changes.push({ field, from: null, to: one })
    for (const one of old.difference(now)) changes.push({ field, from: one, to: null })
  }
  single('grade', before.grade, after.grade)
  single('score', before.score, after.score)
  single('profile', before.profile, after.profile)
  single('chain', before.chain, after.chain)
  several('rules', rulesOf(before), rulesOf(after))
  several('addresses', addressesOf(before), addressesOf(after))
  const both = scannedBothTimes(before, after)
  several(
    'certificates',
    both.flatMap(([one]) => certificatesOf(one)),
    both.flatMap(([, one]) => certificatesOf(one)),
  )
  several(
    'versions',
    both.flatMap(([one]) => versionsOf(one)),
    both.flatMap(([, one]) => versionsOf(one)),
  )
  several(
    'suites',
    both.flatMap(([one]) => suitesOf(one)),
    both.flatMap(([, one]) => suitesOf(one)),
  )
  several(
    'groups',
    both.flatMap(([one]) => one.groups),
    both.flatMap(([, one]) => one.groups),
  )
  several(
    'hsts',
    both.flatMap(([one]) => hstsOf(one)),
    both.flatMap(([, one]) => hstsOf(one)),
  )
  several(
    'alpn',
    both.flatMap(([one]) => one.alpn ?? []),
    both.flatMap(([, one]) => one.alpn ?? []),
  )
  return changes
}

type Address = StoredReport['addresses'][number]

const textOf = (value: string | number | null): string | null => (value === null ? null : String(value))

const rulesOf = (report: StoredReport): string[] => report.reasons.map(one => one.rule)

const addressesOf = (report: StoredReport): string[] => report.addresses.flatMap(one => one.address || [])

/** Addresses that have a grade in both, or any that have one if none is in both. */
function scannedBothTimes(before: StoredReport, after: StoredReport): [Address, Address][] {
  const graded = (report: StoredReport) => report.addresses.filter(one => one.grade !== null)
  const pairs = graded(after).flatMap((one): [Address, Address][] => {
    const old = graded(before).find(other => other.address === one.address)
    return old ? [[old, one]] : []
  })
  const [first, last] = [graded(before)[0], graded(after)[0]]
  return pairs.length === 0 && first && last ? [[first, last]] : pairs
}

const certificatesOf = ({ chains }: Address): string[] => chains.flatMap(one => one.sent[0]?.sha256 ?? [])

const versionsOf = ({ versions }: Address): string[] => versions.flatMap(one => (one.status === 'offered' ? one.version : []))

const suitesOf = ({ versions }: Address): string[] => versions.flatMap(one => one.suites.map(suite => suite.name))

const hstsOf = ({ hsts }: Address): string[] => (hsts ? [`max-age=${hsts.max_age_seconds}`] : [])
