import { createHash, verify } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Elysia } from 'elysia'
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { isPostgres } from '../../src/core/db/dialect'
import { version } from '../../src/core/version'
import { hubPublicKey } from '../../src/features/servers/agents/hub-key'
import { shellAgent } from '../../src/features/servers/agents/shell/shell-agent'
import { downloadRoutes } from '../../src/hub/downloads/downloads'
import { pieceBytes, programMark } from '../../src/wire/agent-version'
import { parsePublicKey } from '../../src/wire/signed'
import { world } from '../support/world'

const here = await world({ BAILIWICK_ANONYMOUS_PER_MINUTE: '100000' })
const own = `linux-${process.arch}`
const sha256 = (text: string | Uint8Array) => createHash('sha256').update(text).digest('hex')

let folder: string
let server: Bun.Server<undefined>
/** Changes a response of the hub, like someone on the network. */
let tamper: (path: string, response: Response) => Response | Promise<Response> = (_, response) => response
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-downloads-'))
  mkdirSync(join(folder, 'hub'))
  writeFileSync(join(folder, 'hub', 'bailiwick'), 'the hub')
  tamper = (_, response) => response
  here.hub.program = join(folder, 'hub', 'bailiwick')
  const app = new Elysia().decorate('hub', here.hub).use(downloadRoutes())
  server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async request => await tamper(new URL(request.url).pathname, await app.handle(request)),
  })
})
afterEach(async () => {
  await server.stop(true)
  rmSync(folder, { recursive: true })
})

const write = (name: string, text: string) => writeFileSync(join(folder, 'hub', name), text)
/** A program of a version. */
const ofVersion = (text: string, contained = version) => `${text}\n# ${programMark}${contained}\n`
const place = (name: string, text: string) => write(name, ofVersion(text))
const get = (path: string) => fetch(new URL(path, server.url))

