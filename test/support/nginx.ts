import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from './free-port'

/** A local nginx that responds to `/` with 200, on a loopback port that stays the same across restarts. */
export interface Nginx extends AsyncDisposable {
  url: string
  port: number
  start(): Promise<void>
  stop(): Promise<void>
  /** Installs a certificate and reloads: from then on, the port only speaks TLS. */
  install(certificate: { chain: string; key: string }): Promise<void>
}

/** Starts nginx. @throws Error if it does not start */
export async function startNginx(): Promise<Nginx> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-nginx-'))
  const port = await freePort()
  const url = `http://127.0.0.1:${port}/`
  const file = join(folder, 'nginx.conf')
  writeFileSync(file, configuration(folder, `127.0.0.1:${port}`))
  let run: ReturnType<typeof Bun.spawn> | null = null
  const start = async () => {
    run = Bun.spawn(['/usr/sbin/nginx', '-c', file, '-e', join(folder, 'error.log')], { stdout: 'ignore', stderr: 'ignore' })
    for (let at = 0; at < 200; at++) {
      if (await answers(url)) return
      if (run.exitCode !== null) break
      await Bun.sleep(50)
    }
    throw new Error('nginx did not start.')
  }
  const stop = async () => {
    // A fast shutdown, which closes open connections.
    run?.kill('SIGTERM')
    await run?.exited
    run = null
  }
  await start()
  const install = async ({ chain, key }: { chain: string; key: string }) => {
    writeFileSync(join(folder, 'chain.pem'), chain)
    writeFileSync(join(folder, 'key.pem'), key, { mode: 0o600 })
    const tls = `ssl; ssl_certificate ${folder}/chain.pem; ssl_certificate_key ${folder}/key.pem`
    writeFileSync(file, configuration(folder, `127.0.0.1:${port} ${tls}`))
    run!.kill('SIGHUP')
    const isLoaded = () => answers(url.replace('http:', 'https:'), { tls: { rejectUnauthorized: false } })
    for (let at = 0; !(await isLoaded()); at++) {
      if (at === 200) throw new Error('nginx did not load the certificate.')
      await Bun.sleep(50)
    }
  }
  return {
    url,
    port,
    start,
    stop,
    install,
    async [Symbol.asyncDispose]() {
      await stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

const configuration = (folder: string, listen: string): string => `
daemon off;
worker_processes 1;
pid ${folder}/pid;
events {}
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
  server {
    listen ${listen};
    location / { return 200 "ok\\n"; }
  }
}
`

async function answers(url: string, options: BunFetchRequestInit = {}): Promise<boolean> {
  try {
    return (await fetch(url, options)).status === 200
  } catch {
    return false
  }
}
