import { expect, test } from 'bun:test'
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadMasterKey } from '../../src/core/master-key'

const inTempFolder = async (fn: (folder: string) => unknown) => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-key-'))
  try {
    await fn(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('the key is created once, readable only by its owner, and loaded afterwards', () =>
  inTempFolder(folder => {
    const file = join(folder, 'deeper', 'master.key')
    const first = loadMasterKey(file, true)
    expect(first.created).toBe(true)
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(loadMasterKey(file, true)).toEqual({ key: expect.anything(), previous: null, created: false })
    expect(Buffer.from(loadMasterKey(file, true).key).equals(Buffer.from(first.key))).toBe(true)
  }))

test('processes that start at the same time create a single key', () =>
  inTempFolder(async folder => {
    const file = join(folder, 'master.key')
    const script = `import { loadMasterKey } from ${JSON.stringify(join(import.meta.dir, '../../src/core/master-key.ts'))}
    console.log(Buffer.from(loadMasterKey(${JSON.stringify(file)}, true).key).toString('hex'))`
    const keys = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const run = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
        return (await new Response(run.stdout).text()).trim()
      }),
    )
    expect(new Set(keys).size).toBe(1)
    expect(keys[0]).toMatch(/^[0-9a-f]{64}$/)
  }))

test('a missing, world-readable or invalid key is rejected with a clear error', () =>
  inTempFolder(folder => {
    const file = join(folder, 'key')
    expect(() => loadMasterKey(file, false)).toThrow(/BAILIWICK_MASTER_KEY_FILE: \S+ does not exist/)
    writeFileSync(file, 'short\n', { mode: 0o600 })
    expect(() => loadMasterKey(file, false)).toThrow(/is not a 32-byte key/)
    writeFileSync(file, `${'ab'.repeat(32)}\n`)
    chmodSync(file, 0o644)
    expect(() => loadMasterKey(file, false)).toThrow(/is readable by other users/)
    chmodSync(file, 0o600)
    expect(Buffer.from(loadMasterKey(file, false).key).toString('hex')).toBe('ab'.repeat(32))
  }))
