import { expect, test } from 'bun:test'
import { copyFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connect } from 'node:tls'
import { Elysia } from 'elysia'
import { loadConfig } from '../../src/core/config'
import { openLog } from '../../src/core/log'
import { listen } from '../../src/hub/listen'

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
