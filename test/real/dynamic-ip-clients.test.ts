import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newIngestToken } from '../../src/access/token-format'
import { call, fullToken, installation, startHub, until, type CommandResult } from '../support/binary'
import { freePort } from '../support/free-port'

// Runs the clients of Debian with the configuration that the hub prints, through a proxy that gives them public addresses.

interface Config {
  client: string
  files: { name: string; content: string }[]
}
interface Source {
  id: string
  secret: string
  configs: Map<string, Config>
}

/** A hub behind a proxy, which gives each client a public address and can be unavailable. */
interface Scene extends AsyncDisposable {
  folder: string
  env: Record<string, string>
  dnsPort: number
  /** The addresses of the client, by the family of its connection. */
  addresses: { ipv4: string; ipv6: string }
  /** What the proxy responds with to reports instead of the hub; null if it works. */
  outage: number | null
  api(method: string, path: string, body?: unknown): Promise<any>
}

async function openScene(host: string): Promise<Scene> {
  const here = await installation()
  const [port, own] = [await freePort(), await freePort()]
  const hub = await startHub(here, {
    args: ['--listen', `127.0.0.1:${own}`],
    env: { BAILIWICK_TRUSTED_PROXIES: '127.0.0.1', BAILIWICK_BASE_URL: `http://${host}:${port}` },
  })
  const url = `http://127.0.0.1:${own}`
  const token = await fullToken(here)
  const open = (hostname: string, family: 'ipv4' | 'ipv6') =>
    Bun.serve({
      hostname,
      port,
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        if (scene.outage !== null && pathname === '/nic/update') return new Response('911\n', { status: scene.outage })
        const headers = new Headers(request.headers)
        headers.set('x-forwarded-for', scene.addresses[family])
        return await fetch(`${url}${pathname}${search}`, { headers })
      },
    })
  const proxies = [open('127.0.0.1', 'ipv4'), open('::1', 'ipv6')]
  const scene: Scene = {
    folder: here.folder,
    env: here.env,
    dnsPort: hub.dnsPort,
    addresses: { ipv4: '203.0.113.7', ipv6: '2001:db8::7' },
    outage: null,
    api: async (method, path, body) => (await call({ ...hub, url }, token, method, `/v1${path}`, body)).body,
    async [Symbol.asyncDispose]() {
      for (const one of proxies) void one.stop(true)
      await hub.stop()
      await here[Symbol.asyncDispose]()
    },
  }
  await scene.api('POST', '/dns/zones', { name: 'example.test' })
  return scene
}

let scene: Scene
let ddclientScene: Scene
beforeAll(async () => {
  scene = await openScene('localhost')
  // ddclient only accepts names with a dot, and addresses.
  ddclientScene = await openScene('127.0.0.1')
})
afterAll(async () => {
  await scene?.[Symbol.asyncDispose]()
  await ddclientScene?.[Symbol.asyncDispose]()
})

let count = 0
async function createSource({ api }: Scene, hosts: string[], more: object = {}): Promise<Source> {
  const { id, secret } = await api('POST', '/dynamic-ips', {
    name: `Router ${++count}`,
    hosts: hosts.map(name => ({ name })),
    ...more,
  })
  const { data } = await api('GET', `/dynamic-ips/${id}/client-configs`)
  return { id, secret, configs: new Map<string, Config>(data.map((one: Config) => [one.client, one])) }
}

/** Saves the files of a configuration, with the token, in a folder of their own. The paths are relative to it. */
function save(
  { folder }: Scene,
  { configs, secret }: Source,
  client: string,
  token = secret,
): { folder: string; files: string[] } {
  const own = join(folder, `client-${++count}`)
  mkdirSync(own)
  const files = configs.get(client)!.files.map(({ name, content }) => {
    const path = join(own, name.split('/').at(-1)!)
    writeFileSync(path, content.replaceAll('{{TOKEN}}', token), { mode: 0o600 })
    return path
  })
  return { folder: own, files }
}

