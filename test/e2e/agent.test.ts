import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { version } from '../../src/core/version'
import {
  call,
  fullToken,
  installation,
  program,
  runProgram,
  startHub,
  startProgram,
  until,
  type HubProcess,
  type Installation,
} from '../support/binary'

// The compiled agent, at the compiled hub.

let here: Installation
let hub: HubProcess
let token: string
let folder: string
beforeAll(async () => {
  here = await installation()
  hub = await startHub(here)
  token = await fullToken(here)
})
afterAll(async () => {
  await hub[Symbol.asyncDispose]()
  await here[Symbol.asyncDispose]()
})

const api = (method: string, path: string, body?: unknown) => call(hub, token, method, path, body)

/** Enrolls an agent whose files are in a folder of its own. */
async function enroll(keyOptions: object = {}): Promise<{ config: string; key: string }> {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-agent-e2e-'))
  const created = await api('POST', '/v1/enrolment-keys', { name: 'test', ...keyOptions })
  expect(created.status).toBe(201)
  const config = join(folder, 'agent.conf')
  writeFileSync(
    config,
    `hub = ${hub.url}\nstate_folder = ${join(folder, 'state')}\nruntime_folder = ${join(folder, 'run')}\n# Each is another machine.\nroot = ${join(folder, 'root')}\n`,
  )
  mkdirSync(join(folder, 'root', 'etc'), { recursive: true })
  symlinkSync('/proc', join(folder, 'root', 'proc'))
  writeFileSync(join(folder, 'root', 'etc', 'machine-id'), crypto.randomUUID().replaceAll('-', ''))
  return { config, key: created.body.key }
}

describe('the agent', () => {
  test('enrolls, reports, and is shown with its server', async () => {
    const { config, key } = await enroll()
    const enrolled = await runProgram('bailiwick-agent', ['enrol', '--config', config, '--key', key])
    expect(enrolled).toMatchObject({ code: 0, err: '' })
    const run = startProgram('bailiwick-agent', ['run', '--config', config], { env: {}, cwd: tmpdir() })
    try {
      const [agent] = await until('the first report', async () => {
        const { body } = await api('GET', '/v1/agents')
        return body.data[0]?.last_report_at ? body.data : null
      })
      expect(agent).toMatchObject({ state: 'reporting', assurance: 'key', allow: ['collect'] })
      expect(await runProgram('bailiwick-agent', ['status', '--config', config])).toMatchObject({ code: 0, err: '' })
      // Used up.
      const again = await runProgram('bailiwick-agent', ['enrol', '--config', config, '--key', key])
      expect(again.code).toBe(1)
      expect(again.err).toMatch(/^The hub responded with status 401: /)
      await run.stop()
      const stopped = (await api('GET', `/v1/agents/${agent.id}`)).body
      expect(stopped.state).toBe('stopped')

      // The other program is the same agent.
      const other = startProgram('bailiwick', ['agent', 'run', '--config', config], { env: {}, cwd: tmpdir() })
      await until('a report', async () => (await api('GET', `/v1/agents/${agent.id}`)).body.state === 'reporting')
      expect((await api('POST', `/v1/agents/${agent.id}/revoke`)).status).toBeLessThan(300)
      other.run.kill('SIGTERM')
      await other.run.exited
      const revoked = startProgram('bailiwick-agent', ['run', '--config', config], { env: {}, cwd: tmpdir() })
      expect(await revoked.run.exited).toBe(78)
    } finally {
      run.run.kill('SIGKILL')
      rmSync(folder, { recursive: true })
    }
  }, 180_000)
})

test('the agent needs little memory over HTTPS', async () => {
  const file = join(here.folder, 'weight.json')
  const args = ['--only', 'https', 'pinned', '--warm-up', '1', '--seconds', '8', '--json', file]
  const { code, err } = await runProgram('bailiwick', ['bench', 'agent-weight', ...args])
  expect({ code, err }).toMatchObject({ code: 0 })
  const figures = JSON.parse(readFileSync(file, 'utf8')).figures as { name: string; value: number }[]
  for (const [way, own] of [
    ['https', 6],
    ['pinned', 6.5],
  ] as const) {
    const valueOf = (name: string) => figures.find(one => one.name === `${way}: ${name}`)!.value
    expect(valueOf('RSS')).toBeWithin(1, 42)
    expect(valueOf('own memory')).toBeWithin(1, own)
  }
}, 180_000)

test('the hub serves the agent and the hub’s program as an agent', async () => {
  const manifest = await call(hub, '', 'GET', '/download/agent/manifest')
  // The agent, not the hub’s program: it contains the version of the hub.
  const { size } = statSync(program('bailiwick-agent'))
  expect(manifest.body).toMatch(new RegExp(`^version ${version.replaceAll('.', '\\.')}\\nlinux-\\S+ [0-9a-f]{64} ${size}\\n`))
  const alone = mkdtempSync(join(tmpdir(), 'bailiwick-agent-e2e-'))
  try {
    const copy = join(alone, 'bailiwick-agent')
    await Bun.write(copy, Bun.file(program('bailiwick')))
    const run = Bun.spawn(['sh', '-c', `chmod 755 ${copy} && ${copy} --help`], { stdout: 'pipe' })
    expect(await new Response(run.stdout).text()).toStartWith('Usage: bailiwick-agent <command>')
  } finally {
    rmSync(alone, { recursive: true })
  }
})

test.if(process.arch === 'x64')(
  'the agent for processors without AVX2 is built, and runs',
  async () => {
    const out = mkdtempSync(join(tmpdir(), 'bailiwick-agents-'))
    const name = 'bailiwick-agent-linux-x64-baseline'
    const build = Bun.spawn([process.execPath, 'src/bin/build.ts', '--program', name, '--outdir', out], { stdout: 'ignore' })
    expect(await build.exited).toBe(0)
    expect(readdirSync(out)).toEqual([name])
    const run = Bun.spawn([join(out, name), '--version'], { stdout: 'pipe' })
    expect(await new Response(run.stdout).text()).toBe(`${version}\n`)
    rmSync(out, { recursive: true })
  },
  180_000,
)