describe('the list of downloads', () => {
  test('contains the programs next to the hub’s, and is signed by the hub', async () => {
    place('bailiwick-agent', 'agent')
    place('bailiwick-agent-linux-arm64-musl', 'other agent')
    place('bailiwick-agent-windows', '')
    place('bailiwick-agent-linux-arm64-baseline', '')
    place('bailiwick-agent.map', '')
    const manifest = new Uint8Array(await (await get('/download/agent/manifest')).arrayBuffer())
    expect(Buffer.from(manifest).toString().split('\n')).toEqual([
      `version ${version}`,
      ...[
        `linux-arm64-musl ${sha256(ofVersion('other agent'))} ${ofVersion('other agent').length}`,
        `${own} ${sha256(ofVersion('agent'))} ${ofVersion('agent').length}`,
      ].sort(),
      '',
    ])
    const signature = new Uint8Array(await (await get('/download/agent/manifest.sig')).arrayBuffer())
    expect(verify(null, manifest, parsePublicKey(hubPublicKey(here.hub))!, signature)).toBe(true)
    expect(await (await get(`/download/agent/${own}`)).text()).toBe(ofVersion('agent'))
    expect(await (await get('/download/agent/linux-arm64-musl')).text()).toBe(ofVersion('other agent'))
    place('bailiwick-agent', 'a newer agent')
    expect(await (await get('/download/agent/manifest')).text()).toContain(`${own} ${sha256(ofVersion('a newer agent'))} `)
  })

  test('a program with the loader of musl is for systems with musl', async () => {
    place('bailiwick-agent', `\x7fELF${'\0'.repeat(500)}/lib/ld-musl-x86_64.so.1\0`)
    const lines = (await (await get('/download/agent/manifest')).text()).split('\n')
    expect(lines.slice(1, -1).map(line => line.split(' ')[0])).toEqual([own, `${own}-musl`])
    expect(await (await get(`/download/agent/${own}`)).text()).toBe('the hub')
  })

  test('without an agent next to it, the hub gives its own program', async () => {
    expect(await (await get(`/download/agent/${own}`)).text()).toBe('the hub')
  })

  test('programs of other versions are not served', async () => {
    place('bailiwick-agent-linux-arm64', 'agent')
    // The version is where two pieces of the file meet.
    write('bailiwick-agent-linux-arm64-musl', ofVersion('\0'.repeat(1024 * 1024 - 30)))
    write('bailiwick-agent', ofVersion('agent', '0.0.9'))
    write('bailiwick-agent-linux-x64-musl', ofVersion('agent', `${version}1`))
    write('bailiwick-agent-linux-x64-baseline', `${programMark}x\n${programMark}\n`)
    const platforms = (await (await get('/download/agent/manifest')).text()).split('\n').slice(1, -1)
    expect(platforms.map(line => line.split(' ')[0])).toEqual([...new Set(['linux-arm64', 'linux-arm64-musl', own])].toSorted())
    if (own === 'linux-x64') expect(await (await get(`/download/agent/${own}`)).text()).toBe('the hub')
    expect((await get('/download/agent/linux-x64-musl')).status).toBe(404)
    expect((await get('/download/agent/linux-x64-baseline')).status).toBe(404)
  })

  test('a part of a program can be downloaded', async () => {
    write('bailiwick-agent', ofVersion('agent'))
    const { length } = ofVersion('agent')
    const part = async (range: string) => {
      const response = await fetch(new URL(`/download/agent/${own}`, server.url), { headers: { Range: range } })
      return [response.status, response.headers.get('content-range'), await response.text()]
    }
    expect(await part('bytes=1-2')).toEqual([206, `bytes 1-2/${length}`, 'ge'])
    const end = `bytes ${length - 3}-${length - 1}/${length}`
    expect(await part(`bytes=${length - 3}-9999`)).toEqual([206, end, ofVersion('agent').slice(-3)])
    expect(await part(`bytes=${length}-${length + 1}`)).toEqual([416, `bytes */${length}`, ''])
    for (const other of ['bytes=2-1', 'bytes=-2', 'lines=1-2']) expect((await part(other))[2]).not.toBe('ge')
    expect(await part('lines=1-2')).toEqual([200, null, ofVersion('agent')])
  })

  test.each(['linux-riscv64', 'windows', '..%2fbailiwick', 'manifest.txt'])('%s is not found', async name => {
    expect((await get(`/download/agent/${name}`)).status).not.toBe(200)
  })
})

test('the hub serves the agent for routers and small boards', async () => {
  const response = await here.app.handle(new Request('http://localhost/download/agent.sh'))
  expect(response.headers.get('content-type')).toBe('text/x-shellscript; charset=utf-8')
  expect(await response.text()).toBe(shellAgent(null))
  expect(shellAgent(null)).toContain(`\nversion=${version}\n`)
})

test('the hub serves the script, and requests are limited', async () => {
  const response = await here.app.handle(new Request('http://localhost/download/agent'))
  expect(response.headers.get('content-type')).toBe('text/x-shellscript; charset=utf-8')
  expect(await response.text()).toStartWith('#!/bin/sh\n# Installs the Bailiwick agent')
  const limited = await world({ BAILIWICK_ANONYMOUS_PER_MINUTE: '2' })
  const statuses = []
  for (let at = 0; at < 3; at++)
    statuses.push((await limited.app.handle(new Request('http://localhost/download/agent/manifest'))).status)
  expect(statuses).toEqual([200, 200, 429])
})

test('parts of programs have a limit of their own, so that many servers behind one address can be updated', async () => {
  const { app } = await world({ BAILIWICK_ANONYMOUS_PER_MINUTE: '2' })
  const get = async (path: string, headers = {}) => (await app.handle(new Request(`http://localhost${path}`, { headers }))).status
  const parts = []
  for (let at = 0; at < 21; at++) parts.push(await get('/download/agent/linux-riscv64', { Range: 'bytes=0-1' }))
  expect(parts).toEqual([...Array.from({ length: 20 }, () => 404), 429])
  // A whole program is not a part of it.
  const others = []
  for (const Range of ['x', `bytes=0-${pieceBytes}`, 'bytes=0-'])
    others.push(await get('/download/agent/linux-riscv64', { Range }))
  expect(others).toEqual([404, 404, 429])
})

