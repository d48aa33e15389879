import { afterEach, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pages } from '../../src/docs'
import { call, fullToken, installation, startHub, until, type HubProcess, type Installation } from '../support/binary'
import { freePort } from '../support/free-port'
import { queryUdp } from '../support/name-servers'
import { digOutput, queryOctets } from '../support/served-zone'

// Uses the configurations of the handbook, with the addresses and paths of this run.
const builtin = '/v1/dns/providers/builtin'
const keyName = 'transfer.example.com'
const catalog = 'catalog.example.com'
const page = pages.find(one => one.slug === 'dns-secondaries')!.markdown
const snippet = (name: string) => new RegExp(`\`\`\`${name}\n([\\s\\S]*?)\`\`\``).exec(page)![1]!

type Kind = 'BIND' | 'Knot'
interface Secondary {
  kind: Kind
  port: number
  /** Its log output so far. */
  log(): string
}

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0).reverse()) await stop()
})

/** Starts a server with the catalog, or with a single zone, with a fixed configuration. */
async function startSecondary(
  kind: Kind,
  primaryPort: number,
  secret: string,
  { only, port }: { only?: string; port: number },
): Promise<Secondary> {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-secondary-'))
  chmodSync(folder, 0o777)
  mkdirSync(join(folder, 'db'))
  const here = (text: string) =>
    text
      .replaceAll('SECRET', secret)
      .replaceAll('192.0.2.10 port 53', `127.0.0.1 port ${primaryPort}`)
      .replaceAll('192.0.2.10@53', `127.0.0.1@${primaryPort}`)
      .replaceAll(/\/var\/(cache\/bind|lib\/knot)/g, folder)
  let command: string[]
  if (kind === 'BIND') {
    const single = only && snippet('bind-zone').replaceAll('example.com"', `${only}"`).replace(`transfer.${only}"`, `${keyName}"`)
    const text = here(single ? `${snippet('bind-catalog').split('  catalog-zones')[0]}};\n${single}` : snippet('bind-catalog'))
    const own = `options {
  pid-file "${folder}/named.pid"; session-keyfile "${folder}/session.key";
  listen-on port ${port} { 127.0.0.1; }; listen-on-v6 { none; };
  dnssec-validation no; empty-zones-enable no;`
    writeFileSync(join(folder, 'named.conf'), `${text.replace('options {', own)}\ncontrols { };\n`)
    command = ['/usr/sbin/named', '-g', '-c', join(folder, 'named.conf')]
  } else {
    const whole = snippet('knot-catalog')
    const text = here(only ? `${whole.split('  - domain:')[0]}${snippet('knot-zone').replace('example.com', only)}` : whole)
    const own = `server:
    rundir: "${folder}"
    listen: [ "127.0.0.1@${port}" ]
database:
    storage: "${folder}/db"
log:
  - target: stderr
    any: debug
`
    writeFileSync(join(folder, 'knot.conf'), own + text)
    command = ['/usr/sbin/knotd', '-c', join(folder, 'knot.conf')]
  }
  const run = Bun.spawn(command, { stdin: 'ignore', stdout: 'ignore', stderr: 'pipe' })
  let log = ''
  const read = (async () => {
    const decoder = new TextDecoder()
    for await (const part of run.stderr) log += decoder.decode(part, { stream: true })
  })()
  stops.push(async () => {
    run.kill('SIGKILL')
    await run.exited
    await read
    rmSync(folder, { recursive: true, force: true })
  })
  await until(`${kind} up`, async () => {
    if (run.exitCode !== null) throw new Error(`${kind} ended: ${log}`)
    return (await queryUdp(port, queryOctets('nothing.test.', 'SOA'), 200)) !== null
  })
  return { kind, port, log: () => log }
}

/** First value of a name at a server; null if there is none. */
async function value(port: number, name: string, type = 'A'): Promise<string | null> {
  const octets = await queryUdp(port, queryOctets(name, type), 500)
  const answer = octets && digOutput(octets)
  return answer?.rcode === 'NOERROR' ? (answer.answer[0]?.split(' ').slice(3).join(' ') ?? null) : null
}

/** Milliseconds until all servers have it. */
async function timeUntil(
  servers: readonly { kind?: string; port: number }[],
  has: (port: number) => Promise<boolean>,
): Promise<number[]> {
  const from = performance.now()
  return await Promise.all(
    servers.map(async ({ port, kind }) => {
      for (;;) {
        if (await has(port)) return Math.round(performance.now() - from)
        if (performance.now() - from > 30_000) throw new Error(`${kind} did not have it within 30 s`)
        await Bun.sleep(5)
      }
    }),
  )
}

interface Scene {
  here: Installation
  hub: HubProcess
  token: string
  secret: string
}

async function scene(ports: number[]): Promise<Scene> {
  const here = await installation()
  const hub = await startHub(here)
  stops.push(async () => {
    await hub.stop()
    await here[Symbol.asyncDispose]()
  })
  const token = await fullToken(here)
  const key = (await call(hub, token, 'POST', `${builtin}/tsig-keys`, { name: keyName })).body
  const set = await call(hub, token, 'PATCH', builtin, {
    secondaries: ports.map(port => ({ name: `at ${port}`, address: '127.0.0.1', port, tsig_key_id: key.id })),
    catalog: { enabled: true, name: catalog, tsig_key_id: key.id },
  })
  expect(set.status).toBe(200)
  return { here, hub, token, secret: key.secret }
}

