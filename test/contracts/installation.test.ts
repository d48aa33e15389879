import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, readdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inTempFolder, runSource } from '../support/command'

const createToken = ['token', 'create', '--name', 'first', '--full', '--data']

test(
  'a database without its master key is rejected with a clear message, and no new key is created',
  () =>
    inTempFolder(async folder => {
      const created = await runSource([...createToken, folder])
      expect(created).toMatchObject({ code: 0 })
      const [key, copy] = [join(folder, 'master.key'), join(folder, 'copy.key')]
      renameSync(key, copy)
      for (const args of [
        ['serve', '--listen', '127.0.0.1:0', '--data', folder],
        [...createToken, folder],
        ['keys', 'status', '--data', folder],
      ]) {
        const refused = await runSource(args)
        expect(refused).toMatchObject({ code: 1, out: '' })
        expect(refused.err).toMatch(
          /^The master key is missing: \S+master\.key does not exist, .* Restore your copy of the key file with mode 0600/,
        )
        expect(refused.err.trim().split('\n')).toHaveLength(1)
        expect(existsSync(key)).toBe(false)
      }
      const doctor = await runSource(['doctor', '--listen', '127.0.0.1:0', '--data', folder])
      expect(doctor.code).toBe(1)
      expect(doctor.out).toMatch(/^fail +master key +The master key is missing: .*Restore your copy of the key file/m)
      expect(doctor.out).toMatch(/^fail +master key match +The key file is missing\. The database requires the key [0-9a-f]+\.$/m)
      expect(doctor.out).not.toContain('/dev/urandom')

      const elsewhere = await runSource(['serve', '--listen', '127.0.0.1:0', '--data', folder], {
        BAILIWICK_MASTER_KEY_FILE: key,
      })
      expect(elsewhere.err).toContain('Restore your copy of the key file')

      renameSync(copy, key)
      expect((await runSource(['keys', 'status', '--data', folder])).code).toBe(0)
    }),
  180_000,
)

test(
  'a database that was only migrated gets its master key at the first start',
  () =>
    inTempFolder(async folder => {
      expect((await runSource(['migrate', '--data', folder])).code).toBe(0)
      expect((await runSource(['user', 'list', '--data', folder])).code).toBe(1)
      expect(existsSync(join(folder, 'master.key'))).toBe(false)
      expect((await runSource([...createToken, folder])).code).toBe(0)
      expect(existsSync(join(folder, 'master.key'))).toBe(true)
    }),
  180_000,
)

test(
  'the doctor shows when the last backup was made, and warns about an old one',
  () =>
    inTempFolder(async folder => {
      expect((await runSource([...createToken, folder])).code).toBe(0)
      const doctor = async () =>
        /^(\w+) +last backup +(.*)$/m
          .exec((await runSource(['doctor', '--listen', '127.0.0.1:0', '--data', folder])).out)!
          .slice(1)
      expect(await doctor()).toEqual(['warn', 'No backup has been made yet. Run bailiwick backup.'])
      expect(await runSource(['backup', '--data', folder])).toMatchObject({ code: 0, err: '' })
      expect(await doctor()).toEqual(['ok', expect.stringMatching(/^The last backup was made at \d{4}-/)])
      using db = new Database(join(folder, 'bailiwick.db'))
      db.run(
        "update instance_facts set value = json_set(value, '$.created_at', '2026-01-05T10:00:00.000Z') where name = 'last_backup'",
      )
      expect(await doctor()).toEqual([
        'warn',
        expect.stringMatching(/^The last backup was made \d+ days ago, on 2026-01-05 10:00 UTC\. Run bailiwick backup, /),
      ])
    }),
  180_000,
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
])('%s does not create an installation', command =>
  inTempFolder(async folder => {
    const typo = join(folder, 'typo')
    const { code, out, err } = await runSource([...command.split(' '), '--data', typo])
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain(`No installation found in ${typo}. Use --data to choose its folder`)
    expect(readdirSync(folder)).toEqual([])
  }),
)