async function run({ env }: Scene, command: string[], more: Record<string, string> = {}): Promise<CommandResult> {
  const started = Bun.spawn(command, {
    env: { ...env, ...more },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 120_000,
  })
  const [out, err] = await Promise.all([new Response(started.stdout).text(), new Response(started.stderr).text()])
  return { code: await started.exited, out, err }
}

/** The addresses of a name at the built-in name server. */
async function dig(scene: Scene, name: string): Promise<string[]> {
  const ask = (type: string) => run(scene, ['dig', '@127.0.0.1', '-p', String(scene.dnsPort), '+short', name, type])
  const answers = await Promise.all([ask('A'), ask('AAAA')])
  return answers.flatMap(({ out }) => out.split('\n').filter(line => line !== ''))
}

const serialOf = async ({ api }: Scene): Promise<number> => (await api('GET', '/dns/zones')).data[0].serial

describe('ddclient', () => {
  /** Reports once, without a cache. */
  const ddclient = async ({ folder, files }: { folder: string; files: string[] }) => {
    const cache = join(folder, `cache-${++count}`)
    const options = ['-daemon=0', '-foreground', '-verbose', '-file', files[0]!, '-cache', cache, '-pid', join(folder, 'pid')]
    const { out, err } = await run(ddclientScene, ['ddclient', ...options])
    return {
      report: [...out.matchAll(/^RECEIVE: {2}(good|nochg|nohost|badauth|dnserr|911)/gm)].map(one => one[1]),
      failed: err.includes('FAILED'),
      out,
    }
  }

  test('reports IPv4 and IPv6, and changes nothing the second time', async () => {
    const source = await createSource(ddclientScene, ['dd.example.test', 'dd2.example.test'])
    const saved = save(ddclientScene, source, 'ddclient3')
    expect(await ddclient(saved)).toMatchObject({ report: ['good', 'good'], failed: false })
    expect(await dig(ddclientScene, 'dd2.example.test')).toEqual(['203.0.113.7'])
    const serial = await serialOf(ddclientScene)
    expect(await ddclient(saved)).toMatchObject({ report: ['nochg', 'nochg'], failed: false })
    expect(await serialOf(ddclientScene)).toBe(serial)
    ddclientScene.addresses.ipv4 = '2001:db8::9'
    expect(await ddclient(saved)).toMatchObject({ report: ['good', 'good'], failed: false })
    ddclientScene.addresses.ipv4 = '203.0.113.7'
    expect(await dig(ddclientScene, 'dd.example.test')).toEqual(['203.0.113.7', '2001:db8::9'])
    const { last_client } = await ddclientScene.api('GET', `/dynamic-ips/${source.id}`)
    expect(last_client).toMatchObject({ client: 'ddclient', protocol: 'dyndns2', auth_method: 'basic' })
  })

  test('fails with a wrong token and with an unknown host, and tries again after an outage', async () => {
    const source = await createSource(ddclientScene, ['ddf.example.test'])
    expect(await ddclient(save(ddclientScene, source, 'ddclient3', newIngestToken('ddns')))).toMatchObject({ failed: true })
    const saved = save(ddclientScene, source, 'ddclient3')
    ddclientScene.outage = 503
    const { report, out } = await ddclient(saved)
    expect([report, out.includes('SUCCESS')]).toEqual([['911'], false])
    ddclientScene.outage = null
    expect(await ddclient(saved)).toMatchObject({ report: ['good'], failed: false })
    await ddclientScene.api('PATCH', `/dynamic-ips/${source.id}`, { hosts: [{ name: 'other.example.test' }] })
    expect(await ddclient(saved)).toMatchObject({ report: ['nohost'], failed: true })
  })
})

