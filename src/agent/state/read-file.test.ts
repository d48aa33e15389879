import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readRegularFile } from './read-file'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

test('only regular files of a limited size are read', () => {
  const path = join(folder, 'status.json')
  expect(readRegularFile(path)).toBeNull()
  writeFileSync(path, '{}')
  expect(String(readRegularFile(path))).toBe('{}')
  expect(() => readRegularFile(path, 1)).toThrow('is larger than 1 bytes')
  symlinkSync(path, join(folder, 'link'))
  expect(() => readRegularFile(join(folder, 'link'))).toThrow('ELOOP')
  // Opening a pipe that no one writes to must not wait.
  Bun.spawnSync(['mkfifo', join(folder, 'pipe')])
  expect(() => readRegularFile(join(folder, 'pipe'))).toThrow('is not a regular file')
  expect(() => readRegularFile('/dev/zero')).toThrow('is not a regular file')
})
