import { afterAll, expect, test } from 'bun:test'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, rmSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { call, fullToken, installation, program, startHub, until, type Installation } from '../support/binary'
import { withoutProgress } from '../support/command'
import { inconsistencies } from '../support/consistency'
import { rowsOf } from '../support/database'
import { RawHttpClient } from '../support/raw-http-client'
import { receiver, stopReceivers } from '../support/receiver'
import { Traffic } from '../support/traffic'

const server = process.env.BAILIWICK_DATABASE_URL
const rates = { pings: 200, flaps: 20, creates: 20, heartbeatUpdates: 20, endpointUpdates: 10 }
const folder = mkdtempSync(join(tmpdir(), 'bailiwick-e2e-backup-'))

afterAll(async () => {
  await stopReceivers()
  rmSync(folder, { recursive: true, force: true })
})

test('a backup that was made under load is consistent, and can be restored into both engines', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const token = await fullToken(here)
  const client = new RawHttpClient(Number(new URL(hub.url).port))
  const traffic = new Traffic(client, token)
  const { url } = receiver()
  await traffic.prepare({ steady: 20, flapping: 10, updated: 10, endpoints: [{ url, events: ['monitor.alert'] }] })
  const kept = await traffic.expect(200, 'GET', `/v1/heartbeats/${traffic.steady[0]!.id}`)
  traffic.resume(Number(new URL(hub.url).port), rates)
  await Bun.sleep(500)
  const files: string[] = []
  for (const args of [['--logical', '--with-series'], ...(server ? [] : [['--with-series']])])
    files.push((await succeeds(here, 'backup', '--to', folder, ...args)).split('\n')[0]!)
  traffic.pause()
  await until('all responses', async () => client.waiting === 0)
  expect(traffic.unexpected).toEqual([])
  expect(await hub.stop()).toBe(0)
  client.close()

  for (const file of files) {
    expect(await succeeds(here, 'backup', 'verify', file)).toContain(`${file} is intact.`)
    await using same = await installation()
    await restored(file, here, same, token, kept)
    if (!server) continue
    await using other = await installation('')
    await restored(file, here, other, token, kept)
    const back = (await succeeds(other, 'backup', '--to', folder, '--logical')).split('\n')[0]!
    await using again = await installation()
    await restored(back, here, again, token, kept)
  }
}, 180_000)

test('a backup or a restore that was killed leaves nothing incomplete, and can be run again', async () => {
  await using here = await installation()
  await fullToken(here)
  const backups = join(folder, 'killed')
  for (const afterMs of [150, 250, 350]) {
    await killed(here, ['backup', '--to', backups, '--logical'], afterMs)
    expect((await here.run(['backup', 'list', '--from', backups])).out).not.toContain('unreadable')
  }
  await succeeds(here, 'backup', '--to', backups, '--logical')
  await using target = await installation()
  copyFileSync(keyFile(here), keyFile(target))
  for (const afterMs of [150, 250, 350, 450, 550]) {
    await killed(target, ['restore', 'latest', '--from', backups], afterMs)
    if (!(await isEmpty(target))) break
  }
  // It may have been complete before it was killed.
  if (await isEmpty(target)) {
    await succeeds(target, 'restore', 'latest', '--from', backups)
    expect(readdirSync(target.folder)).not.toContain('restoring')
  }
  await using hub = await startHub(target)
  expect((await fetch(`${hub.url}/readyz`)).status).toBe(200)
  // On PostgreSQL, a restore that was killed after its transaction is completed by the first hub.
  await using rows = rowsOf(target)
  expect(await rows.all(`select name from instance_facts where name = 'restored'`)).toEqual([])
}, 180_000)

test('a backup or a verification that is interrupted deletes its temporary files', async () => {
  await using here = await installation()
  await fullToken(here)
  const backups = join(folder, 'interrupted')
  const temporary = join(folder, 'temporary')
  mkdirSync(temporary)
  await succeeds(here, 'backup', '--to', backups)
  const [file] = readdirSync(backups)
  here.env.TMPDIR = temporary
  for (const args of [
    ['backup', '--to', backups, '--logical'],
    ['backup', 'verify', join(backups, file!)],
  ])
    for (const afterMs of [150, 200, 250, 300, 350]) await killed(here, args, afterMs, 'SIGINT')
  expect(readdirSync(backups).filter(name => name.startsWith('.'))).toEqual([])
  // The runtime also creates files here.
  expect(readdirSync(temporary).filter(name => name.startsWith('bailiwick-'))).toEqual([])
}, 180_000)

/** Restores a backup and expects a working installation with the same data. */
async function restored(file: string, from: Installation, to: Installation, token: string, kept: any): Promise<void> {
  copyFileSync(keyFile(from), keyFile(to))
  await succeeds(to, 'restore', file)
  await using rows = rowsOf(to)
  expect(await inconsistencies(rows)).toEqual([])
  expect(await succeeds(to, 'audit', 'verify')).toContain('all verified')
  expect(await succeeds(to, 'keys', 'verify')).toContain(', 0 failed.')
  await using hub = await startHub(to)
  const found = await call(hub, token, 'GET', `/v1/heartbeats/${kept.id}`)
  expect([found.status, found.body.uuid]).toEqual([200, kept.uuid])
  const schedule = { kind: 'period', period_seconds: 600, grace_seconds: 60 }
  expect((await call(hub, token, 'POST', '/v1/heartbeats', { name: 'after the restore', schedule })).status).toBe(201)
  expect((await fetch(`${hub.url}/ping/${kept.uuid}`)).status).toBe(200)
  expect(await hub.stop()).toBe(0)
}

async function succeeds(here: Installation, ...args: string[]): Promise<string> {
  const { code, out, err } = await here.run(args)
  expect({ args, code, err: withoutProgress(err) }).toEqual({ args, code: 0, err: '' })
  return out
}

async function killed(here: Installation, args: string[], afterMs: number, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  const run = Bun.spawn([program('bailiwick'), ...args], { env: here.env, cwd: tmpdir(), stdin: 'ignore', stdout: 'ignore' })
  await Bun.sleep(afterMs)
  run.kill(signal)
  await run.exited
}

async function isEmpty(here: Installation): Promise<boolean> {
  if (!here.env.BAILIWICK_DATABASE_URL) return !existsSync(join(here.folder, 'bailiwick.db'))
  await using rows = rowsOf(here)
  const tables = await rows.all(`select 1 from information_schema.tables where table_schema = current_schema()`)
  return tables.length === 0
}

const keyFile = (here: Installation): string => here.env.BAILIWICK_MASTER_KEY_FILE ?? join(here.folder, 'master.key')