describe('Inadyn', () => {
  const inadyn = ({ folder, files }: { folder: string; files: string[] }, ...more: string[]) => [
    'inadyn',
    '-n',
    '--force',
    `--cache-dir=${folder}`,
    `--pidfile=${folder}/pid`,
    '-l',
    'debug',
    '-f',
    files[0]!,
    ...more,
  ]

  test.each([
    ['IPv4', ['ipv4'], ['203.0.113.7']],
    ['IPv6', ['ipv6'], ['2001:db8::7']],
    ['both', ['ipv4', 'ipv6'], ['203.0.113.7', '2001:db8::7']],
  ])('reports %s, and changes nothing the second time', async (_, families, expected) => {
    const source = await createSource(
      scene,
      [`ina-${families.length}-${families[0]}.example.test`, `ina${++count}.example.test`],
      { families },
    )
    const saved = save(scene, source, 'inadyn')
    expect((await run(scene, ['inadyn', '--check-config', '-f', saved.files[0]!])).code).toBe(0)
    expect((await run(scene, inadyn(saved, '--once'))).code).toBe(0)
    expect(await dig(scene, `ina-${families.length}-${families[0]}.example.test`)).toEqual(expected)
    const serial = await serialOf(scene)
    const again = await run(scene, inadyn(save(scene, source, 'inadyn'), '--once'))
    expect([again.code, again.err]).toEqual([0, expect.stringContaining('\nnochg ')])
    expect(await serialOf(scene)).toBe(serial)
  })

  test('exits with a wrong token and with an unknown host, and survives an outage', async () => {
    const source = await createSource(scene, ['inaf.example.test'], { families: ['ipv4'] })
    expect((await run(scene, inadyn(save(scene, source, 'inadyn', newIngestToken('ddns'))))).code).toBe(50)
    scene.outage = 503
    const client = Bun.spawn(inadyn(save(scene, source, 'inadyn')), { env: scene.env, stdout: 'ignore', stderr: 'pipe' })
    let log = ''
    const logged = (async () => {
      for await (const part of client.stderr) log += new TextDecoder().decode(part)
    })()
    await until('the failed report', async () => log.includes('Will retry again in'))
    scene.outage = null
    client.kill('SIGUSR1')
    await until('the report after the outage', async () => log.includes('Successful alias table update'))
    expect(client.exitCode).toBeNull()
    client.kill()
    await client.exited
    await logged
    expect(await dig(scene, 'inaf.example.test')).toEqual(['203.0.113.7'])
    const saved = save(scene, source, 'inadyn')
    await scene.api('PATCH', `/dynamic-ips/${source.id}`, { hosts: [{ name: 'inag.example.test' }] })
    expect((await run(scene, inadyn(saved))).code).toBe(48)
  })
})

describe('curl', () => {
  test('with cron: each line reports one family', async () => {
    const source = await createSource(scene, ['cron.example.test'])
    const { files } = save(scene, source, 'curl-cron')
    const lines = (await Bun.file(files[1]!).text()).trim().split('\n')
    for (const line of lines) {
      const [, command] = /^\*\/5 \* \* \* \* root (.+)$/.exec(line)!
      const { code, err } = await run(scene, ['sh', '-c', command!.replace('/etc/bailiwick-ddns.curl', files[0]!)])
      expect([code, err]).toEqual([0, ''])
    }
    expect(await dig(scene, 'cron.example.test')).toEqual(['203.0.113.7', '2001:db8::7'])
    const wrong = save(scene, source, 'curl-cron', newIngestToken('ddns'))
    const refused = await run(scene, ['curl', '--ipv4', '--config', wrong.files[0]!])
    expect([refused.code, refused.err]).toEqual([22, expect.stringContaining('401')])
  })

  test('with a systemd timer: the units are valid, and their commands report both families', async () => {
    const source = await createSource(scene, ['timer.example.test'])
    const { folder, files } = save(scene, source, 'curl-systemd')
    const [options, service, timer] = files
    const verified = await run(scene, ['systemd-analyze', 'verify', '--man=no', service!, timer!])
    expect([verified.out, verified.err]).toEqual(['', ''])
    renameSync(options!, join(folder, 'curl'))
    const commands = [...(await Bun.file(service!).text()).matchAll(/^ExecStart=-(.+)$/gm)].map(one => one[1]!)
    for (const command of commands) {
      const { code, out } = await run(scene, ['sh', '-c', command], { CREDENTIALS_DIRECTORY: folder })
      expect([code, out]).toEqual([0, expect.stringMatching(/^good /)])
    }
    expect(await dig(scene, 'timer.example.test')).toEqual(['203.0.113.7', '2001:db8::7'])
  })
})
