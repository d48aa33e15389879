import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AgentFolder } from '../../../test/support/agent-folder'
import { ManualClock } from '../../../test/support/manual-clock'
import { sha256Hex } from '../../core/crypto'
import type { CommandParams } from '../../wire/agent-command'
import { checkUpdate, reportMs } from './check-update'
import { systemd, type System } from './system'
import { readUpdate, reportedUpdate, updateFile } from './update-file'

const program = '#!/bin/sh\necho 0.2.0\n'

/** A server on which programs run, and systemd does nothing. */
class Server implements System {
  readonly done: string[] = []
  failing = ''
  /** The version that is running. */
  running = '0.1.0'
  onRestart = () => {}
  async run(args: string[]) {
    if (args[0]!.endsWith('.new')) return await systemd.run(args)
    const command = args.join(' ')
    this.done.push(command)
    if (command === 'systemctl restart bailiwick-agent.service') this.onRestart()
    return { isSuccess: this.failing === '' || !command.includes(this.failing), output: 'Failed.' }
  }
  async startTimer(): Promise<never> {
    throw new Error('not expected')
  }
  async stopTimer() {}
}

const clock = new ManualClock()
let here: AgentFolder
let server: Server
beforeEach(() => {
  here = new AgentFolder(clock.now)
  server = new Server()
  here.allow('update')
  const { folder, link } = here.folders.programs
  mkdirSync(join(folder, '0.1.0'), { recursive: true })
  writeFileSync(join(folder, '0.1.0', 'bailiwick-agent'), 'the old one')
  symlinkSync(join(folder, '0.1.0', 'bailiwick-agent'), link)
  writeFileSync(here.folders.download, program)
  server.onRestart = () => {
    server.running = linked()!
  }
})
afterEach(() => here[Symbol.dispose]())

/** The root half runs the command. @returns the result */
async function update(changed: Partial<CommandParams['update']> = {}) {
  const params = { version: '0.2.0', sha256: sha256Hex(program), size: program.length, path: '/download/agent/linux-x64' }
  const command = here.command('update', { ...params, ...changed })
  here.order(command.id, here.sign(command))
  await here.obey(server)
  return here.result(command.id)!
}
const linked = () => readlinkSync(here.folders.programs.link).split('/').at(-2)
const versions = () => readdirSync(here.folders.programs.folder).toSorted()

const restartServer = () => rmSync(here.folders.runtime, { recursive: true })

/** Checks the update. @param reportsAfter when the new version reports (ms after its start); null: never */
async function check(reportsAfter: number | null): Promise<number> {
  let waited = 0
  await checkUpdate({
    ...{ folders: here.folders, system: server },
    running: () => ({ version: server.running, hasReported: reportsAfter !== null && waited - 3000 >= reportsAfter }),
    pause: async ms => void (waited += ms),
  })
  return waited
}

test('the new version is installed in addition to the current one, and started once the hub knows the result', async () => {
  expect(await update()).toMatchObject({ outcome: 'done' })
  expect([linked(), versions()]).toEqual(['0.1.0', ['0.1.0', '0.2.0', 'previous']])
  expect(server.done).toEqual(['systemctl restart --no-block bailiwick-agent-update.service'])
  const installed = join(here.folders.programs.folder, '0.2.0', 'bailiwick-agent')
  expect([readFileSync(installed, 'utf8'), statSync(installed).mode & 0o777]).toEqual([program, 0o755])
  expect(reportedUpdate(here.folders)).toMatchObject({ version: '0.2.0', state: 'checking', detail: null })
})

test('once it has reported, it is kept, with the one before it', async () => {
  mkdirSync(join(here.folders.programs.folder, '0.0.9'))
  await update()
  server.done.length = 0
  expect(await check(2000)).toBe(5000)
  expect([linked(), versions()]).toEqual(['0.2.0', ['0.1.0', '0.2.0', 'previous']])
  expect(readlinkSync(join(here.folders.programs.folder, 'previous')).split('/').at(-1)).toBe('0.1.0')
  expect(server.done).toEqual([
    'systemctl reset-failed bailiwick-agent.service',
    'systemctl restart bailiwick-agent.service',
    `${here.folders.programs.link} units`,
  ])
  expect(reportedUpdate(here.folders)).toMatchObject({ state: 'updated' })
  // When the server starts the next time.
  restartServer()
  await check(null)
  expect(linked()).toBe('0.2.0')
})

