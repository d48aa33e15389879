import { expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { installation, program, startHub } from '../support/binary'
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
    timeout: 45_000,
  })
  const [out, err, code] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text(), run.exited])
  expect({ code, err }).toEqual({ code: 0, err: '' })

  expect(out).toMatch(/"secret":"whsec_[^"]+"/)
  const received = out.split('\n').find(line => line.includes('received msg_'))
  const message = JSON.parse(received!.slice(received!.indexOf('{', received!.indexOf('received msg_'))))
  expect(message).toMatchObject({
    event: 'monitor.alert',
    data: { kind: 'heartbeat.missed', heartbeat: { name: 'nightly backup' } },
  })
  expect(out).toContain('"status":"down"')
  expect(out).toContain("resolved [ '192.0.2.10' ]")
  expect(out).toMatch(/"serial_before":1,"serial_after":2/)
  expect(out).toContain('"attempt_count":1')
  for (const action of ['account.token.create', 'webhooks.endpoint.create', 'heartbeat.create'])
    expect(out).toContain(`"action":"${action}"`)
}, 60_000)

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
