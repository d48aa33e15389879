import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { X509Certificate } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { call, fullToken, installation, startHub, until, type Installation } from '../support/binary'
import { hetznerOrder } from '../support/clouds/fleet'
import { HetznerCloudDouble } from '../support/clouds/hetzner-cloud'
import { IncusDouble } from '../support/clouds/incus-double'
import { contactInput } from '../support/contacts'
import { rowsOf } from '../support/database'
import { receiver, stopReceivers } from '../support/receiver'
import { ed25519KeyPair } from '../support/ssh-server'

const password = 'planted correct horse battery'
const phone = '4915198765432'
const marker = 'planted marker that is not secret'
const schedule = { kind: 'period', period_seconds: 3600, grace_seconds: 60 }

afterAll(stopReceivers)

test('no secret is stored in plain text in the database, its WAL, a copy, a backup, or the log of the hub', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const token = await fullToken(here)
  const seen = receiver()
  const created = await here.run(
    ['user', 'create', '--email', 'ada@example.com', '--name', 'Ada', '--role', 'owner', '--operator'],
    {
      input: `${password}\n`,
    },
  )
  expect({ code: created.code, err: created.err }).toEqual({ code: 0, err: '' })

  const planted: Record<string, string> = { token, password }
  const signedIn = await fetch(`${hub.url}/v1/sessions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'ada@example.com', password }),
  })
  expect(signedIn.status).toBe(201)
  planted['session cookie'] = /^[^=]+=([^;]+)/.exec(signedIn.headers.get('set-cookie')!)![1]!
  // Sends idempotency keys, so that responses are stored for retries.
  const post = async (path: string, body: object, key = `key-of-${path}`) => {
    const response = await fetch(`${hub.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': key },
      body: JSON.stringify(body),
    })
    expect([path, response.status]).toEqual([path, 201])
    return (await response.json()) as any
  }
  planted['second token'] = (await post('/v1/tokens', { name: 'second', mode: 'read_only' })).token
  const beat = await post('/v1/heartbeats', { name: 'beat', description: marker, schedule })
  planted['heartbeat UUID'] = beat.uuid
  planted['rotated heartbeat UUID'] = (await call(hub, token, 'POST', `/v1/heartbeats/${beat.id}/rotate`)).body.uuid
  planted['ping key'] = (await call(hub, token, 'GET', '/v1/heartbeats/ping-key')).body.ping_key
  planted['rotated ping key'] = (await call(hub, token, 'POST', '/v1/heartbeats/ping-key/rotate')).body.ping_key
  const source = await post('/v1/dynamic-ips', { name: 'source' })
  planted['dynamic IP token'] = source.secret
  planted['rotated dynamic IP token'] = (
    await call(hub, token, 'POST', `/v1/dynamic-ips/${source.id}/rotate-token`, {})
  ).body.secret
  const own = `whsec_${Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')}`
  planted['value of a custom header'] = 'Bearer planted-value-of-a-header'
  const headers = { Authorization: planted['value of a custom header'] }
  const endpoint = await post('/v1/webhook-endpoints', { url: seen.url, events: ['monitor.alert'], headers })
  planted['webhook secret'] = endpoint.secret
  const next = await call(hub, token, 'POST', `/v1/webhook-endpoints/${endpoint.id}/secret/rotate`, {})
  planted['next webhook secret'] = next.body.secret
  planted['code of an invitation'] = (await post('/v1/invitations', { email: 'grace@example.com', role: 'member' })).code
  planted['webhook secret of a customer'] = own
  const log = receiver()
  const stream = await post('/v1/audit-streams', { name: 'stream', url: log.url, from: 'beginning' })
  planted['secret of an audit stream'] = stream.secret
  const rotated = await call(hub, token, 'POST', `/v1/audit-streams/${stream.id}/secret/rotate`, {})
  planted['rotated secret of an audit stream'] = rotated.body.secret
  expect(
    (await call(hub, token, 'POST', '/v1/webhook-endpoints', { url: seen.url, events: ['monitor.alert'], secret: own })).status,
  ).toBe(201)
  // A private key that was sent by mistake is refused.
  const { private: mistaken } = ed25519KeyPair()
  planted['a private SSH key'] = mistaken.split('\n')[2]!
  const refused = await fetch(`${hub.url}/v1/ssh-keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': 'key-of-mistake' },
    body: JSON.stringify({ name: 'mistake', public_key: mistaken }),
  })
  const problem = await refused.text()
  expect([refused.status, problem.includes('is a private key'), problem.includes(planted['a private SSH key'])]).toEqual([
    422,
    true,
    false,
  ])
  planted['password of a BMC'] = 'planted-password-of-a-bmc'
  planted['private key of a controller'] = ed25519KeyPair().private
  const rack = await post('/v1/servers', { name: 'rack' })
  for (const [kind, settings] of Object.entries({
    redfish: { url: seen.url, user: 'bailiwick', password: planted['password of a BMC'] },
    ipmi: { host: '127.0.0.1', port: 9, user: 'bailiwick', password: planted['password of a BMC'].slice(0, 20) },
    ssh: { host: '127.0.0.1', port: 9, user: 'bailiwick', private_key: planted['private key of a controller'] },
  }))
    expect((await call(hub, token, 'PUT', `/v1/servers/${rack.id}/controllers/${kind}`, { settings })).status).toBe(200)
  planted['password of IPMI'] = planted['password of a BMC'].slice(0, 20)
  planted['private key of a controller'] = planted['private key of a controller'].split('\n')[2]!
  planted['API token of a cloud'] = `planted-token-of-a-cloud-${'x'.repeat(39)}`
  planted['secret of a Proxmox token'] = crypto.randomUUID()
  planted['user data'] = 'planted-password-in-user-data'
  await using cloud = await cloudDouble(planted['API token of a cloud'])
  const proxmox = { url: 'https://127.0.0.1:9', token_id: 'hub@pve!hub', token_secret: planted['secret of a Proxmox token'] }
  await post('/v1/cloud-accounts', {
    kind: 'proxmox',
    name: 'own',
    settings: proxmox,
    import: { mode: 'none', label_selector: null },
  })
  const hetzner = { base_url: cloud.double.url, api_token: planted['API token of a cloud'] }
  const account = await call(hub, token, 'POST', '/v1/cloud-accounts', { kind: 'hetzner', name: 'rented', settings: hetzner })
  // One is joined with a trust token, which the server repeats in its error, and the other one has a client certificate.
  const fixture = (name: string) => readFileSync(`test/fixtures/tls/${name}`, 'utf8')
  await using incus = await incusDouble({ cert: fixture('loopback.pem'), key: fixture('loopback.key') })
  planted['secret of a trust token'] = `planted-secret-of-a-trust-token-${'y'.repeat(32)}`
  const trust_token = Buffer.from(
    JSON.stringify({
      ...{ client_name: 'bailiwick', secret: planted['secret of a trust token'], expires_at: '0001-01-01T00:00:00Z' },
      fingerprint: new X509Certificate(fixture('loopback.pem')).fingerprint256.replaceAll(':', '').toLowerCase(),
      addresses: [new URL(incus.double.base).host],
    }),
  ).toString('base64')
  planted['trust token'] = trust_token
  const client = { client_certificate: fixture('client.pem'), client_key: fixture('client.key') }
  planted['client key'] = client.client_key.split('\n')[1]!
  const incusAccounts: string[] = []
  for (const [name, settings] of Object.entries({
    joined: { trust_token },
    certified: { url: 'https://127.0.0.1:9', ...client },
  }))
    incusAccounts.push((await post('/v1/cloud-accounts', { kind: 'incus', name, settings }, `key-of-${name}`)).id)
  const tried = await call(hub, token, 'POST', '/v1/cloud-checks', { kind: 'incus', settings: { trust_token } })
  const user_data = `#cloud-config\npassword: ${planted['user data']}\n`
  const ordered = await fetch(`${hub.url}/v1/servers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': 'key-of-order' },
    body: JSON.stringify({ ...hetznerOrder, name: 'web-1', account_id: account.body.id, user_data }),
  })
  const server = (await ordered.json()) as any
  expect([ordered.status, server.user_data_set]).toEqual([201, true])
  // Personal data is encrypted like secrets, also in responses that are stored for repeated requests.
  planted['email of a contact'] = 'planted.hostmaster@personal.example.com'
  planted['address of a contact'] = '99 Planted Street of a contact'
  const person = { email: planted['email of a contact'], address: [planted['address of a contact']], phone: `+${phone}` }
  const contact = await post('/v1/contacts', { ...contactInput, ...person })
  const moved = { ...person, city: 'Lyon', email: `old.${planted['email of a contact']}` }
  expect((await call(hub, token, 'PATCH', `/v1/contacts/${contact.id}`, moved)).status).toBe(200)
  const feed = await post('/v1/calendar-feeds', { name: 'feed', include: ['maintenance', 'certificates'] })
  planted['secret of a calendar feed'] = feed.url.split('/').at(-2)
  expect((await fetch(feed.url)).status).toBe(200)
  for (const line of readFileSync(keyFile(here), 'utf8').trim().split('\n')) planted['master key'] = line

  // Uses each secret once, in ways that are recorded: pings, a delivered alert, updates, a rotated token.
  expect((await fetch(`${hub.url}/ping/${planted['rotated heartbeat UUID']}/fail`)).status).toBe(200)
  expect((await fetch(`${hub.url}/ping/${planted['rotated ping key']}/beat`)).status).toBe(200)
  await fetch(`${hub.url}/ping/${planted['heartbeat UUID']}`)
  const [dynamic, previous] = [planted['rotated dynamic IP token']!, planted['dynamic IP token']!]
  for (const path of [
    `/nic/update?myip=198.18.0.1&token=${dynamic}`,
    `/nic/update?myip=198.18.0.2&hostname=${dynamic}&password=${previous}`,
    `/update/all/${dynamic}/198.18.0.3`,
    `/update?domains=${dynamic}&token=${previous}`,
    `/api/update?token=${dynamic.slice(0, -1)}x`,
    `/v1/ingest/dynamic-ips/update?token=${dynamic}&hostname=unknown`,
    `/v1/ingest/dynamic-ips/${dynamic}`,
  ])
    await (await fetch(`${hub.url}${path}`, { headers: { 'user-agent': `router ${dynamic}` } })).text()
  const reports = await call(hub, token, 'GET', `/v1/dynamic-ips/${source.id}/updates`)
  expect(reports.body.data.length).toBeGreaterThan(0)
  await fetch(`${hub.url}/v1/heartbeats`, { headers: { cookie: signedIn.headers.get('set-cookie')!.split(';')[0]! } })
  await call(hub, planted['second token']!, 'GET', '/v1/heartbeats')
  await call(hub, token, 'PATCH', `/v1/heartbeats/${beat.id}`, { description: `${marker}, edited` })
  await until('the deliveries', async () => seen.received.length >= 2 && log.received.length > 0)
  await using rows = rowsOf(here)
  // The job that ends the overlap of secrets is due in a day, and accounts and controllers are read again and again.
  const due = `select 1 from jobs where kind <> 'webhooks.promote' and kind not like 'cloud.%'`
  await until('the queue empty', async () => (await rows.all(due)).length === 0)

  expect(Object.values(planted).filter(value => typeof value !== 'string' || value.length < 20)).toEqual([])
  // Shorter than a secret, but no other value contains so many digits by chance.
  planted['phone number of a contact'] = phone
  expect(cloud.double.serverNamed('web-1')?.userData).toContain(planted['user data'])
  // Clouds repeat the secrets in errors.
  cloud.double.fault = () => ({ status: 403, code: 'forbidden', message: `no access with ${planted['API token of a cloud']}` })
  const checked = [account.body.id, ...incusAccounts]
  for (const id of checked) await call(hub, token, 'POST', `/v1/cloud-accounts/${id}/check`)
  for (const kind of ['redfish', 'ipmi', 'ssh'])
    await call(hub, token, 'POST', `/v1/servers/${rack.id}/controllers/${kind}/check`)
  expect(incus.seen.some(one => one.includes(trust_token))).toBe(true)
  const copies = { ...(await everyCopy(here)), ...(await everyBackup(here)) }
  expect(Object.keys(copies).length).toBeGreaterThan(0)
  // The marker must be found in every copy, to prove that the search works.
  for (const [name, bytes] of Object.entries(copies)) expect([name, bytes.includes(marker)]).toEqual([name, true])
  copies['the response of a trial'] = Buffer.from(JSON.stringify(tried.body))
  const lists = ['cloud-accounts', 'servers', 'actions', 'events', 'audit-events', 'notices', 'ssh-keys']
  const ofServers = [server.id, rack.id].flatMap(id => ['', '/facts', '/transitions'].map(part => `servers/${id}${part}`))
  const answers = [...lists, ...ofServers, ...checked.map(id => `cloud-accounts/${id}`), `actions/${server.action_id}`]
  for (const path of answers) {
    const answer = await call(hub, token, 'GET', `/v1/${path}`)
    expect([path, answer.status]).toEqual([path, 200])
    copies[`the response of ${path}`] = Buffer.from(JSON.stringify(answer.body))
  }
  const exported = await fetch(`${hub.url}/v1/audit-events/export`, { headers: { authorization: `Bearer ${token}` } })
  copies['the export of the audit log'] = Buffer.from(await exported.arrayBuffer())
  expect(copies['the export of the audit log'].includes('domains.contact.update')).toBe(true)
  copies['the log of the hub'] = Buffer.from(hub.err())
  copies['what the audit stream received'] = Buffer.from(log.received.map(one => one.body).join('\n'))
  const found = Object.entries(copies).flatMap(([name, bytes]) =>
    Object.entries(planted).flatMap(([what, secret]) =>
      formsOf(secret).flatMap(form => (bytes.includes(form) ? [`${what} is in ${name}`] : [])),
    ),
  )
  expect(found).toEqual([])
}, 180_000)

async function cloudDouble(token: string): Promise<AsyncDisposable & { double: HetznerCloudDouble }> {
  const double = Object.assign(new HetznerCloudDouble(), { token })
  await double.start()
  return { double, [Symbol.asyncDispose]: async () => double.stop() }
}

/** An Incus that trusts nobody. Its errors repeat what was sent, and what that contains. */
async function incusDouble(tls: { cert: string; key: string }) {
  const seen: string[] = []
  const double = new IncusDouble(tls)
  const untrusted = { type: 'sync', status_code: 200, metadata: { auth: 'untrusted' } }
  double.fault = ({ method, body }) => {
    if (method === 'GET') return { raw: { status: 200, body: JSON.stringify(untrusted) } }
    seen.push(JSON.stringify(body))
    const { secret } = JSON.parse(Buffer.from(body.trust_token ?? '', 'base64').toString())
    return { status: 400, code: 'bad_request', message: `invalid: ${seen.at(-1)} (${secret})` }
  }
  await double.start()
  return { double, seen, [Symbol.asyncDispose]: async () => double.stop() }
}

/**
 * All stored bytes of the installation: the SQLite files while the hub is running and a copy of them, or every row of
 * PostgreSQL.
 */
async function everyCopy(here: Installation): Promise<Record<string, Buffer>> {
  if (here.env.BAILIWICK_DATABASE_URL) {
    await using rows = rowsOf(here)
    const tables = await rows.all<{ name: string }>(
      `select table_name as name from information_schema.tables where table_schema = current_schema()`,
    )
    const lines: string[] = []
    for (const { name } of tables) {
      // A bytea is written in hex by the server: formsOf has that form of each secret.
      for (const { line } of await rows.all<{ line: string }>(`select "${name}"::text as line from "${name}"`)) lines.push(line)
    }
    return { 'the rows of PostgreSQL': Buffer.from(lines.join('\n')) }
  }
  const file = join(here.folder, 'bailiwick.db')
  const copy = join(here.folder, 'copy.db')
  const db = new Database(file)
  db.run('PRAGMA busy_timeout=5000')
  const wal = readFileSync(`${file}-wal`)
  db.run('vacuum into ?', [copy])
  const copied = { 'the log of SQLite': wal, 'a copy': readFileSync(copy) }
  db.run('PRAGMA wal_checkpoint(PASSIVE)')
  const whole = readFileSync(file)
  db.close()
  return {
    ...copied,
    'the database file': whole,
    ...(existsSync(`${file}-journal`) && { journal: readFileSync(`${file}-journal`) }),
  }
}

/** The uncompressed backups of the installation, in each form. */
async function everyBackup(here: Installation): Promise<Record<string, Buffer>> {
  const backups: Record<string, Buffer> = {}
  for (const form of here.env.BAILIWICK_DATABASE_URL ? ['--logical'] : ['--logical', '--with-series']) {
    const { code, out, err } = await here.run(['backup', form])
    expect({ code, err }).toEqual({ code: 0, err: '' })
    backups[`a backup ${form}`] = zstdDecompressSync(readFileSync(out.split('\n')[0]!))
  }
  return backups
}

/** The forms in which a file could contain a secret: as text, its bytes, and both in hex and base64. */
function formsOf(secret: string): (string | Buffer)[] {
  const bytes = Buffer.from(secret)
  const decoded = Buffer.from(secret.replace(/^[a-z]+_([a-z]+_)?/, ''), 'base64')
  const forms = [bytes, ...(decoded.length >= 16 ? [decoded] : [])]
  return [
    secret.replaceAll('-', ''),
    ...forms,
    ...forms.flatMap(form => [
      form.toString('hex'),
      form.toString('hex').toUpperCase(),
      form.toString('base64'),
      form.toString('base64url'),
    ]),
  ]
}

const keyFile = (here: Installation): string => here.env.BAILIWICK_MASTER_KEY_FILE ?? join(here.folder, 'master.key')