/** The program of the agent in these tests: writes down how it was called. */
const agentProgram = (log: string) => `#!/bin/sh\n[ "$1" = --version ] || echo "$(basename "$0") $*" >>${log}\n`

// BusyBox may not be installed yet. It is when the suite runs on PostgreSQL.
const shells = ['dash', 'busybox sh', 'bash --posix'].filter(
  shell => shell !== 'busybox sh' || Bun.which('busybox') || isPostgres,
)

describe.each(shells)('the script in %s', shell => {
  /** Runs the script with everything it writes in a folder of the test. */
  async function install(...args: string[]): Promise<{ code: number; err: string; log: string[] }> {
    const [root, tools] = [join(folder, 'root'), join(folder, 'tools')]
    for (const path of [root, tools]) mkdirSync(path, { recursive: true })
    writeFileSync(join(tools, 'id'), '#!/bin/sh\necho 0\n')
    chmodSync(join(tools, 'id'), 0o755)
    const script = partOf((await (await get('/download/agent')).text()).replaceAll('/usr/local/', `${root}/`))
    const run = Bun.spawn([...shell.split(' '), '-s', '--', ...args], {
      stdin: new Blob([script]),
      stderr: 'pipe',
      env: { PATH: `${tools}:${process.env.PATH}`, TMPDIR: folder },
    })
    const [code, err] = [await run.exited, await new Response(run.stderr).text()]
    const log = join(folder, 'log')
    return { code, err, log: existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n') : [] }
  }
  /** What arrives of the script. */
  let partOf = (script: string) => script
  const options = () => ['--hub', server.url.origin, '--key', 'bw_enrol_x', '--hub-key', hubPublicKey(here.hub)]
  const installed = () => (existsSync(join(folder, 'root')) ? readdirSync(join(folder, 'root'), { recursive: true }).sort() : [])
  const leftover = () => readdirSync(folder).filter(name => name.startsWith('tmp.'))
  beforeEach(() => {
    const name = own === 'linux-x64' && !/ avx2 /.test(readFileSync('/proc/cpuinfo', 'latin1')) ? `${own}-baseline` : own
    place(`bailiwick-agent-${name}`, agentProgram(join(folder, 'log')))
  })

  test('installs the agent that the hub signed, upgrades it, and removes old versions', async () => {
    const { code, err, log } = await install(...options(), '--allow', 'reboot, wake')
    expect({ code, err }).toEqual({ code: 0, err: '' })
    expect(log).toEqual([`bailiwick-agent install ${options().join(' ')} --allow reboot, wake`])
    const expected = ['bin', 'bin/bailiwick-agent', 'lib', 'lib/bailiwick-agent', `lib/bailiwick-agent/${version}`]
    expect(installed()).toEqual([...expected, `lib/bailiwick-agent/${version}/bailiwick-agent`])
    mkdirSync(join(folder, 'root/lib/bailiwick-agent/0.0.1'))
    expect((await install(...options())).log).toHaveLength(2)
    expect(installed()).toEqual([...expected, `lib/bailiwick-agent/${version}/bailiwick-agent`])
    expect((await install('--uninstall')).log.at(-1)).toBe('bailiwick-agent uninstall')
    expect(leftover()).toEqual([])
  })

  test.each([
    ['no hub', () => ['--key', 'x'], /^bailiwick-agent: Missing option: --hub URL/],
    ['a hub without a scheme', () => ['--hub', 'hub.example.com'], /^bailiwick-agent: Missing option: --hub URL/],
    ['a hub that is away', () => ['--hub', 'http://127.0.0.1:1', ...options().slice(2)], /could not be downloaded\.\n$/],
    [
      'another key',
      () => [...options().slice(0, 5), 'ed25519:11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo'],
      /is not signed by the key/,
    ],
    ['no key of a hub without TLS', () => options().slice(0, 4), /^bailiwick-agent: Missing option: --hub-key KEY/],
    [
      'no key of a hub with a pinned certificate',
      () => ['--hub', 'https://hub.example.com', '--pin', 'sha256:00ff'],
      /^bailiwick-agent: Missing option: --hub-key KEY/,
    ],
    ['nothing to uninstall', () => ['--uninstall'], /^bailiwick-agent: The agent is not installed\.\n$/],
  ])('%s: one sentence, and nothing is left behind', async (_, args, message) => {
    const { code, err, log } = await install(...args())
    expect({ code, log }).toEqual({ code: 1, log: [] })
    expect(err).toMatch(message)
    expect([installed(), leftover()]).toEqual([[], []])
  })

  test('a program that does not run: one sentence, and nothing is left behind', async () => {
    const name = readdirSync(join(folder, 'hub')).find(one => one.startsWith('bailiwick-agent-'))!
    place(name, '#!/bin/sh\necho "Error loading libstdc++.so.6" >&2\nexit 127\n')
    expect(await install(...options())).toEqual({
      code: 1,
      err: 'bailiwick-agent: The program does not run on this server: Error loading libstdc++.so.6.\n',
      log: [],
    })
    expect([installed().filter(path => path.includes('agent')), leftover()]).toEqual([[], []])
  })

  test('an incomplete script does nothing', async () => {
    const requested: string[] = []
    tamper = (path, response) => {
      requested.push(path)
      return response
    }
    try {
      for (const line of ['main "$@"', '  files=$(mktemp -d)\n', '  for other in']) {
        partOf = script => script.slice(0, script.indexOf(line))
        await install(...options())
      }
    } finally {
      partOf = script => script
    }
    expect([requested, installed(), leftover()]).toEqual([Array(3).fill('/download/agent'), [], []])
  })

  test('an installation that was interrupted can be repeated', async () => {
    const [bin, lib] = [join(folder, 'root/bin'), join(folder, 'root/lib/bailiwick-agent', version)]
    for (const path of [bin, lib]) mkdirSync(path, { recursive: true })
    symlinkSync(lib, join(bin, 'bailiwick-agent.new'))
    writeFileSync(join(lib, 'bailiwick-agent.new'), 'half')
    expect(await install(...options())).toMatchObject({ code: 0, err: '', log: [expect.stringContaining('install')] })
    expect([readdirSync(bin), readdirSync(lib)]).toEqual([['bailiwick-agent'], ['bailiwick-agent']])
  })

  test('without OpenSSL 3, nothing is downloaded over a connection that is not verified', async () => {
    mkdirSync(join(folder, 'tools'))
    writeFileSync(join(folder, 'tools', 'openssl'), '#!/bin/sh\necho pkeyutl: Unknown cipher\n')
    chmodSync(join(folder, 'tools', 'openssl'), 0o755)
    const requested: string[] = []
    tamper = (path, response) => {
      requested.push(path)
      return response
    }
    const { code, err, log } = await install(...options())
    expect({ code, log }).toEqual({ code: 1, log: [] })
    expect(err).toBe(
      'bailiwick-agent: OpenSSL 3 is required to verify the download. Install the package openssl, and run the command again.\n',
    )
    expect([requested, installed(), leftover()]).toEqual([['/download/agent'], [], []])
  })

  test.each([
    ['a changed program', `/download/agent/${own}`, () => new Response('#!/bin/sh\nrm -rf /'), /The download is damaged/],
    [
      'a changed list',
      '/download/agent/manifest',
      async (response: Response) => new Response((await response.text()).replace(/[0-9a-f]{64}/, sha256('x'))),
      /is not signed by the key/,
    ],
    ['no list', '/download/agent/manifest', () => new Response('', { status: 404 }), /could not be downloaded/],
  ])('%s is not installed', async (_, changed, change, message) => {
    tamper = (path, response) => (path.startsWith(changed) && !path.endsWith('.sig') ? change(response) : response)
    const { code, err, log } = await install(...options())
    expect({ code, log }).toEqual({ code: 1, log: [] })
    expect(err).toMatch(message)
    expect([installed(), leftover()]).toEqual([[], []])
  })
})
