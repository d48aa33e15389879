import { expect, test } from 'bun:test'
import { isMime, withScript } from './agent-user-data'

const script = '#!/bin/sh\ncurl -fsSL https://hub.example.com/download/agent | sh\n'

test('a script alone is user data', () => {
  expect(withScript(script, null)).toBe(script)
  expect(withScript(script, '\n')).toBe(script)
})

test('both parts of a MIME message are as they were', () => {
  for (const own of [
    '#cloud-config\npackages: [nginx]\n',
    '#!/bin/bash\necho bailiwick-user-data',
    '#include\nhttps://example.com/x',
  ]) {
    const text = withScript(script, own)
    expect(isMime(text)).toBe(true)
    const [, mark] = /boundary="(.*)"/.exec(text)!
    const [, first, second, rest] = text.split(new RegExp(`^--${mark}`, 'm'))
    const [bodyOf, typeOf] = [
      (part: string) => part.slice(part.indexOf('\n\n') + 2),
      (part: string) => /text\/[\w-]+/.exec(part)![0],
    ]
    expect([typeOf(first!), bodyOf(first!)]).toEqual(['text/plain', own.replace(/\n?$/, '\n')])
    expect([typeOf(second!), bodyOf(second!)]).toEqual(['text/x-shellscript', script])
    expect(rest).toBe('--\n')
  }
})

test('a MIME message is recognized', () => {
  expect(isMime('MIME-Version: 1.0\n\n')).toBe(true)
  expect(isMime('\ncontent-type: multipart/mixed')).toBe(true)
  expect(isMime('#cloud-config\ncontent-type: x')).toBe(false)
})
