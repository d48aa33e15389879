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

/** A process that locks the folder, prints the result, and keeps running. */
async function starter(folder: string): Promise<{ pid: number; output: string; kill(): Promise<unknown> }> {
  const script = `
    const { lockFolder } = await import(${JSON.stringify(join(import.meta.dir, '../../src/hub/folder-lock.ts'))})
    try { lockFolder(${JSON.stringify(folder)}); console.log('locked') } catch (error) { console.log(error.message) }
    Bun.gc(true)
    setInterval(() => {}, 1000)`
  const run = Bun.spawn([process.execPath, '-e', script], { stdin: 'ignore', stdout: 'pipe', stderr: 'inherit' })
  let output = ''
  for await (const chunk of run.stdout) {
    output += new TextDecoder().decode(chunk)
    if (output.includes('\n')) break
  }
  const kill = () => {
    run.kill('SIGKILL')
    return run.exited
  }
  return { pid: run.pid, output: output.trim(), kill }
}

const inUse = (folder: string, pid: number) =>
  `The data folder ${folder} is in use by the hub with process id ${pid}. Stop that hub first, or choose another folder with --data.`

/** Starts several at once: one gets the lock, the others report which one has it. */
async function race(folder: string, starters = 4): Promise<{ pid: number; kill(): Promise<unknown> }> {
  const all = await Promise.all(Array.from({ length: starters }, () => starter(folder)))
  const winners = all.filter(one => one.output === 'locked')
  expect(winners).toHaveLength(1)
  const [winner] = winners
  const others = all.filter(one => one !== winner)
  await Promise.all(others.map(one => one.kill()))
  expect(others.map(one => one.output)).toEqual(others.map(() => inUse(folder, winner!.pid)))
  return winner!
}

test('only one of several hubs started at once gets the folder', async () => {
  const folder = newFolder()
  await (await race(folder)).kill()
}, 180_000)

test('the lock of a killed hub is released at once, and one of the waiting hubs gets it', async () => {
  const folder = newFolder()
  const first = await starter(folder)
  expect(first.output).toBe('locked')
  await first.kill()
  expect(readFileSync(join(folder, 'hub.pid'), 'utf8')).toBe(`${first.pid}\n`)
  await (await race(folder)).kill()
}, 180_000)

test('files left by other programs are not locks', async () => {
  for (const left of ['', `${process.pid} 1\n`, 'x'.repeat(10_000)]) {
    const folder = newFolder()
    for (const name of ['hub.lock', 'hub.pid']) writeFileSync(join(folder, name), left)
    await (await race(folder, 2)).kill()
  }
}, 180_000)

test('the same process id in two containers does not break the lock', () => {
  const folder = newFolder()
  const unlock = lockFolder(folder)
  // This process is the other one with the same id.
  expect(() => lockFolder(folder)).toThrow(inUse(folder, process.pid))
  unlock()
  lockFolder(folder)()
})
