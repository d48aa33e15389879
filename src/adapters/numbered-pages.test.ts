import { expect, test } from 'bun:test'
import { readNumberedPages, type NumberedPage } from './numbered-pages'

const all = ['a', 'b', 'c', 'd', 'e'].map(id => ({ id }))
const perPage = 2

/** A server with a list, two rows per page. @param before called before each request, with its number */
function scripted(before: (request: number, list: { id: string }[]) => object | void = () => {}) {
  const list = [...all]
  let now = 0
  let requests = 0
  const clock = { now: () => now } as Parameters<typeof readNumberedPages>[0]
  const read = readNumberedPages(clock, async page => {
    const more = before(++requests, list)
    now += 60_000
    const rows = list.slice((page - 1) * perPage, page * perPage)
    return { rows, page, perPage, totalCount: list.length, totalPages: null, ...more } as NumberedPage
  })
  return read.then(
    rows => [rows.map(row => row.id).join(''), requests],
    error => [error.failure, error.message],
  )
}
const incomplete = (what: string) => ['incomplete', `The list is incomplete: ${what}.`]
const changed = incomplete('it changed while being read')

test('a list is read completely, and all pages but the last are read again', async () => {
  expect(await scripted()).toEqual(['abcde', 5])
  expect(await scripted((_, list) => void list.splice(2))).toEqual(['ab', 1])
  expect(await scripted((_, list) => void list.splice(0))).toEqual(['', 1])
})

test('a list that changes while being read is incomplete', async () => {
  const at = (number: number, change: (list: { id: string }[]) => unknown) =>
    scripted((request, list) => void (request === number && change(list)))
  expect(await at(2, list => list.pop())).toEqual(changed)
  expect(await at(2, list => list.unshift(list.pop()!))).toEqual(changed)
  expect(await at(3, list => list.push(list.shift()!))).toEqual(changed)
  expect(await at(4, list => list.reverse())).toEqual(changed)
})

test('a page with missing rows is incomplete', async () => {
  expect(await scripted(request => (request === 2 ? { rows: [{ id: 'c' }] } : {}))).toEqual(incomplete('page 2 has 1 of 2 rows'))
  expect(await scripted(() => ({ totalPages: 2 }))).toEqual(incomplete('2 pages do not match 5 rows'))
})

test('a list can neither be too long nor take too long', async () => {
  expect(await scripted(() => ({ totalCount: 500_001 }))).toEqual(['refused', 'The list has 500001 rows; the limit is 500000.'])
  expect((await scripted((_, list) => void list.push({ id: `${list.length}` })))[0]).toBe('incomplete')
  expect(
    (
      await scripted(
        (_, list) => void (list.length < 20 && list.push(...Array.from({ length: 15 }, (_, id) => ({ id: `${id}` })))),
      )
    )[0],
  ).toBe('timeout')
})

test('pages of a list that is sorted by id are read once', async () => {
  const scriptedById = (before: (page: number, ids: number[]) => object | void = () => {}) => {
    const ids = [1, 2, 3, 4, 5]
    let requests = 0
    const read = readNumberedPages(
      { now: () => 0 } as Parameters<typeof readNumberedPages>[0],
      async page => {
        requests++
        const more = before(page, ids)
        const rows = ids.slice((page - 1) * perPage, page * perPage).map(id => ({ id }))
        return { rows, page, perPage, totalCount: ids.length, totalPages: null, ...more }
      },
      { isById: true },
    )
    return read.then(
      rows => [rows.map(row => row.id).join(''), requests],
      error => [error.failure, error.message],
    )
  }
  expect(await scriptedById()).toEqual(['12345', 3])
  expect(await scriptedById((page, ids) => void (page === 2 && ids.shift()))).toEqual(changed)
  expect(await scriptedById((page, ids) => void (page === 2 && ids.push(6)))).toEqual(changed)
  expect(await scriptedById((page, ids) => void (page === 2 && ids.reverse()))).toEqual(changed)
  expect(await scriptedById(page => (page === 3 ? { totalCount: 6 } : {}))).toEqual(changed)
  // As documented: the caller confirms that 3 doesn’t exist.
  expect(await scriptedById((page, ids) => void (page === 2 && ids.shift() && ids.push(6)))).toEqual(['12456', 3])
})
