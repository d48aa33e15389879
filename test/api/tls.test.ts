import { expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { Elysia } from 'elysia'
import { loadConfig } from '../../src/core/config'
import { openLog } from '../../src/core/log'
import { listen } from '../../src/hub/listen'
import { inTempFolder, runSource } from '../support/command'

const fixtures = join(import.meta.dir, '../fixtures/tls')
const fingerprint = (port: number) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => {
      resolve(socket.getPeerCertificate().fingerprint256)
      socket.destroy()
    })
    socket.on('error', reject)
  })

test('a renewed certificate is used without a restart, and a broken one is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-tls-'))
  const use = (name: string) => {
    for (const end of ['pem', 'key']) copyFileSync(join(fixtures, `${name}.${end}`), join(folder, `hub.${end}`))
  }
  use('loopback')
  const config = loadConfig(
    { listen: '127.0.0.1:0' },
    { BAILIWICK_TLS_CERT: join(folder, 'hub.pem'), BAILIWICK_TLS_KEY: join(folder, 'hub.key') },
  )
  const log = openLog('silent')
  const listening = listen(
    new Elysia().get('/', () => 'here'),
    config,
  )
  try {
    const port = listening.server().port!
    const first = await fingerprint(port)
    await listening.renewTls(log)
    expect(await fingerprint(port)).toBe(first)
    use('two-names')
    await listening.renewTls(log)
    const second = await fingerprint(port)
    expect(second).not.toBe(first)
    await Bun.write(join(folder, 'hub.pem'), 'not a certificate')
    await listening.renewTls(log)
    expect(await fingerprint(port)).toBe(second)
    const answer = await fetch(`https://127.0.0.1:${port}/`, {
      tls: { ca: readFileSync(join(fixtures, 'ca.pem'), 'utf8'), checkServerIdentity: () => undefined },
    })
    expect(await answer.text()).toBe('here')
  } finally {
    await listening.server().stop(true)
    rmSync(folder, { recursive: true })
  }
})

const of = (name: string) => join(fixtures, name)
const noCertificate = of('make.sh')

test.each([
  ['/nowhere/cert', of('loopback.key'), /^BAILIWICK_TLS_CERT: can’t read the file .*\/nowhere\/cert/],
  [of('loopback.pem'), '/nowhere/key', /^BAILIWICK_TLS_KEY: can’t read the file .*\/nowhere\/key/],
  [noCertificate, noCertificate, /^BAILIWICK_TLS_CERT: \S+make\.sh does not contain a certificate in PEM format\.$/],
  [of('loopback.pem'), noCertificate, /^BAILIWICK_TLS_KEY: \S+make\.sh does not contain a private key in PEM format/],
  [of('loopback.pem'), of('two-names.key'), /^BAILIWICK_TLS_KEY: \S+two-names\.key does not match the first certificate in /],
])(
  'invalid certificate files are reported with their setting: %s, %s',
  (cert, key, sentence) =>
    inTempFolder(async folder => {
      const env = { BAILIWICK_TLS_CERT: cert, BAILIWICK_TLS_KEY: key, BAILIWICK_DATA: join(folder, 'data') }
      const { code, out, err } = await runSource(['serve', '--listen', '127.0.0.1:0'], env)
      expect({ code, out }).toEqual({ code: 1, out: '' })
      expect(err.trimEnd()).toMatch(sentence)
      const doctor = await runSource(['doctor', '--listen', '127.0.0.1:0'], env)
      expect(doctor.code).toBe(1)
      const message = /^fail +certificate +(.*)$/m.exec(doctor.out)?.[1]
      expect(message).toMatch(sentence)
      expect(() => listen(new Elysia(), loadConfig({ listen: '127.0.0.1:0' }, env))).toThrow(sentence)
    }),
  180_000,
)

test(
  'doctor reports the expiry of a certificate',
  () =>
    inTempFolder(async folder => {
      const doctor = async (name: string) => {
        const env = { BAILIWICK_TLS_CERT: of(`${name}.pem`), BAILIWICK_TLS_KEY: of(`${name}.key`), BAILIWICK_DATA: folder }
        return (await runSource(['doctor', '--listen', '127.0.0.1:0'], env)).out
      }
      expect(await doctor('loopback')).toMatch(/^ok +certificate +\S+ is valid until \d{4}-/m)
      expect(await doctor('expired')).toMatch(/^fail +certificate +\S+ expired at \d{4}-\S+\. Renew the certificate\.$/m)
    }),
  180_000,
)
