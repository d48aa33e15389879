import { execFileSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'bun:test'
import { AgentFolder } from '../../../test/support/agent-folder'
import { ownCertificate } from '../../../test/support/own-certificate'
import { sha256Hex } from '../../core/sha256'
import { parseCsr } from '../../features/acme/managed-certificates/csr'
import type { AgentCommand } from '../../wire/agent-command'
import type { InstallProfile } from '../certificates/install-profile'
import { readConfigFile } from '../config-file'
import { createKey, installCertificate } from './certificates'
import { runOrder } from './run-order'
import type { System } from './system'

const dayMs = 86_400_000
const now = Date.UTC(2026, 10, 27)

/** A server with a service, which reads its files when it is started or reloaded. */
class Service implements Pick<System, 'run'> {
  state: 'active' | 'inactive' | 'failed' = 'active'
  /** Why the service refuses its files. */
  refuses: ((certificate: string) => string | null) | null = null
  /** Whether it ends if it can’t reload them. */
  endsOnReload = false
  /** Called before it loads its files. */
  beforeLoad = () => {}
  readonly loaded: string[] = []
  readonly asked: string[] = []
  constructor(private readonly certificate: string) {}
  /** How long all that was asked for may take (ms). */
  mayTakeMs = 0
  async run([, verb]: string[], { timeoutMs = 0 } = {}) {
    this.mayTakeMs += timeoutMs
    if (verb === 'is-active') return { isSuccess: this.state === 'active', output: `${this.state}\n` }
    this.asked.push(verb!)
    if (verb === 'reset-failed') {
      if (this.state === 'failed') this.state = 'inactive'
      return { isSuccess: true, output: '' }
    }
    if (verb === 'reload' && this.state !== 'active')
      return { isSuccess: false, output: 'It is not active, so it cannot reload.' }
    if (this.state === 'failed') return { isSuccess: false, output: 'Start request repeated too quickly.' }
    this.beforeLoad()
    const text = existsSync(this.certificate) ? readFileSync(this.certificate, 'utf8') : ''
    const reason = this.refuses?.(text) ?? null
    if (reason === null) this.loaded.push(text)
    if (verb === 'restart') this.state = reason === null ? 'active' : 'failed'
    else if (reason !== null && this.endsOnReload) this.state = 'inactive'
    return { isSuccess: reason === null || this.endsOnReload, output: reason ?? '' }
  }
}

let folder: string
let service: Service
let profile: InstallProfile
let folders: () => { state: string }
const keys = () => join(folders().state, 'certificates', 'web')
const own = { user: String(process.getuid!()), group: String(process.getgid!()) }
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-install-'))
  mkdirSync(join(folder, 'tls'))
  folders = () => ({ state: join(folder, 'state') })
  const [certificate, key] = [join(folder, 'tls', 'web.pem'), join(folder, 'tls', 'web.key')]
  profile = { certificate, key, ...own, mode: 0o640, load: { verb: 'reload', unit: 'nginx.service' } }
  service = new Service(certificate)
})
afterEach(() => rmSync(folder, { recursive: true }))

const names = ['shop.example.com']
/** Has a key created, and issues a certificate for it. */
async function issued() {
  const request = parseCsr(await createKey(folders(), { names, key_type: 'ec-256', install_profile: 'web' }))
  return ownCertificate({ names, from: now - dayMs, until: now + 89 * dayMs, spki: Buffer.from(request.spki) })
}
const install = ({ pem, sha256 }: { pem: string; sha256: string }, changed: object = {}) =>
  installCertificate(service as never, folders(), profile, {
    chain: pem,
    fingerprint: sha256,
    install_profile: 'web',
    ...changed,
  })
const read = (path: string) => readFileSync(path, 'utf8')
const mode = (path: string) => (statSync(path).mode & 0o7777).toString(8)

