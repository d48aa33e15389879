import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { csvRecord } from './csv'

test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', ' =1', '＝1', '＠x'])(
  '%p is not a formula in a spreadsheet',
  text => {
    expect(csvRecord([text])).toBe(`"'${text}"\r\n`)
  },
)

test('numbers stay numbers, null is empty, and quotes are doubled', () => {
  expect(csvRecord(['a', 1, null, 'say "x", y', 'a\r\nb', ''])).toBe('"a",1,,"say ""x"", y","a\r\nb",""\r\n')
})

test('any value is one cell and never starts like a formula', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), text => {
      const cell = csvRecord([text]).slice(1, -3)
      expect(cell.replaceAll('""', '')).not.toContain('"')
      expect(/^\s*[=+\-@]/.test(cell)).toBe(false)
    }),
  )
})
