import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { expect, test } from 'bun:test'
import { AcmeDouble } from '../support/acme-double'
import { fullToken, installation, startHub, until, type HubProcess } from '../support/binary'
import { inconsistencies } from '../support/consistency'
import { rowsOf, type Rows } from '../support/database'
import { mulberry32 } from '../support/random'

// In full, with 200 kills: `BAILIWICK_TEST_ORDERS=800 bun test …`.
const orders = Number(process.env.BAILIWICK_TEST_ORDERS ?? 8)
const seed = Number(process.env.BAILIWICK_TEST_KILL_SEED ?? crypto.getRandomValues(new Uint32Array(1))[0])
/** Hubs on the same database; more than one need PostgreSQL. */
const hubCount = Number(process.env.BAILIWICK_TEST_HUBS ?? 1)
const perKill = 4
/** Moments of an order at which the hub can be killed: before and after each request is handled. */
const momentsPerOrder = 80
/** Keys that are searched in all files. */
const maxSearched = 8

test(`${orders} certificates are each issued once, with hubs that are killed ${orders / perKill} times`, async () => {
  process.stdout.write(`seed ${seed} (BAILIWICK_TEST_KILL_SEED)\n`)
  const random = mulberry32(seed)
  await using here = await installation()
  here.env.BAILIWICK_DNS_RESOLVERS = '127.0.0.1:9'
  const ca = new AcmeDouble()
  ca.retryAfter = 1
  const hubs: HubProcess[] = []
  for (let n = 0; n < hubCount; n++) hubs.push(await startHub(here))
  await using _ = {
    async [Symbol.asyncDispose]() {
      for (const hub of hubs) await hub.stop('SIGKILL')
      ca.stop()
    },
  }
  const token = await fullToken(here)
  const api = async (method: string, path: string, body?: unknown) => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const response = await fetch(hubs[0]!.url + path, {
      method,
      headers,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`)
    return text === '' ? null : JSON.parse(text)
  }
  await api('POST', '/v1/dns/zones', { name: 'example.com' })
  const directory = { directory_url: ca.directoryUrl, ca_pem: ca.ca, terms_agreed: true }
  const account = await api('POST', '/v1/acme-accounts', { name: 'CA', ...directory })
  await using rows = rowsOf(here)
  ca.lookUp = name => valuesOf(rows, name)

  const logs: string[] = []
  const names: string[] = []
  for (let round = 0; round < orders / perKill; round++) {
    // The first orders of a round are created before, so that the hub is killed at different steps of several orders.
    for (let n = 0; n < perKill; n++) {
      const name = `c${names.length}.example.com`
      names.push(name)
      const body = { names: [name, `*.${name}`], acme_account_id: account.id, key: { retention: 'keep' } }
      await api('POST', '/v1/managed-certificates', body)
    }
    const victim = round % hubCount
    let moments = Math.floor(random() * momentsPerOrder * perKill)
    let isKilled = false
    ca.watch = async () => {
      if (moments-- !== 0) return
      await hubs[victim]!.stop('SIGKILL')
      isKilled = true
    }
    await until('a kill or all orders', async () => isKilled || (await unfinished(rows)) === 0, 120_000)
    ca.watch = () => {}
    await hubs[victim]!.stop('SIGKILL')
    logs.push(hubs[victim]!.err())
    hubs[victim] = await startHub(here)
    expect({ round, found: await inconsistencies(rows) }).toEqual({ round, found: [] })
  }
  await until('all orders', async () => (await unfinished(rows)) === 0, 120_000 + orders * 2000)

  const problems = await rows.all<{ error: string }>(
    `select error from actions where type = 'certificate.issue' and error is not null`,
  )
  expect(problems.map(one => one.error)).toEqual([])
  for (const name of names) {
    expect({ name, orders: [...ca.orders.values()].filter(one => one.names.includes(name)).length }).toEqual({ name, orders: 1 })
    expect({ name, issued: ca.issued.filter(one => one.names.includes(name)).length }).toEqual({ name, issued: 1 })
  }
  expect(await rows.all('select id from acme_challenges')).toEqual([])
  expect(await rows.all(`select id from dns_records where type = 'TXT'`)).toEqual([])
  logs.push(...hubs.map(hub => hub.err()))
  const keys: string[] = []
  for (const { id } of await rows.all<{ id: string }>('select id from managed_certificates')) {
    const { certificate, private_key } = await api('POST', `/v1/managed-certificates/${id}/download`, {})
    expect(new X509Certificate(certificate).checkPrivateKey(createPrivateKey(private_key))).toBe(true)
    keys.push(private_key)
  }
  expect(keys).toHaveLength(orders)

  // No key is anywhere in plain text.
  const { code, out } = await here.run(['backup', '--logical'])
  expect(code).toBe(0)
  const backup = zstdDecompressSync(readFileSync(out.split('\n')[0]!)).toString('latin1')
  const audit = JSON.stringify(await api('GET', '/v1/audit-events?limit=100'))
  const texts = [...logs, audit, backup, ...filesIn(here.folder)]
  expect(backup).toContain(names[0]!)
  for (const key of keys.slice(0, maxSearched)) {
    const body = key.replaceAll(/-----[^-]+-----|\n/g, '')
    const bytes = Buffer.from(body, 'base64')
    const forms = [key.split('\n')[1]!, body, bytes.toString('latin1'), bytes.toString('hex')]
    expect(texts.filter(text => forms.some(form => text.includes(form)))).toEqual([])
  }
  expect(logs.flatMap(one => one.split('\n')).filter(line => /"level":"(?:error|fatal)"/.test(line))).toEqual([])
  process.stdout.write(`${orders} certificates, ${ca.requests.length} requests\n`)
}, 3_600_000)

const unfinished = async (rows: Rows): Promise<number> =>
  (await rows.all(`select id from actions where type = 'certificate.issue' and status in ('pending', 'running')`)).length

async function valuesOf(rows: Rows, name: string): Promise<string[]> {
  const relative = name.replace(/\.example\.com$/, '')
  const found = await rows.all<{ content: string }>(`select content from dns_records where type = 'TXT' and name = '${relative}'`)
  return found.map(one => JSON.parse(one.content))
}

const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .map(name => join(folder, name))
    .filter(file => statSync(file).isFile())
    .map(file => readFileSync(file, 'latin1'))
