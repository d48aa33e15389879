import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { call, fullToken, installation, program, startHub } from '../support/binary'
import { freePort } from '../support/free-port'

const readme = readFileSync('README.md', 'utf8')
const tour = [...readme.matchAll(/```sh tour\n([\s\S]*?)```/g)].map(match => match[1]!)

test('the commands of the tour work as described', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const port = await freePort()
  // Only values that depend on the machine are replaced: program, URL, folder, and ports.
  const script = replaceAll(tour.join('\n'), [
    ['http://localhost:8484', hub.url],
    ['npx --yes bun@1.4.5 src/bin/hub.ts', program('bailiwick')],
    ['./data', here.folder],
    ['9009', String(port)],
    ['127.0.0.1:5300', `127.0.0.1:${hub.dnsPort}`],
  ])
  const run = Bun.spawn(['bash', '-eu', '-o', 'pipefail', '-c', script], {
    env: here.env,
    cwd: here.folder,
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 180_000,
  })
  const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  expect({ code, err }).toEqual({ code: 0, err: '' })

  expect(out).toMatch(/"secret": "whsec_[^"]+"/)
  const received = out.slice(out.indexOf('received msg_'))
  for (const part of ["event: 'monitor.alert'", "kind: 'heartbeat.missed'", "name: 'nightly backup'"])
    expect(received).toContain(part)
  expect(out).toContain('"name": "nightly backup",\n  "status": "down"')
  expect(out).toContain('"status": "delivered",\n  "attempt_count": 1,\n  "last_status_code": 200')
  expect(out).toMatch(/"cause": ".*refused/)
  expect(out).toContain("resolved [ '192.0.2.10' ]")
  expect(out).toContain('"serial_before": 1,\n  "serial_after": 2')
  for (const action of ['webhooks.endpoint.create', 'heartbeat.create']) expect(out).toContain(`"${action}"`)

  // Nothing remains: no receiver, and none of the resources.
  expect(await fetch(`http://127.0.0.1:${port}/`).catch(() => 'refused')).toBe('refused')
  const token = await fullToken(here)
  for (const path of ['webhook-endpoints', 'heartbeats', 'monitors', 'dns/zones'])
    expect([path, (await call(hub, token, 'GET', `/v1/${path}`)).body.data]).toEqual([path, []])
  const { data: tokens } = (await call(hub, token, 'GET', '/v1/tokens')).body
  expect(tokens.map((one: any) => [one.name, one.revoked_at !== null])).toEqual([
    ['test', false],
    ['tour', true],
  ])
}, 180_000)

test('all mentioned paths exist', () => {
  const paths = [...readme.matchAll(/(?:^|[`\s])((?:src|test|migrations|\.ci)\/[\w./-]*)/gm)]
    .map(match => match[1]!)
    .filter(path => path !== 'src/features/x/routes.ts')
  expect(paths.length).toBeGreaterThan(25)
  expect(paths.filter(path => !existsSync(path))).toEqual([])
})

test('all mentioned commands are scripts of package.json', () => {
  const { scripts } = JSON.parse(readFileSync('package.json', 'utf8')) as { scripts: Record<string, string> }
  const commands = [...readme.matchAll(/\bbun(?:@[\d.]+)? run ([a-z:]+)/g)].map(match => match[1]!)
  expect(commands).toContain('up')
  expect(commands.filter(name => !(name in scripts))).toEqual([])
})

function replaceAll(text: string, pairs: [string, string][]): string {
  return pairs.reduce((result, [from, to]) => {
    expect(result).toContain(from)
    return result.replaceAll(from, to)
  }, text)
}