test('unless the hub acknowledges a report of it in time, the previous version is restored', async () => {
  await update()
  expect(await check(null)).toBe(3000 + reportMs)
  expect(reportMs).toBe(120_000)
  expect([linked(), versions()]).toEqual(['0.1.0', ['0.1.0', 'previous']])
  expect(server.done.slice(-1)).toEqual(['systemctl restart bailiwick-agent.service'])
  expect(reportedUpdate(here.folders)).toMatchObject({
    version: '0.2.0',
    state: 'rolled_back',
    detail: 'The hub did not receive a report of version 0.2.0 within 120 seconds after it was started.',
  })
  // It can be tried again.
  writeFileSync(here.folders.download, program)
  expect(await update()).toMatchObject({ outcome: 'done' })
})

test.each([
  ['before the new version was started', false],
  ['while it was being checked', true],
])('a restart of the server %s undoes the update', async (_, isStarted) => {
  await update()
  const interrupted = new Error('the power is cut')
  if (isStarted)
    await expect(
      checkUpdate({
        ...{ folders: here.folders, system: server, running: () => null },
        pause: ms => (ms > 1000 ? Promise.resolve() : Promise.reject(interrupted)),
      }),
    ).rejects.toBe(interrupted)
  expect(linked()).toBe(isStarted ? '0.2.0' : '0.1.0')
  restartServer()
  expect(await check(0)).toBe(0)
  expect([linked(), versions()]).toEqual(['0.1.0', ['0.1.0', 'previous']])
  expect(readUpdate(here.folders)).toMatchObject({
    state: 'rolled_back',
    detail: 'The server restarted before version 0.2.0 had reported.',
  })
})

/** Checks the update until it waits for the report of the new version, and is killed then. */
const interrupt = () =>
  checkUpdate({
    ...{ folders: here.folders, system: server, running: () => ({ version: server.running, hasReported: false }) },
    pause: ms => (ms > 1000 ? Promise.resolve() : Promise.reject(new Error('killed'))),
  }).catch(() => {})

test('a check that was interrupted continues without another restart', async () => {
  await update()
  await interrupt()
  server.done.length = 0
  await check(-3000)
  expect(server.done).toEqual([`${here.folders.programs.link} units`])
  expect(linked()).toBe('0.2.0')
})

test('what was interrupted before a restart is restarted', async () => {
  await update()
  // It was killed after the link was changed, but before the restart.
  server.onRestart = () => {
    throw new Error('killed')
  }
  await interrupt()
  expect([linked(), server.running]).toEqual(['0.2.0', '0.1.0'])
  server.onRestart = () => {
    server.running = linked()!
  }
  await interrupt()
  expect(server.running).toBe('0.2.0')
  // It was killed after the update was undone, but before the restart.
  server.onRestart = () => {
    throw new Error('killed')
  }
  await expect(check(null)).rejects.toThrow('killed')
  expect([linked(), server.running]).toEqual(['0.1.0', '0.2.0'])
  writeFileSync(here.folders.download, program)
  expect((await update()).detail).toBe('The update to version 0.2.0 has not ended.')
  server.onRestart = () => {
    server.running = linked()!
  }
  await check(null)
  expect([server.running, versions(), readUpdate(here.folders)!.state]).toEqual(['0.1.0', ['0.1.0', 'previous'], 'rolled_back'])
})

