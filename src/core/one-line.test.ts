import { expect, test } from 'bun:test'
import { oneLine } from './one-line'

test.each([
  ['two\r\nlines\tand\0more\u2028', 'two lines and more'],
  ['\u202eturned\ud800', 'turned\ufffd'],
  ['x'.repeat(11), `${'x'.repeat(10)}…`],
  [`${'x'.repeat(9)}🜁y`, `${'x'.repeat(9)}\ufffd…`],
])('%j becomes %j', (text, line) => expect(oneLine(text, 10 + 10 * Number(!text.startsWith('x')))).toBe(line))
