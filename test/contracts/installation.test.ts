import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inFolder, runSource } from '../support/command'

const makeToken = ['token', 'create', '--name', 'first', '--full', '--data']

test(
  'a database without its master key is refused in plain words, and no other key is made for it',
  () =>
    inFolder(async folder => {
      const made = await runSource([...makeToken, folder])
      expect(made).toMatchObject({ code: 0 })
      const [key, copy] = [join(folder, 'master.key'), join(folder, 'kept.key')]
      renameSync(key, copy)
      for (const args of [
        ['serve', '--listen', '127.0.0.1:0', '--data', folder],
        [...makeToken, folder],
        ['keys', 'status', '--data', folder],
      ]) {
        const refused = await runSource(args)
        expect(refused).toMatchObject({ code: 1, out: '' })
        expect(refused.err).toMatch(
          /^The master key is missing: there is no file \S+master\.key, .* Put your copy of it there, mode 0600/,
        )
        expect(refused.err.trim().split('\n')).toHaveLength(1)
        expect(existsSync(key)).toBe(false)
      }
      const doctor = await runSource(['doctor', '--listen', '127.0.0.1:0', '--data', folder])
      expect(doctor.code).toBe(1)
      expect(doctor.out).toMatch(/^fail +master key +The master key is missing: .*Put your copy of it there/m)
      expect(doctor.out).toMatch(/^fail +master key fits +It is missing; the database was made with the key [0-9a-f]+\.$/m)
      expect(doctor.out).not.toContain('/dev/urandom')

      const elsewhere = await runSource(['serve', '--listen', '127.0.0.1:0', '--data', folder], {
        BAILIWICK_MASTER_KEY_FILE: key,
      })
      expect(elsewhere.err).toContain('Put your copy of it there')

      renameSync(copy, key)
      expect((await runSource(['keys', 'status', '--data', folder])).code).toBe(0)
    }),
  60_000,
)

test(
  'a database that was only migrated gets its master key at the first start',
  () =>
    inFolder(async folder => {
      expect((await runSource(['migrate', '--data', folder])).code).toBe(0)
      expect((await runSource(['user', 'list', '--data', folder])).code).toBe(1)
      expect(existsSync(join(folder, 'master.key'))).toBe(false)
      expect((await runSource([...makeToken, folder])).code).toBe(0)
      expect(existsSync(join(folder, 'master.key'))).toBe(true)
    }),
  60_000,
)

test.each([
  ['keys status'],
  ['keys verify'],
  ['keys rotate-master'],
  ['keys rotate-data'],
  ['user list'],
  ['user disable ada@example.com'],
  ['user enable ada@example.com'],
  ['audit verify'],
  ['audit public-key'],
])('%s makes no installation where there is none', command =>
  inFolder(async folder => {
    const typo = join(folder, 'typo')
    const { code, out, err } = await runSource([...command.split(' '), '--data', typo])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`There is no installation in ${typo}: name its folder with --data.`)
    expect(readdirSync(folder)).toEqual([])
  }),
)

test(
  'what keeps a first start from being done leaves nothing behind',
  () =>
    inFolder(async folder => {
      const fresh = join(folder, 'fresh')
      expect(await runSource([...makeToken, fresh, '--workspace', 'nowhere'])).toMatchObject({
        code: 1,
        err: 'There is no workspace with the id or name nowhere.\n',
      })
      using taken = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
      const busy = await runSource(['serve', '--data', fresh, '--listen', `127.0.0.1:${taken.port}`])
      expect(busy).toMatchObject({ code: 1, out: '' })
      expect(busy.err).toContain(`port ${taken.port} is in use`)
      expect(readdirSync(folder)).toEqual([])
      expect((await runSource([...makeToken, fresh, '--workspace', 'default'])).code).toBe(0)
    }),
  60_000,
)

test(
  'a data folder that is none is named',
  () =>
    inFolder(async folder => {
      const file = join(folder, 'file')
      writeFileSync(file, '')
      for (const args of [
        ['serve', '--listen', '127.0.0.1:0'],
        ['token', 'create', '--name', 'x', '--full'],
      ])
        expect(await runSource([...args, '--data', file])).toEqual({
          code: 1,
          out: '',
          err: `BAILIWICK_DATA: ${file} is not a folder: choose another with --data.\n`,
        })
      expect((await runSource(['serve', '--listen', '127.0.0.1:0', '--data', join(file, 'below')])).err).toBe(
        `BAILIWICK_DATA: ${file} is not a folder: choose another with --data.\n`,
      )
    }),
  60_000,
)

test.skipIf(process.getuid?.() === 0)('a data folder that cannot be written is named', () =>
  inFolder(async folder => {
    const closed = join(folder, 'closed')
    mkdirSync(closed, { mode: 0o500 })
    expect((await runSource(['serve', '--listen', '127.0.0.1:0', '--data', closed])).err).toBe(
      `BAILIWICK_DATA: ${closed} cannot be written by this user: run as its owner, or chown it.\n`,
    )
    expect((await runSource([...makeToken, folder])).code).toBe(0)
    const file = join(folder, 'bailiwick.db')
    for (const [mode, command, what] of [
      [0o400, [...makeToken, folder], 'written'],
      [0o000, ['keys', 'status', '--data', folder], 'read'],
    ] as const) {
      chmodSync(file, mode)
      expect((await runSource([...command])).err).toBe(
        `BAILIWICK_DATA: ${file} cannot be ${what} by this user: run as its owner, or chown it.\n`,
      )
    }
  }),
)

test('keys takes --plan where something would be done, and tells its spans as they are written', async () => {
  for (const command of ['status', 'verify'])
    expect((await runSource(['keys', command, '--plan'])).err).toContain(`unknown option '--plan'`)
  const { out } = await runSource(['keys', 'rotate-master', '--help'])
  expect(out).toContain('(default: 10m)')
  expect(out).not.toContain('600000')
})