test('a key is created, and its certificate installed and loaded; both are replaced by the next ones', async () => {
  for (const round of [1, 2]) {
    const one = await issued()
    expect([mode(keys()), readdirSync(keys()).map(name => mode(join(keys(), name)))]).toEqual(['700', ['600']])
    expect(await install(one)).toEqual({ isDone: true, note: null })
    expect(service.loaded.at(-1)).toBe(one.pem)
    expect([service.loaded.length, mode(profile.certificate), mode(profile.key)]).toEqual([round, '644', '640'])
    expect(new X509Certificate(one.pem).checkPrivateKey(createPrivateKey(read(profile.key)))).toBe(true)
    expect(readdirSync(keys())).toEqual([])
    // The hub repeats the command if it did not get the result.
    expect(await install(one)).toEqual({ isDone: true, note: null })
    service.loaded.pop()
  }
})

test('one file can contain both, and a service that does not run is not reloaded', async () => {
  profile = { ...profile, key: profile.certificate, mode: 0o600 }
  service.state = 'inactive'
  const one = await issued()
  expect(await install(one)).toEqual({
    isDone: true,
    note: 'nginx.service is not running, so it loads the certificate when it starts.',
  })
  expect(read(profile.certificate)).toMatch(
    /^-----BEGIN CERTIFICATE-----\n[^]*-----BEGIN PRIVATE KEY-----\n[^]*-----END PRIVATE KEY-----\n$/,
  )
  expect([mode(profile.certificate), service.asked]).toEqual(['600', []])
  expect(await install(one)).toMatchObject({ isDone: true })
})

test('if the service refuses the certificate, the previous files are restored and loaded, and the command can be repeated', async () => {
  const first = await issued()
  await install(first)
  chmodSync(profile.key, 0o600)
  const before = [read(profile.certificate), read(profile.key)]
  const second = await issued()
  service.refuses = text => (text === second.pem ? 'nginx: configuration file test failed.' : null)
  expect(await install(second)).toEqual({
    isDone: false,
    detail: 'nginx: configuration file test failed. The previous files were restored.',
  })
  expect([read(profile.certificate), read(profile.key)]).toEqual(before)
  expect([mode(profile.key), service.loaded.at(-1)]).toEqual(['600', first.pem])
  service.refuses = null
  expect(await install(second)).toMatchObject({ isDone: true })
  expect(service.loaded.at(-1)).toBe(second.pem)
})

test('if the first certificate is refused, no files are left', async () => {
  service.refuses = text => (text === '' ? null : 'no')
  expect(await install(await issued())).toMatchObject({ isDone: false })
  expect(readdirSync(join(folder, 'tls'))).toEqual([])
})

test('a service that ends because of the certificate is started again with the previous one; a retry does not take it for stopped', async () => {
  const first = await issued()
  await install(first)
  const second = await issued()
  service.refuses = text => (text === second.pem ? 'bad key' : null)
  const restored = { isDone: false as const, detail: 'bad key The previous files were restored.' }
  profile = { ...profile, load: { verb: 'restart', unit: 'nginx.service' } }
  expect([await install(second), service.state, service.loaded.at(-1)]).toEqual([restored, 'active', first.pem])
  // The previous files don’t help.
  service.refuses = () => 'no memory'
  service.mayTakeMs = 0
  const problem = 'no memory The previous files were restored. The service still has a problem: no memory'
  for (let attempt = 0; attempt < 2; attempt++)
    expect([await install(second), service.state]).toEqual([{ isDone: false, detail: problem }, 'failed'])
  // The agent waits for seven minutes.
  expect(service.mayTakeMs / 2).toBeWithin(300_000, 400_000)
  service.refuses = null
  expect([await install(second), service.state]).toEqual([{ isDone: true, note: null }, 'active'])

  const third = await issued()
  service.refuses = text => (text === third.pem ? 'bad key' : null)
  service.endsOnReload = true
  profile = { ...profile, load: { verb: 'reload', unit: 'nginx.service' } }
  const ended = 'nginx.service stopped when it was asked to reload. The previous files were restored.'
  expect([await install(third), service.state]).toEqual([{ isDone: false, detail: ended }, 'active'])
  expect(service.loaded.at(-1)).toBe(second.pem)
})