test(
  'a failed first start leaves nothing behind',
  () =>
    inTempFolder(async folder => {
      const fresh = join(folder, 'fresh')
      expect(await runSource([...createToken, fresh, '--workspace', 'nowhere'])).toMatchObject({
        code: 1,
        err: 'No workspace has the ID or name nowhere.\n',
      })
      using listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
      const busy = await runSource(['serve', '--data', fresh, '--listen', `127.0.0.1:${listener.port}`])
      expect(busy).toMatchObject({ code: 1, out: '' })
      expect(busy.err).toContain(`--listen: port ${listener.port} on 127.0.0.1 is already in use`)
      expect(readdirSync(folder)).toEqual([])
      expect((await runSource([...createToken, fresh, '--workspace', 'default'])).code).toBe(0)
    }),
  180_000,
)

test(
  'a data folder that is not a folder is reported',
  () =>
    inTempFolder(async folder => {
      const file = join(folder, 'file')
      writeFileSync(file, '')
      for (const args of [
        ['serve', '--listen', '127.0.0.1:0'],
        ['token', 'create', '--name', 'x', '--full'],
      ])
        expect(await runSource([...args, '--data', file])).toEqual({
          code: 1,
          out: '',
          err: `--data: ${file} is not a folder. Choose another one with --data.\n`,
        })
      expect((await runSource(['serve', '--listen', '127.0.0.1:0', '--data', join(file, 'below')])).err).toBe(
        `--data: ${file} is not a folder. Choose another one with --data.\n`,
      )
    }),
  180_000,
)

test.skipIf(process.getuid?.() === 0)('a read-only data folder is reported', () =>
  inTempFolder(async folder => {
    const closed = join(folder, 'closed')
    mkdirSync(closed, { mode: 0o500 })
    expect((await runSource(['serve', '--listen', '127.0.0.1:0', '--data', closed])).err).toBe(
      `--data: ${closed} is not writable by this user. Run as its owner, or change its owner.\n`,
    )
    expect((await runSource([...createToken, folder])).code).toBe(0)
    const file = join(folder, 'bailiwick.db')
    for (const [mode, command, what] of [
      [0o400, [...createToken, folder], 'writable'],
      [0o000, ['keys', 'status', '--data', folder], 'readable'],
    ] as const) {
      chmodSync(file, mode)
      expect((await runSource([...command])).err).toBe(
        `--data: ${file} is not ${what} by this user. Run as its owner, or change its owner.\n`,
      )
    }
  }),
)

test('key commands have --plan for rotations, and show durations in the format they accept', async () => {
  for (const command of ['status', 'verify'])
    expect((await runSource(['keys', command, '--plan'])).err).toContain(`unknown option '--plan'`)
  const { out } = await runSource(['keys', 'rotate-master', '--help'])
  expect(out).toContain('(default: 10m)')
  expect(out).not.toContain('600000')
})

test('doctor doesn’t mistake another program on the port for the hub if the process id file is empty', () =>
  inTempFolder(async folder => {
    writeFileSync(join(folder, 'hub.pid'), '')
    const other = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
    try {
      const { out } = await runSource(['doctor', '--listen', `127.0.0.1:${other.port}`, '--data', folder])
      expect(out).toContain(`Port ${other.port} on 127.0.0.1 is in use by another program.`)
    } finally {
      await other.stop(true)
    }
  }))

test(
  'empty lists say so on standard error',
  () =>
    inTempFolder(async folder => {
      expect((await runSource([...createToken, folder])).code).toBe(0)
      const users = await runSource(['user', 'list', '--data', folder])
      expect(users).toEqual({ code: 0, out: '', err: 'No users. Create one with bailiwick user create.\n' })
      const [id] = (await runSource(['token', 'list', '--data', folder])).out.split('\t')
      expect((await runSource(['token', 'revoke', id!, '--data', folder])).code).toBe(0)
      expect(await runSource(['token', 'list', '--data', folder])).toEqual({
        code: 0,
        out: '',
        err: 'No active tokens. Use --all to list revoked and expired tokens.\n',
      })
      expect((await runSource(['keys', 'status', '--data', folder])).out).toEndWith('Hubs\n  none running\n')
    }),
  180_000,
)
