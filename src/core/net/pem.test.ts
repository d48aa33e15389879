import { expect, test } from 'bun:test'
import { pemBlocks } from './pem'

const block = (label: string) => `-----BEGIN ${label}-----\nAAAA\n-----END ${label}-----`

test('blocks are found with text before, between, and after them', () => {
  const [a, b] = [block('CERTIFICATE'), block('EC PRIVATE KEY')]
  expect(pemBlocks(`# first\n${a}\n# second\n${b}\n# end\n`)).toEqual([a, b])
  expect(pemBlocks(a + b)).toEqual([a, b])
  expect(pemBlocks('no block')).toEqual([])
})

test('a block goes to the next end, and is none without one', () => {
  const a = block('A')
  expect(pemBlocks(`${a}\n-----BEGIN B-----\nAAAA\n`)).toEqual([a])
  expect(pemBlocks(`-----END A-----\n${a}`)).toEqual([a])
  expect(pemBlocks(`-----BEGIN A-----\n${a}`)).toEqual([`-----BEGIN A-----\n${a}`])
  expect(pemBlocks('-----BEGIN -----\n-----END A-----')).toEqual([])
})

// Searching the rest of the text for each beginning would take minutes, longer than a test may.
test('many beginnings without an end are read in a single pass', () => {
  expect(pemBlocks('-----BEGIN A-----\n'.repeat(100_000))).toEqual([])
})