/** A server that lost power while a certificate was being installed, after the key was written. */
async function interrupted() {
  const server = new AgentFolder(() => now)
  server.settings = () => ({ ...readConfigFile(server.configFile), installProfiles: new Map([['web', profile]]) })
  folders = () => server.folders
  const first = await issued()
  await install(first)
  const key = read(profile.key)
  const second = await issued()
  const state = join(folder, 'interrupted')
  service.beforeLoad = () => cpSync(keys(), state, { recursive: true })
  await install(second)
  service.beforeLoad = () => {}
  cpSync(state, keys(), { recursive: true })
  writeFileSync(profile.certificate, first.pem)
  service.state = 'failed'
  service.asked.length = 0
  return { server, key, first, second }
}

test('when the server starts after a power failure, the files before it are restored, and the failed service is started', async () => {
  const { server, key, first, second } = await interrupted()
  using _ = server
  // The agent has not started yet.
  rmSync(server.folders.orders, { recursive: true })
  await server.obey(service as never)
  expect([read(profile.certificate), read(profile.key)]).toEqual([first.pem, key])
  expect([service.state, service.loaded.at(-1), server.lines('root')]).toEqual([
    'active',
    first.pem,
    [
      expect.stringMatching(
        /\| restored \| The installation of a certificate with the profile web was interrupted\. The previous files were restored\.$/,
      ),
    ],
  ])
  service.asked.length = 0
  await server.obey(service as never)
  expect(service.asked).toEqual([])
  expect(await install(second)).toMatchObject({ isDone: true })
})

test('if the command is repeated first, the files before the interrupted installation are those that are restored', async () => {
  const { server, key, first, second } = await interrupted()
  using _ = server
  service.refuses = text => (text === second.pem ? 'no' : null)
  expect(await install(second)).toMatchObject({ isDone: false })
  expect([read(profile.certificate), read(profile.key), service.state]).toEqual([first.pem, key, 'active'])
})

const strangers: [string, RegExp, () => void][] = [
  ['changed', /Something else has changed .*web\.pem/, () => writeFileSync(profile.certificate, 'new')],
  ['in a folder of others', /must belong to root/, () => chmodSync(join(folder, 'tls'), 0o777)],
  ['not in the profile', /web\.key is not in the profile anymore/, () => (profile = { ...profile, key: profile.certificate })],
]
for (const [name, reason, change] of strangers)
  test(`previous files are not restored if one is ${name} meanwhile`, async () => {
    const { server } = await interrupted()
    using _ = server
    const files = [join(folder, 'tls', 'web.pem'), profile.key]
    change()
    const before = files.map(read)
    await server.obey(service as never)
    expect([files.map(read), service.asked]).toEqual([before, []])
    expect(server.lines('root')).toEqual([expect.stringMatching(/The previous files were not restored: /)])
    expect(server.lines('root')[0]).toMatch(reason)
    expect(readdirSync(join(server.folders.state, 'certificates', 'web'))).not.toContain('previous.json')
  })