test('an update is undone although its result can’t be stored, which is done later', async () => {
  await update()
  const file = updateFile(here.folders)
  const stored = readFileSync(file)
  server.onRestart = () => {
    server.running = linked()!
    // Nothing can replace a folder, as on a full disk.
    rmSync(file, { recursive: true })
    mkdirSync(join(file, 'x'), { recursive: true })
  }
  await check(null)
  expect([linked(), server.running, versions()]).toEqual(['0.1.0', '0.1.0', ['0.1.0', 'previous']])
  rmSync(file, { recursive: true })
  writeFileSync(file, stored)
  server.onRestart = () => {}
  expect(await check(null)).toBe(0)
  expect([linked(), readUpdate(here.folders)!.state]).toEqual(['0.1.0', 'rolled_back'])
})

test('units that could not be written are written when the server starts the next time', async () => {
  await update()
  server.failing = ' units'
  await check(0)
  expect(reportedUpdate(here.folders)).toMatchObject({ state: 'updated' })
  server.failing = ''
  server.done.length = 0
  restartServer()
  await check(null)
  expect(server.done).toEqual([`${here.folders.programs.link} units`])
  server.done.length = 0
  await check(null)
  expect([server.done, linked()]).toEqual([[], '0.2.0'])
})

describe('nothing has changed if', () => {
  test.each([
    ['the version is the current one', { version: '0.1.0' }, /^Version 0\.1\.0 is not newer than 0\.1\.0, which is installed\.$/],
    ['the version is older', { version: '0.0.9' }, /not newer/],
    ['the version is a prerelease of the current one', { version: '0.1.0-rc.1' }, /not newer/],
    ['the version is a path', { version: '../../etc' }, /invalid parameters/],
    ['the path is not one of downloads', { path: '/download/agent/../../v1' }, /invalid parameters/],
    ['the digest is another one', { sha256: sha256Hex('other') }, /^The download is damaged: its SHA-256 differs/],
    ['the size is another one', { size: 5 }, /^The download is incomplete\.$/],
  ])('%s', async (_, changed, reason) => {
    expect((await update(changed)).detail).toMatch(reason)
    expect([linked(), versions(), readUpdate(here.folders)]).toEqual(['0.1.0', ['0.1.0'], null])
  })

  test('the program is one for another architecture, or tells another version', async () => {
    for (const other of ['\x7fELF\x02\x01\x01', '#!/bin/sh\necho 0.3.0\n', '#!/bin/sh\nexit 1\n']) {
      writeFileSync(here.folders.download, other)
      const { detail } = await update({ sha256: sha256Hex(other), size: other.length })
      expect(detail).toMatch(/^Version 0\.2\.0 doesn’t run on this server: .+\.$/)
      expect([linked(), versions(), readUpdate(here.folders)]).toEqual(['0.1.0', ['0.1.0'], null])
    }
  })

  test('the agent has put a link in the place of the download', async () => {
    const { download } = here.folders
    writeFileSync(`${download}.other`, program)
    Bun.spawnSync(['ln', '-sf', `${download}.other`, download])
    expect((await update()).outcome).toBe('failed')
    expect(versions()).toEqual(['0.1.0'])
  })

  test('systemd doesn’t start the check', async () => {
    server.failing = 'restart --no-block'
    expect((await update()).detail).toMatch(/could not be started: Failed/)
    expect([linked(), existsSync(updateFile(here.folders))]).toEqual(['0.1.0', false])
  })

  test('another update is being checked, or the program was put there manually', async () => {
    await update()
    writeFileSync(here.folders.download, program)
    server.done.length = 0
    expect((await update({ version: '0.3.0' })).detail).toBe('The update to version 0.2.0 has not ended.')
    // Its check continues if it was killed.
    expect(server.done).toEqual(['systemctl start --no-block bailiwick-agent-update.service'])
    await check(null)
    Bun.spawnSync(['ln', '-sfn', '/opt/bailiwick-agent', here.folders.programs.link])
    expect((await update()).detail).toMatch(/^The agent was not installed with the command of the hub/)
  })

  test('the owner of the server doesn’t allow it', async () => {
    here.allow('reboot')
    expect((await update()).detail).toBe('The owner of the server doesn’t allow update.')
    expect(versions()).toEqual(['0.1.0'])
  })
})
