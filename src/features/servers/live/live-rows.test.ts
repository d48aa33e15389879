import { expect, test } from 'bun:test'
import { maxColumns } from '../../../wire/agent-limits'
import { LiveRows, maxRows } from './live-rows'

const metricsOf = (rows: LiveRows) => rows.all.map(one => one.metrics)
/** Names of columns that rows have in memory, and their values. */
const sizesOf = (rows: LiveRows) => {
  const lists = new Set(rows.all.map(one => (one as any).places as Map<string, number>))
  return [[...lists].map(one => one.size), Math.max(...rows.all.map(one => (one as any).values.length))]
}

test('rows contain exactly what was added, also if their columns differ', () => {
  const rows = new LiveRows()
  const added: Record<string, number>[] = [
    { 'cpu.used_percent': 1, 'disk.busy_percent:sda': 0 },
    {},
    { 'disk.busy_percent:sdb': 2 ** 50 + 1 },
  ]
  for (const [at, metrics] of added.entries()) rows.add({ at, metrics })
  expect(metricsOf(rows)).toEqual(added)
  for (let at = 3; at < maxRows + 5; at++) rows.add({ at, metrics: { 'cpu.used_percent': at } })
  expect(rows.all.map(one => one.at)).toEqual(Array.from({ length: maxRows }, (_, at) => at + 5))
})

test('rows share the names of their columns, and their number is limited', () => {
  const rows = new LiveRows()
  const metrics = (from: number) =>
    Object.fromEntries(Array.from({ length: maxColumns }, (_, at) => [`disk.busy_percent:${from + at}`, at]))
  for (let at = 0; at < 10; at++) rows.add({ at, metrics: metrics(0) })
  expect(sizesOf(rows)).toEqual([[maxColumns], maxColumns])
  for (let at = 10; at < 100; at++) rows.add({ at, metrics: metrics(at) })
  expect(sizesOf(rows)).toEqual([[maxColumns], maxColumns])
  expect(metricsOf(rows)).toEqual([metrics(99)])
})
