import { execFileSync } from 'node:child_process'
import { createPrivateKey, createPublicKey, X509Certificate } from 'node:crypto'
import {
  chmodSync,
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
import { ownCertificate } from '../../../test/support/own-certificate'
import { sha256Hex } from '../../core/sha256'
import { parseCsr } from '../../features/acme/managed-certificates/csr'
import type { InstallProfile } from '../certificates/install-profile'
import { createKey, installCertificate } from './certificates'
import type { System } from './system'

const dayMs = 86_400_000
const now = Date.UTC(2026, 10, 27)

/** A server with a service, which reads its files when it is reloaded. */
class Service implements Pick<System, 'run'> {
  isRunning = true
  /** Why the service refuses its files. */
  refuses: ((certificate: string) => string | null) | null = null
  readonly loaded: string[] = []
  constructor(private readonly certificate: string) {}
  async run([, verb]: string[]) {
    if (verb === 'is-active') return { isSuccess: this.isRunning, output: '' }
    const text = existsSync(this.certificate) ? readFileSync(this.certificate, 'utf8') : ''
    const reason = this.refuses?.(text) ?? null
    if (reason === null) this.loaded.push(text)
    return { isSuccess: reason === null, output: reason ?? '' }
  }
}

let folder: string
let service: Service
let profile: InstallProfile
const folders = () => ({ state: join(folder, 'state') })
const keys = () => join(folder, 'state', 'certificates', 'web')
const own = { user: String(process.getuid!()), group: String(process.getgid!()) }
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'bailiwick-install-'))
  mkdirSync(join(folder, 'tls'))
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
  service.isRunning = false
  const one = await issued()
  expect(await install(one)).toEqual({
    isDone: true,
    note: 'nginx.service is not running, so it loads the certificate when it starts.',
  })
  expect(read(profile.certificate)).toMatch(
    /^-----BEGIN CERTIFICATE-----\n[^]*-----BEGIN PRIVATE KEY-----\n[^]*-----END PRIVATE KEY-----\n$/,
  )
  expect([mode(profile.certificate), service.loaded]).toEqual(['600', []])
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

test('if the server restarts in between, the files before it are those that are restored', async () => {
  const first = await issued()
  await install(first)
  const second = await issued()
  const { promise: alive, reject: kill } = Promise.withResolvers<never>()
  const killed = { run: () => alive }
  const running = installCertificate(killed as never, folders(), profile, {
    chain: second.pem,
    fingerprint: second.sha256,
    install_profile: 'web',
  })
  expect(read(profile.certificate)).toBe(second.pem)
  // The process that was killed had its own list of profiles in use.
  const { installCertificate: again } = await import(`./certificates.ts?${Math.random()}`)
  service.refuses = text => (text === second.pem ? 'no' : null)
  expect(
    await again(service, folders(), profile, { chain: second.pem, fingerprint: second.sha256, install_profile: 'web' }),
  ).toMatchObject({
    isDone: false,
  })
  expect(read(profile.certificate)).toBe(first.pem)
  expect(new X509Certificate(first.pem).checkPrivateKey(createPrivateKey(read(profile.key)))).toBe(true)
  kill(new Error('killed'))
  await expect(running).rejects.toThrow('killed')
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