const tell = (what: string, servers: readonly Secondary[], times: readonly number[]) =>
  process.stdout.write(`${what}: ${servers.map(({ kind }, at) => `${kind} after ${times[at]} ms`).join(', ')}\n`)

test('BIND and Knot follow zones and records by the catalog, without configuration changes', async () => {
  const ports = [await freePort(), await freePort()]
  const { hub, token, secret } = await scene(ports)
  const servers = [
    await startSecondary('BIND', hub.dnsPort, secret, { port: ports[0]! }),
    await startSecondary('Knot', hub.dnsPort, secret, { port: ports[1]! }),
  ]
  // A first zone, so that both have the catalog.
  await call(hub, token, 'POST', '/v1/dns/zones', { name: 'first.test' })
  await timeUntil(servers, async port => (await value(port, 'first.test.', 'SOA')) !== null)

  const from = performance.now()
  const zone = (await call(hub, token, 'POST', '/v1/dns/zones', { name: 'member.test' })).body
  const answeredMs = performance.now() - from
  const created = await timeUntil(servers, async port => (await value(port, 'member.test.', 'SOA')) !== null)
  tell(`a new member zone (its POST took ${Math.round(answeredMs)} ms)`, servers, created)
  expect(Math.max(...created)).toBeLessThan(15_000)

  const records = `/v1/dns/zones/${zone.id}/records`
  const record = (await call(hub, token, 'POST', records, { type: 'A', name: 'www', content: '192.0.2.1', ttl: 60 })).body
  await timeUntil(servers, async port => (await value(port, 'www.member.test.')) === '192.0.2.1')
  const changes: number[][] = []
  for (let n = 2; n < 12; n++) {
    await call(hub, token, 'PATCH', `/v1/dns/records/${record.id}`, { content: `192.0.2.${n}` })
    changes.push(await timeUntil(servers, async port => (await value(port, 'www.member.test.')) === `192.0.2.${n}`))
  }
  const worst = servers.map((_, at) => Math.max(...changes.map(times => times[at]!)))
  tell('ten changed records, the slowest', servers, worst)
  expect(Math.max(...worst)).toBeLessThan(10_000)

  const [bind, knot] = servers
  await until(
    'IXFR in the logs',
    async () => /IXFR, incoming.*(finished|retrieved)/i.test(knot!.log()) && bind!.log().includes('member.test'),
  )
  const metrics = (await call(hub, '', 'GET', '/metrics')).body as string
  const incremental = Number(/bailiwick_dns_transfers_total\{kind="ixfr"\} (\d+)/.exec(metrics)?.[1] ?? 0)
  process.stdout.write(
    `transfers: ${[...metrics.matchAll(/bailiwick_dns_transfers_total\{kind="(\w+)"\} (\d+)/g)].map(([, kind, n]) => `${n} ${kind}`).join(', ')}\n`,
  )
  expect(incremental).toBeGreaterThanOrEqual(10)
  const transfers = async () => (await call(hub, token, 'GET', `${builtin}/transfers?zone=member.test`)).body.data
  await until('the transfer in the list', async () => (await transfers()).some((one: any) => one.type === 'ixfr'))

  expect((await call(hub, token, 'DELETE', `/v1/dns/zones/${zone.id}`)).status).toBe(204)
  const gone = await timeUntil(
    servers,
    async port => digOutput((await queryUdp(port, queryOctets('member.test.', 'SOA')))!).rcode === 'REFUSED',
  )
  tell('a deleted zone is gone', servers, gone)
  const { secondaries } = (await call(hub, token, 'GET', builtin)).body
  expect(secondaries.map((one: any) => one.error)).toEqual([null, null])
}, 180_000)

test('a single zone is followed too', async () => {
  const ports = [await freePort(), await freePort()]
  const { hub, token, secret } = await scene(ports)
  const zone = (await call(hub, token, 'POST', '/v1/dns/zones', { name: 'alone.test' })).body
  const servers = [
    await startSecondary('BIND', hub.dnsPort, secret, { port: ports[0]!, only: 'alone.test' }),
    await startSecondary('Knot', hub.dnsPort, secret, { port: ports[1]!, only: 'alone.test' }),
  ]
  await timeUntil(servers, async port => (await value(port, 'alone.test.', 'SOA')) !== null)
  await call(hub, token, 'POST', `/v1/dns/zones/${zone.id}/records`, { type: 'TXT', name: 'a', content: 'x; "y" \\ z' })
  const times = await timeUntil(servers, async port => (await value(port, 'a.alone.test.', 'TXT')) === '"x; \\"y\\" \\\\ z"')
  tell('a record of a single zone', servers, times)
}, 180_000)

test('a wrong key is rejected', async () => {
  const ports = [await freePort(), await freePort()]
  const { hub, token } = await scene(ports)
  await call(hub, token, 'POST', '/v1/dns/zones', { name: 'first.test' })
  const wrong = Buffer.alloc(32, 1).toString('base64')
  const servers = [
    await startSecondary('BIND', hub.dnsPort, wrong, { port: ports[0]! }),
    await startSecondary('Knot', hub.dnsPort, wrong, { port: ports[1]! }),
  ]
  await until(
    'both refused',
    async () => servers.every(one => /BADSIG|BAD_?SIG|bad signature|TSIG error/i.test(one.log())),
    180_000,
  )
  for (const { port } of servers) expect(await value(port, 'first.test.', 'SOA')).toBe(null)
}, 180_000)