test('what is not the certificate for a key of this server is refused, and nothing is changed', async () => {
  const one = await issued()
  const strange = ownCertificate({ names, from: now, until: now + dayMs })
  const refused: [object, RegExp][] = [
    [{ chain: strange.pem, fingerprint: strange.sha256 }, /^The server has no private key for this certificate\.$/],
    [{ fingerprint: strange.sha256 }, /^The certificate does not match its fingerprint\.$/],
    [{ chain: one.pem + strange.key }, /^The chain does not consist of certificates\.$/],
    [{ chain: 'x' }, /^The chain does not consist of certificates\.$/],
    [{ chain: one.pem.repeat(1000) }, /^The chain does not consist of certificates\.$/],
  ]
  for (const [changed, detail] of refused)
    expect(await install(one, changed)).toEqual({ isDone: false, detail: expect.stringMatching(detail) })
  const unsafe = async (path: string) => {
    profile = { ...profile, certificate: path }
    return await install(one).catch((error: Error) => error.message)
  }
  mkdirSync(join(folder, 'open'))
  chmodSync(join(folder, 'open'), 0o777)
  expect(await unsafe(join(folder, 'open', 'web.pem'))).toMatch(
    /must belong to root, and other users must not be able to write to it/,
  )
  expect(await unsafe(join(folder, 'none', 'web.pem'))).toMatch(/The folder .* does not exist\./)
  symlinkSync('/etc/passwd', join(folder, 'tls', 'link.pem'))
  expect(await unsafe(join(folder, 'tls', 'link.pem'))).toMatch(/is not a regular file/)
  // Root would wait for someone to write to the pipe, or read zeros until its memory is full.
  const keyAt = async (path: string) => {
    profile = { ...profile, key: path }
    const refused = await unsafe(join(folder, 'tls', 'web.pem'))
    profile = { ...profile, key: join(folder, 'tls', 'web.key') }
    return refused
  }
  execFileSync('mkfifo', [join(folder, 'tls', 'pipe.key')])
  expect(await keyAt(join(folder, 'tls', 'pipe.key'))).toMatch(/pipe\.key is not a regular file/)
  expect(await keyAt('/dev/zero')).toMatch(/is not a regular file/)
  rmSync(join(folder, 'tls', 'pipe.key'))
  symlinkSync(join(folder, 'nowhere'), join(folder, 'tls', 'broken.pem'))
  expect(await unsafe(join(folder, 'tls', 'broken.pem'))).toMatch(/is not a regular file/)
  rmSync(join(folder, 'tls', 'broken.pem'))
  // The folders of the target are safe, but who owns the link chooses the target.
  symlinkSync(join(folder, 'tls'), join(folder, 'open', 'link'))
  expect(await unsafe(join(folder, 'open', 'link', 'web.pem'))).toMatch(/must not contain links\. Without them, it is .*\/tls\./)
  profile = { ...profile, user: 'nobody-here', certificate: join(folder, 'tls', 'web.pem') }
  expect(await install(one).catch((error: Error) => error.message)).toBe('nobody-here is not in /etc/passwd.')
  expect([readdirSync(join(folder, 'tls')), service.loaded]).toEqual([['link.pem'], []])
})

test('a certificate that comes while another is being installed is not refused for good', async () => {
  const one = await issued()
  const command = {
    name: 'certificate_install',
    params: { chain: one.pem, fingerprint: one.sha256, install_profile: 'web' },
  } as AgentCommand
  const run = () => runOrder(service as never, folders() as never, () => new Map([['web', profile]]), command)
  const detail = 'Another certificate is being installed with the same profile.'
  expect(await Promise.all([run(), run()])).toEqual([
    { outcome: 'done', detail: null, output: null },
    { outcome: 'expired', detail, output: null },
  ])
})

test('only the latest keys without a certificate are kept', async () => {
  for (let at = 0; at < 7; at++) await issued()
  expect(readdirSync(keys())).toHaveLength(5)
  const latest = await issued()
  expect(await install(latest)).toMatchObject({ isDone: true })
  const ids = readdirSync(keys())
  expect(ids).toHaveLength(4)
  for (const name of ids)
    expect(name).toBe(`${sha256Hex(createPublicKey(read(join(keys(), name))).export({ type: 'spki', format: 'der' }))}.key`)
  // Something else in the folder is not touched.
  writeFileSync(join(keys(), 'note'), '')
  await issued()
  expect(existsSync(join(keys(), 'note'))).toBe(true)
})
