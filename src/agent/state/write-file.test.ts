import {
  linkSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { writeFile } from './write-file'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-write-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
})

test.each(['config.json', 'config.json.new'])('links at %s are not followed', name => {
  const other = join(folder, 'other')
  for (const link of [symlinkSync, linkSync]) {
    writeFileSync(other, 'untouched', { mode: 0o640 })
    const { uid } = statSync(other)
    link(other, join(folder, name))
    writeFile(join(folder, 'config.json'), 'new', { mode: 0o644, durable: true })
    expect(readFileSync(join(folder, 'config.json'), 'utf8')).toBe('new')
    expect(readFileSync(other, 'utf8')).toBe('untouched')
    expect(statSync(other)).toMatchObject({ uid, mode: 0o100640 })
    expect(statSync(join(folder, 'config.json')).mode & 0o777).toBe(0o644)
    rmSync(join(folder, name), { force: true })
    rmSync(join(folder, 'config.json'), { force: true })
  }
})

test('a file that can’t be replaced leaves nothing behind', () => {
  mkdirSync(join(folder, 'config.json', 'taken'), { recursive: true })
  expect(() => writeFile(join(folder, 'config.json'), 'new')).toThrow()
  expect(readdirSync(folder)).toEqual(['config.json'])
})
