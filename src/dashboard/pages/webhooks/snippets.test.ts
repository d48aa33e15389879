import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { snippetsIn } from './snippets'

test('the handbook shows how to verify a signature in five languages', () => {
  const found = snippetsIn(readFileSync('src/docs/webhooks.md', 'utf8'))
  expect(found.map(one => one.language)).toEqual(['bash', 'js', 'python', 'go', 'php'])
  expect(found.every(one => one.code.length > 100 && !one.code.includes('```'))).toBe(true)
})
