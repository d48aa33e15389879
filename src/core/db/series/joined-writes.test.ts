import { expect, test } from 'bun:test'
import { JoinedWrites } from './joined-writes'

/** Writes that the test ends one by one, with what they were given. */
function scene() {
  const writes: { items: readonly string[]; end: PromiseWithResolvers<void> }[] = []
  const joined = new JoinedWrites<string>(items => {
    const end = Promise.withResolvers<void>()
    writes.push({ items, end })
    return end.promise
  }, 3)
  const nth = async (n: number) => {
    while (writes.length <= n) await Promise.resolve()
    return writes[n]!
  }
  return { joined, nth }
}

test('what arrives while a write is running is joined, up to a limit', async () => {
  const { joined, nth } = scene()
  const done: string[] = []
  const all = ['a', 'b', 'c', 'd', 'e'].map(name => joined.add([name]).then(() => done.push(name)))
  ;(await nth(0)).end.resolve()
  expect((await nth(1)).items).toEqual(['b', 'c', 'd'])
  expect(done).toEqual(['a'])
  ;(await nth(1)).end.resolve()
  expect((await nth(2)).items).toEqual(['e'])
  ;(await nth(2)).end.resolve()
  await Promise.all(all)
  expect(done).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('a caller whose items can’t be written does not fail the others', async () => {
  const { joined, nth } = scene()
  const [first, good, bad] = ['first', 'good', 'bad'].map(name => joined.add([name]))
  ;(await nth(0)).end.resolve()
  await first
  ;(await nth(1)).end.reject(new Error('bad'))
  expect((await nth(2)).items).toEqual(['good'])
  ;(await nth(2)).end.resolve()
  await good
  ;(await nth(3)).end.reject(new Error('bad'))
  await expect(bad!).rejects.toThrow('bad')
})

test('nothing is repeated while the database is unavailable', async () => {
  const { joined, nth } = scene()
  const all = Promise.allSettled(['a', 'b', 'c'].map(name => joined.add([name])))
  ;(await nth(0)).end.resolve()
  ;(await nth(1)).end.reject(Object.assign(new Error('closed'), { code: 'ERR_POSTGRES_CONNECTION_CLOSED' }))
  expect((await all).map(one => one.status)).toEqual(['fulfilled', 'rejected', 'rejected'])
})
