import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port'
import { ownCertificate } from './own-certificate'

const dayMs = 86_400_000

/** Pebble, the test authority of Let’s Encrypt. */
export interface Pebble extends AsyncDisposable {
  directoryUrl: string
  /** PEM of the certificate to trust for its API. */
  ca: string
  /** PEM of the root of the certificates that it issues. */
  root(): Promise<string>
}

interface Options {
  /** Where it looks up the records. */
  dnsPort: number
  /** Keys of external accounts in base64url, by their ID. Accounts need one if there are any. */
  externalAccounts?: Record<string, string>
  /** How many of a hundred nonces it rejects. */
  rejectedNonces?: number
}

/** Starts one on a free port. */
export async function startPebble({ dnsPort, externalAccounts = {}, rejectedNonces = 0 }: Options): Promise<Pebble> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-pebble-'))
  const at = (file: string) => join(folder, file)
  const port = await freePort()
  const managementPort = await freePort()
  const lifetime = { from: Date.now() - dayMs, until: Date.now() + 30 * dayMs }
  const own = ownCertificate({ names: ['localhost'], isOwnIssuer: true, ...lifetime })
  writeFileSync(at('cert.pem'), own.pem)
  writeFileSync(at('key.pem'), own.key)
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: at('cert.pem'),
    privateKey: at('key.pem'),
    ...{ httpPort: 5002, tlsPort: 5001, ocspResponderURL: '' },
    externalAccountBindingRequired: Object.keys(externalAccounts).length > 0,
    externalAccountMACKeys: externalAccounts,
  }
  writeFileSync(at('config.json'), JSON.stringify({ pebble }))
  const run = Bun.spawn(['pebble', '-config', at('config.json'), '-strict', '-dnsserver', `127.0.0.1:${dnsPort}`], {
    env: { PATH: '/usr/bin:/bin', PEBBLE_VA_NOSLEEP: '1', PEBBLE_WFE_NONCEREJECT: String(rejectedNonces) },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const output = Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  const stop = async () => {
    run.kill('SIGKILL')
    await run.exited
    rmSync(folder, { recursive: true, force: true })
  }
  const root = async () => {
    const answer = await fetch(`https://localhost:${managementPort}/roots/0`, { tls: { ca: own.pem } })
    return await answer.text()
  }
  const directoryUrl = `https://localhost:${port}/dir`
  for (let tries = 0; tries < 600 && run.exitCode === null; tries++) {
    const answer = await fetch(directoryUrl, { tls: { ca: own.pem } }).catch(() => null)
    if (answer?.ok) return { directoryUrl, ca: own.pem, root, [Symbol.asyncDispose]: stop }
    await Bun.sleep(50)
  }
  await stop()
  throw new Error(`Pebble did not start: ${(await output).join('\n')}`)
}
