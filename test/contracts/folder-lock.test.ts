import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockFolder } from '../../src/hub/folder-lock'

const folders: string[] = []
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-lock-'))
  folders.push(folder)
  return folder
}

/** A process that locks the folder, says how that ended, and then stays. */
async function starter(folder: string): Promise<{ pid: number; says: string; kill(): Promise<unknown> }> {
  const script = `
    const { lockFolder } = await import(${JSON.stringify(join(import.meta.dir, '../../src/hub/folder-lock.ts'))})
    try { lockFolder(${JSON.stringify(folder)}); console.log('locked') } catch (error) { console.log(error.message) }
    Bun.gc(true)
    setInterval(() => {}, 1000)`
  const run = Bun.spawn([process.execPath, '-e', script], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  let said = ''
  for await (const chunk of run.stdout) {
    said += new TextDecoder().decode(chunk)
    if (said.includes('\n')) break
  }
  const kill = () => {
    run.kill('SIGKILL')
    return run.exited
  }
  return { pid: run.pid, says: said.trim(), kill }
}

const inUse = (folder: string, pid: number) =>
  `The data folder ${folder} is in use by the hub with process id ${pid}. Stop it first, or choose another folder with --data.`

/** Starts several at once: one gets the folder, the others are told of it. */
async function race(folder: string, starters = 4): Promise<{ pid: number; kill(): Promise<unknown> }> {
  const all = await Promise.all(Array.from({ length: starters }, () => starter(folder)))
  const winners = all.filter(one => one.says === 'locked')
  expect(winners).toHaveLength(1)
  const [winner] = winners
  const losers = all.filter(one => one !== winner)
  await Promise.all(losers.map(one => one.kill()))
  expect(losers.map(one => one.says)).toEqual(losers.map(() => inUse(folder, winner!.pid)))
  return winner!
}

test('of hubs that start at once on one folder one gets it', async () => {
  const folder = newFolder()
  await (await race(folder)).kill()
}, 60_000)

test('what a killed hub held is free at once, and goes to one of those who want it', async () => {
  const folder = newFolder()
  const first = await starter(folder)
  expect(first.says).toBe('locked')
  await first.kill()
  expect(readFileSync(join(folder, 'hub.pid'), 'utf8')).toBe(`${first.pid}\n`)
  await (await race(folder)).kill()
}, 60_000)

test('files that something else left there lock nothing', async () => {
  for (const left of ['', `${process.pid} 1\n`, 'x'.repeat(10_000)]) {
    const folder = newFolder()
    for (const name of ['hub.lock', 'hub.pid']) writeFileSync(join(folder, name), left)
    await (await race(folder, 2)).kill()
  }
}, 60_000)

test('a process id that is the same in two containers does not let both in', () => {
  const folder = newFolder()
  const unlock = lockFolder(folder)
  // This process itself is the other with the same id.
  expect(() => lockFolder(folder)).toThrow(inUse(folder, process.pid))
  unlock()
  lockFolder(folder)()
})
