import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'bun:test'
import * as x509 from '@peculiar/x509'
import { call, fullToken, installation, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { startCtLog } from '../support/ct-log'
import { makeCertificate } from '../support/make-certificates'
import { startTlsServer } from '../support/tls-server'

// The compiled hub, and certspotter of Debian, which reads a log of this test and calls the hook of the handbook.

let here: Installation
let hub: HubProcess
let token: string
beforeAll(async () => {
  here = await installation()
  hub = await startHub(here)
  token = await fullToken(here)
}, 180_000)
afterAll(async () => {
  await hub?.stop()
  await here?.[Symbol.asyncDispose]()
})

const api = async (method: string, path: string, body?: unknown) => {
  const answer = await call(hub, token, method, path, body)
  if (answer.status >= 400) throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`)
  return answer.body
}

const dayMs = 86_400_000
const extension = (oid: string, hex: string, isCritical = false) =>
  new x509.Extension(oid, isCritical, new Uint8Array(Buffer.from(hex, 'hex')))

test('certspotter reports a precertificate that nobody knows, and the certificate that is served later is the same', async () => {
  const issuer = await makeCertificate({ subject: 'CN=Logged CA', isCa: true })
  const common = {
    ...{ names: ['shop.example.test'], issuer, serial: '1234abcd' },
    ...{ notBefore: new Date(Date.now() - dayMs), notAfter: new Date(Date.now() + 90 * dayMs) },
  }
  const plain = await makeCertificate(common)
  const same = { ...common, keysOf: plain }
  const precertificate = await makeCertificate({ ...same, extensions: [extension('1.3.6.1.4.1.11129.2.4.3', '0500', true)] })
  const final = await makeCertificate({
    ...same,
    extensions: [extension('1.3.6.1.4.1.11129.2.4.2', '040c000a0003aabbcc0003ddeeff')],
  })
  const other = await makeCertificate({ names: ['www.other.test'], issuer })
  await using log = startCtLog()
  log.add(other, issuer)
  log.addPrecertificate(precertificate, plain, issuer)
  const certspotter = startCertspotter(log.list)
  try {
    const [found, ...more] = await until(
      'the certificate',
      async () => {
        const { data } = await api('GET', '/v1/certificates?source=ct')
        return data.length > 0 && data
      },
      60_000,
    )
    expect(more).toEqual([])
    expect(found).toMatchObject({ common_name: 'shop.example.test', precertificate: true, sources: ['ct'], in_use: false })
    // Works out the gaps at once.
    await api('PATCH', '/v1/certificate-settings', { ignore: ['a.example.test'] })
    const gap = await until('the gap', async () => (await api('GET', '/v1/certificate-gaps?kind=ct_unknown')).data[0])
    expect(gap).toMatchObject({ status: 'open', severity: 'high', name: 'shop.example.test', certificate_id: found.id })

    const server = await startTlsServer({ certificate: { pem: final.pem + issuer.pem, key: final.keyPem } })
    try {
      await api('POST', '/v1/tls-endpoints', { host: '127.0.0.1', port: server.port, servername: 'shop.example.test' })
      const served = await until('the scan', async () => {
        const one = await api('GET', `/v1/certificates/${found.id}`)
        return one.in_use && one
      })
      expect(served).toMatchObject({
        precertificate: false,
        sources: ['ct', 'endpoint'],
        tbs_sha256: found.tbs_sha256,
        sct_count: 2,
      })
      await api('PATCH', '/v1/certificate-settings', { ignore: ['b.example.test'] })
      await until('the end', async () => (await api('GET', `/v1/certificate-gaps/${gap.id}`)).status === 'resolved')
    } finally {
      await server.close()
    }
  } finally {
    certspotter.kill()
    await certspotter.exited
  }
})

const [, hook] = /```sh\n(#!\/bin\/sh\n[^`]+)```/.exec(readFileSync('src/docs/certificate-transparency.md', 'utf8'))!

/** Starts certspotter as its user would, with the hook of the handbook. */
function startCertspotter(logs: string) {
  const home = join(here.folder, 'home')
  const at = (name: string) => join(home, '.certspotter', name)
  mkdirSync(at('hooks.d'), { recursive: true })
  writeFileSync(at('watchlist'), '.example.test\n')
  writeFileSync(at('hooks.d/bailiwick'), hook!)
  chmodSync(at('hooks.d/bailiwick'), 0o755)
  writeFileSync(join(home, 'logs.json'), logs)
  return Bun.spawn(['certspotter', '-logs', join(home, 'logs.json'), '-verbose'], {
    env: { PATH: '/usr/bin:/bin', HOME: home, HUB: hub.url, TOKEN: token },
    stdout: 'ignore',
    stderr: 'inherit',
  })
}
