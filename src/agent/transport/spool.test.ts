import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { tableOf, type WaitingMinute } from './minutes'
import { Spool } from './spool'

let folder: string
let problems: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-spool-'))
  problems = []
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

const open = (limits?: ConstructorParameters<typeof Spool>[2]) =>
  new Spool(join(folder, 'spool'), problem => problems.push(problem), limits)
const files = () => readdirSync(join(folder, 'spool')).sort()
const minuteAt = (number: number, value = number): WaitingMinute => ({
  columns: ['cpu.used_percent'],
  row: [number * 60_000, 6, [value], [value]],
})
/** Takes everything out, in order. */
function drain(spool: Spool): number[] {
  const numbers: number[] = []
  for (let next = spool.oldest(); next.length > 0; next = spool.oldest()) {
    numbers.push(...next.map(({ row: [start] }) => start / 60_000))
    spool.remove(next)
  }
  return numbers
}
const upTo = (end: number, from = 0) => Array.from({ length: end - from }, (_, at) => from + at)

test('minutes survive a restart until they are acknowledged', () => {
  const spool = open()
  for (const number of upTo(200)) spool.add(minuteAt(number))
  expect(spool.count).toBe(200)
  expect(files().filter(name => name.endsWith('.gz'))).toHaveLength(3)
  expect(spool.since(195 * 60_000).map(({ row }) => row[1])).toEqual([6, 6, 6, 6, 6])
  spool.remove(spool.since(195 * 60_000))
  const again = open()
  expect(again.count).toBe(195)
  // An hour that was sent in part is sent again from its start.
  again.remove(again.oldest().slice(0, 10))
  expect(again.count).toBe(185)
  expect(open().count).toBe(195)
  expect(drain(again)).toEqual(upTo(195, 10))
  expect(files()).toEqual([])
  expect(problems).toEqual([])
})

test('a minute that is measured again replaces the first, also while that is being sent', () => {
  const spool = open()
  spool.add(minuteAt(2, 1))
  spool.add(minuteAt(1))
  const sent = spool.oldest()
  expect(sent.map(({ row: [start] }) => start / 60_000)).toEqual([1, 2])
  spool.add(minuteAt(2, 5))
  spool.remove(sent)
  expect(open().oldest()).toEqual([minuteAt(2, 5)])
})

test('when the segments are too large, the oldest is dropped and counted', () => {
  const spool = open({ maxBytes: 400, maxLoose: 60 })
  for (const number of upTo(601)) spool.add(minuteAt(number))
  expect(spool.dropped).toBeGreaterThan(0)
  expect(spool.dropped % 60).toBe(0)
  expect(spool.count + spool.dropped).toBe(601)
  expect(open().dropped).toBe(spool.dropped)
  expect(drain(spool)).toEqual(upTo(601, spool.dropped))
})

test('a crash in the middle of a write loses no minute', () => {
  const spool = open()
  for (const number of upTo(130)) spool.add(minuteAt(number))
  // Killed while a minute was written, and after a segment was written but its minutes were not deleted yet.
  writeFileSync(join(folder, 'spool', '0000000007800000.json.new'), '{"columns":["cpu')
  writeFileSync(join(folder, 'spool', '0000000003600000.json'), JSON.stringify(minuteAt(60)))
  const again = open()
  expect([...new Set(drain(again))].sort((a, b) => a - b)).toEqual(upTo(130))
  expect(files()).toEqual([])
})

test('a segment whose minutes were not deleted yet is written again', () => {
  const spool = open()
  for (const number of upTo(60)) spool.add(minuteAt(number))
  const before = files().map(name => [name, readFileSync(join(folder, 'spool', name))] as const)
  spool.add(minuteAt(60))
  for (const [name, content] of before) writeFileSync(join(folder, 'spool', name), content)
  const again = open()
  expect(again.count).toBe(61)
  expect(drain(again)).toEqual(upTo(61))
  expect(files()).toEqual([])
  expect(problems).toEqual([])
})

test('minutes of a clock that is set back are all kept until the hub tells the time', () => {
  const spool = open()
  const minutes = upTo(61 * 3).map(number => ({
    ...minuteAt(number % 61, number),
    unsure: { bootId: 'boot-1', steady: number * 60_000 + 0.5 },
  }))
  for (const minute of minutes) spool.add(minute)
  expect(spool.count).toBe(minutes.length)
  const again = open()
  expect(again.count).toBe(minutes.length)
  const found: number[] = []
  for (let next = again.oldest(); next.length > 0; next = again.oldest()) {
    found.push(...next.map(({ row }) => row[2][0]!))
    again.remove(next)
  }
  expect(found.toSorted((a, b) => a - b)).toEqual(upTo(61 * 3))
  expect(files()).toEqual([])
})

test('damaged files are dropped, and the rest is sent', () => {
  const spool = open()
  for (const number of upTo(130)) spool.add(minuteAt(number))
  const [first] = files()
  truncateSync(join(folder, 'spool', first!), 20)
  for (const text of ['', '[]', '{"columns":[1],"row":[0,6,[1],[1]]}', '{"columns":["a"],"row":[0,6,[1,2],[1]]}'])
    writeFileSync(join(folder, 'spool', `00000000000000${10 + text.length}.json`), text)
  const again = open()
  expect(drain(again)).toEqual(upTo(130, 60))
  expect(again.dropped).toBe(60)
  expect(problems).toHaveLength(5)
})

test('without a folder to write to, minutes wait in memory, and the oldest are dropped', () => {
  const blocked = join(folder, 'blocked')
  writeFileSync(blocked, '')
  const spool = new Spool(join(blocked, 'spool'), problem => problems.push(problem), { maxBytes: 1e6, maxLoose: 60 })
  for (const number of upTo(70)) spool.add(minuteAt(number))
  expect(spool.count).toBe(10)
  expect(spool.dropped).toBe(60)
  expect(problems[0]).toMatch(/^Minutes that wait to be sent can’t be read: /)
  expect(drain(spool)).toEqual(upTo(70, 60))
})

test('minutes with different columns share a table of at most 300 columns', () => {
  const of = (number: number, ...columns: string[]): WaitingMinute => ({
    columns,
    row: [number, 6, columns.map((_, at) => at), columns.map((_, at) => at + 0.5)],
  })
  expect(tableOf([of(0, 'a', 'b'), of(1, 'b', 'c')])).toEqual({
    columns: ['a', 'b', 'c'],
    minutes: [
      [0, 6, [0, 1, null], [0.5, 1.5, null]],
      [1, 6, [null, 0, 1], [null, 0.5, 1.5]],
    ],
    count: 2,
  })
  const many = (prefix: string, count: number) => Array.from({ length: count }, (_, at) => `${prefix}${at}`)
  expect(tableOf([of(0, ...many('a', 200)), of(1, ...many('b', 101)), of(2, 'a1')]).count).toBe(1)
  const tooMany = tableOf([of(0, ...many('a', 400))])
  expect([tooMany.columns.length, tooMany.minutes[0]![2].length, tooMany.count]).toEqual([300, 300, 1])
  expect(tableOf(Array.from({ length: 99 }, (_, at) => of(at, 'a'))).count).toBe(60)
})
