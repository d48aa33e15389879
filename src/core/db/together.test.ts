import { expect, test } from 'bun:test'
import { batched, together } from './together'
import type { Tx } from './transaction'

const failed = (code: string) => Object.assign(new Error(code), { errno: code })

test('after a batch failed, no other runs, and its error fails all steps', async () => {
  const ran: string[] = []
  const batch = (name: string, error?: Error) =>
    batched(`test-${name}`, async (_, items: readonly number[]) => {
      ran.push(name)
      if (error) throw error
      return items
    })
  const [first, bad, last] = [batch('first'), batch('bad', new Error('no')), batch('last')]
  const tx = {} as Tx
  const errors: unknown[] = []
  const steps = [first, bad, last].map(step => async () => {
    await step(tx, 1).catch(error => {
      errors.push(error.message)
      throw error
    })
    await last(tx, 2)
  })
  await expect(together(tx, steps)).rejects.toThrow('no')
  expect(ran).toEqual(['first', 'bad'])
  expect(errors).toEqual(['no', 'no', 'no'])
})

test('the error is the first one, and not that the transaction is aborted', async () => {
  const after = async (turns: number, code: string) => {
    for (let n = 0; n < turns; n++) await Promise.resolve()
    throw failed(code)
  }
  const run = (...steps: [number, string][]) =>
    together(
      {} as Tx,
      steps.map(
        ([turns, code]) =>
          () =>
            after(turns, code),
      ),
    ).catch(error => error.errno)
  expect(await run([5, '40001'], [1, '40P01'])).toBe('40P01')
  expect(await run([1, '25P02'], [5, '40P01'])).toBe('40P01')
})
