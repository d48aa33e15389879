import { afterAll, beforeAll, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { call, fullToken, installation, program, startHub, type HubProcess, type Installation } from '../support/binary'
import { freePort } from '../support/free-port'
import { startServer } from '../support/server-process'

// Runs the commands and files of the guides in the handbook with a compiled hub. Only addresses and paths are replaced.
let here: Installation
let hub: HubProcess
let token: string

beforeAll(async () => {
  here = await installation()
  hub = await startHub(here, { env: { BAILIWICK_TRUSTED_PROXIES: '127.0.0.1' } })
  token = await fullToken(here)
})
afterAll(async () => {
  await hub?.stop()
  await here?.[Symbol.asyncDispose]()
})

const get = async (path: string) => (await call(hub, token, 'GET', path)).body

/** The code blocks of a section of a page. */
function blocks(page: string, heading: string): string[] {
  const [, section] = new RegExp(`^## ${heading}\\n([\\s\\S]*?)(?=^## |(?![\\s\\S]))`, 'm').exec(
    readFileSync(`src/docs/${page}.md`, 'utf8'),
  )!
  return [...section!.matchAll(/^```\w+\n([\s\S]*?)^```$/gm)].map(match => match[1]!)
}

/** Runs commands of a guide. @returns the output */
async function run(script: string, folder: string, env: Record<string, string> = {}): Promise<string> {
  const replaced = script.replaceAll('192.168.1.10 -p 5300', `127.0.0.1 -p ${hub.dnsPort}`)
  const path = [join(folder, 'bin'), process.env.PATH].join(':')
  const started = Bun.spawn(['bash', '-euo', 'pipefail', '-c', replaced], {
    env: { ...here.env, PATH: path, no_proxy: '*', HUB: hub.url, TOKEN: token, ...env },
    cwd: folder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 120_000,
  })
  const [out, err, code] = await Promise.all([
    new Response(started.stdout).text(),
    new Response(started.stderr).text(),
    started.exited,
  ])
  expect({ script, code, err }).toEqual({ script, code: 0, err: '' })
  return out
}

function newFolder(name: string): string {
  const folder = join(here.folder, name)
  mkdirSync(join(folder, 'bin'), { recursive: true })
  return folder
}

// Rows of the table `monitor` of Uptime Kuma, with the columns that have no default.
const row = (id: number, type: string, more: object) => ({
  ...{ id, type, name: `${type} ${id}`, active: 1, interval: 60, retry_interval: 0, maxretries: 2, timeout: 48, parent: null },
  ...{ maxredirects: 10, accepted_statuscodes_json: '["200-299"]', ignore_tls: 0, upside_down: 0, tag_names: '[]', ...more },
})
const kuma = [
  row(1, 'group', {}),
  row(2, 'http', {
    ...{
      url: 'https://shop.example.invalid/',
      parent: 1,
      tag_names: '["prod"]',
      headers: '{"X-Key": "changeme-1", "Accept": "text/html"}',
    },
    ...{ auth_method: 'basic', basic_auth_user: 'ada', basic_auth_pass: 'changeme-2', retry_interval: 30 },
  }),
  row(3, 'keyword', {
    url: 'http://example.invalid/',
    keyword: 'Welcome',
    invert_keyword: 0,
    ignore_tls: 1,
    parent: 1,
    timeout: 0,
  }),
  row(4, 'json-query', {
    url: 'http://example.invalid/',
    json_path: '$.status',
    expected_value: 'ok',
    body: '{}',
    method: 'POST',
  }),
  row(5, 'port', { hostname: 'db.example.invalid', port: 5432, active: 0 }),
  row(6, 'ping', { hostname: '192.0.2.1', interval: 20, maxretries: 30 }),
  row(7, 'dns', { hostname: 'example.com', port: 53, dns_resolve_type: 'MX', dns_resolve_server: '192.0.2.53' }),
  row(8, 'push', { name: 'Nightly backup', interval: 86_400 }),
  row(9, 'docker', { docker_container: 'web' }),
  row(10, 'websocket-upgrade', { url: 'wss://example.invalid/feed' }),
]

test('monitors of Uptime Kuma are imported, and push monitors become heartbeats', async () => {
  const folder = newFolder('kuma')
  const [filter, convert, skipped] = blocks('uptime-kuma', 'Convert them')
  const [preview, load, pause] = blocks('uptime-kuma', 'Import them')
  writeFileSync(join(folder, 'kuma.json'), JSON.stringify(kuma))
  writeFileSync(join(folder, 'kuma.jq'), filter!)
  await run(convert!, folder)
  expect(await run(skipped!, folder)).toBe('docker 9 (docker)\n')
  for (const [script, created] of [
    [preview, 8],
    [load, 8],
    [load, 0],
  ] as const)
    expect(JSON.parse(await run(script!, folder))).toMatchObject({ created, updated: 0, errors: null })
  expect(await run(pause!, folder)).toBe('paused port 5\n')

  const { data } = await get('/v1/monitors?sort=name')
  const found = new Map<string, any>(data.map((monitor: any) => [monitor.key, monitor]))
  expect(found.get('kuma-2')).toMatchObject({
    ...{ type: 'http', tags: ['prod'], confirm: 3, interval_seconds: 60, retry_interval_seconds: 30, timeout_seconds: 48 },
    options: { headers: { Accept: 'text/html' }, auth: { username: 'ada' }, max_redirects: 10 },
    secrets_set: ['secret_headers/X-Key', 'auth/password'],
  })
  expect(found.get('kuma-3')).toMatchObject({ down_if: ['not [BODY] == pat(*Welcome*)'], options: { verify_tls: false } })
  expect(found.get('kuma-4')).toMatchObject({ down_if: ['not [BODY].status == ok'], options: { method: 'POST', body: '{}' } })
  expect(found.get('kuma-5')).toMatchObject({ type: 'tcp', target: 'db.example.invalid:5432', status: 'paused' })
  expect(found.get('kuma-6')).toMatchObject({ type: 'icmp', confirm: 20, interval_seconds: 20, timeout_seconds: 20 })
  expect(found.get('kuma-7')).toMatchObject({ type: 'dns', options: { record_type: 'MX', resolver: '192.0.2.53:53' } })
  expect(found.get('kuma-10')).toMatchObject({ type: 'websocket' })
  const members = ['kuma-2', 'kuma-3'].map(key => found.get(key).id)
  expect(found.get('kuma-1')).toMatchObject({ type: 'group', options: { members, rule: 'any' } })

  const [push] = blocks('uptime-kuma', 'Replace push monitors')
  const [, name, url] = /^(.+): (\S+)\n$/.exec(await run(push!, folder))!
  expect(name).toBe('Nightly backup')
  expect((await fetch(`${url}?status=up&msg=OK&ping=12`)).status).toBe(200)
  const { data: heartbeats } = await get('/v1/heartbeats')
  expect(heartbeats).toMatchObject([
    { name, status: 'up', schedule: { kind: 'period', period_seconds: 86_400, grace_seconds: 3_600 } },
  ])
}, 180_000)

test('the hook for ACME clients adds and deletes records, with a token for one zone', async () => {
  const folder = newFolder('acme')
  const zone = (await call(hub, token, 'POST', '/v1/dns/zones', { name: 'acme.example' })).body
  await run(blocks('acme', 'Create a token')[0]!.replace('example.com', 'acme.example'), folder)
  const [hook, trial] = blocks('acme', 'Install the script')
  const path = join(folder, 'bin', 'bailiwick-acme')
  writeFileSync(path, hook!)
  chmodSync(path, 0o755)
  const env = { BAILIWICK_ACME_ENV: join(folder, 'bailiwick-acme.env'), BAILIWICK_WAIT: '0' }
  const script = trial!
    .replaceAll('sudo ', '')
    .replaceAll('example.com', 'acme.example')
    .replace('dig ', `dig @127.0.0.1 -p ${hub.dnsPort} `)
  expect(await run(script, folder, env)).toBe('"test"\n')
  const txt = async () => (await get(`/v1/dns/zones/${zone.id}/records?type=TXT`)).data.map((one: any) => [one.name, one.value])
  expect(await txt()).toEqual([])
  // certbot calls it without arguments, once for the domain and once for its wildcard.
  const certbot = (action: string, value: string) =>
    run(`bailiwick-acme ${action}`, folder, { ...env, CERTBOT_DOMAIN: 'acme.example', CERTBOT_VALIDATION: value })
  await certbot('present', 'first')
  await certbot('present', 'second')
  await certbot('cleanup', 'first')
  expect(await txt()).toEqual([['_acme-challenge', 'second']])
  // lego adds a trailing dot to the name.
  await run('bailiwick-acme present _acme-challenge.www.acme.example. third', folder, env)
  expect(await txt()).toContainEqual(['_acme-challenge.www', 'third'])
}, 180_000)

test('the zones of a LAN are served', async () => {
  const folder = newFolder('lan')
  const [create, query] = blocks('lan-dns', 'Create the zones')
  await run(create!, folder)
  expect(await run(query!, folder)).toBe('nas.home.arpa.\n192.168.1.20\nnas.home.arpa.\n')
}, 180_000)

test('behind nginx, the hub sees the address of the client, and events are not buffered', async () => {
  const folder = newFolder('nginx')
  await run(
    'openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem -out cert.pem -days 2 -subj /CN=hub.example.com 2>/dev/null',
    folder,
  )
  const [config] = blocks('reverse-proxy', 'nginx')
  const nginx = await startServer(1, (own, [port]) => ({
    command: ['nginx', '-c', join(own, 'nginx.conf'), '-g', 'daemon off;'],
    files: {
      'nginx.conf': `pid ${own}/pid; error_log ${own}/error.log; events {}
http { access_log off; client_body_temp_path ${own}/body; proxy_temp_path ${own}/proxy; fastcgi_temp_path ${own}/fastcgi;
uwsgi_temp_path ${own}/uwsgi; scgi_temp_path ${own}/scgi;
${config!
  .replace('listen 443', `listen 127.0.0.1:${port}`)
  .replace(/^.*\[::\]:443.*$/m, '')
  .replace(/\S+fullchain\.pem/, join(folder, 'cert.pem'))
  .replace(/\S+privkey\.pem/, join(folder, 'key.pem'))
  .replace('http://127.0.0.1:8484', hub.url)} }`,
    },
  }))
  try {
    const base = `https://127.0.0.1:${nginx.ports[0]}`
    const stream = await fetch(`${base}/v1/stream`, {
      headers: { authorization: `Bearer ${token}` },
      tls: { rejectUnauthorized: false },
      signal: AbortSignal.timeout(10_000),
    })
    const reader = stream.body!.getReader()
    let events = ''
    while (!events.includes('event: hello')) events += new TextDecoder().decode((await reader.read()).value)
    await reader.cancel()
    const curl = `curl -fsS -k --interface 127.0.0.5 -H 'Authorization: Bearer ${token}' ${base}/v1/tokens`
    await run(`${curl} -o /dev/null`, folder)
    const { data } = JSON.parse(await run(curl, folder))
    expect(data.find((one: any) => one.name === 'test').last_used_ip).toBe('127.0.0.5')
  } finally {
    await nginx.stop()
  }
}, 180_000)

test('the commands of the first page work', async () => {
  const folder = newFolder('started')
  const section = (heading: string) => blocks('getting-started', heading)
  const [, helper] = section('Create a token')
  const [single, yaml, load] = section('Create monitors')
  const [createHeartbeat] = section('Monitor a scheduled job')
  const [serve] = section('Serve a zone')
  const [receive] = section('Receive webhooks')
  writeFileSync(join(folder, 'monitors.yaml'), yaml!)
  writeFileSync(join(folder, 'receiver.py'), blocks('webhook-receivers', 'Python')[0]!)
  const port = await freePort()
  const script = [
    helper,
    // Doesn’t check the example domains.
    single!.replace('example.com', 'example.invalid'),
    load!.replace('monitoring/import', '"monitoring/import?dry_run=true"'),
    createHeartbeat,
    serve!.replace('5300', String(hub.dnsPort)),
    receive!
      .replace('127.0.0.1:3000', `127.0.0.1:${port}`)
      .replace('python3 receiver.py', `PORT=${port} python3 receiver.py 2>&1`)
      .replace('sleep 2', `until (exec 3<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null; do sleep 0.1; done`),
    'kill %1',
  ]
  const out = await run(script.join('\n'), folder)
  for (const part of [
    '"mode": "full"',
    '"type": "http"',
    '"created": 10,\n  "updated": 0,\n  "errors": null',
    `${hub.url}/ping/`,
    '"fqdn": "www.example.com"',
    '\n192.0.2.10\n',
    'Test message: monitor.alert msg_',
    '"status": "delivered",\n  "attempt_count": 1',
  ])
    expect(out).toContain(part)
}, 180_000)

test.each([
  ['systemd', 'Install', ['bailiwick.service']],
  ['systemd', 'Back up every night', ['bailiwick-backup.service', 'bailiwick-backup.timer']],
  ['ping-examples', 'systemd', ['backup.service', 'backup.timer']],
  ['getting-started', 'Monitor a scheduled job', ['backup.service', 'backup.timer']],
])('systemd accepts the units on the page %s, “%s”', async (page, heading, names) => {
  const folder = newFolder(`${page} ${heading}`)
  const units = blocks(page, heading).filter(text => text.includes('\n[Unit]\n') || text.startsWith('[Unit]\n'))
  expect(units).toHaveLength(names.length)
  for (const [at, name] of names.entries()) {
    expect(units[at]).toMatch(new RegExp(`^(?:# /etc/systemd/system/${name}\\n)?\\[Unit\\]`))
    const programs = units[at]!.replaceAll('/usr/local/bin/bailiwick', program('bailiwick')).replace(
      '/usr/local/bin/backup',
      '/bin/true',
    )
    writeFileSync(join(folder, name), programs)
  }
  expect(await run(`systemd-analyze verify --man=no ${names.join(' ')} 2>&1`, folder)).toBe('')
})
