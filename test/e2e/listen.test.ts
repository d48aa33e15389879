import { afterAll, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { call, fullToken, installation, runProgram, startHub, startProgram, until } from '../support/binary'
import { receiver, stopReceivers, type Received } from '../support/receiver'

afterAll(stopReceivers)

/** Runs `bailiwick listen` in an empty folder, without the settings of the hub. */
function listening(env: Record<string, string>, ...args: string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'bailiwick-listen-'))
  const { output, stop } = startProgram('bailiwick', ['listen', ...args], {
    env: { PATH: process.env.PATH!, ...env },
    cwd: folder,
  })
  return {
    output,
    secret: () => /^Signing secret: (\S+)$/m.exec(output.out)![1]!,
    lines: () => output.out.split('\n').filter(line => line.includes(' evt_')),
    files: () => readdirSync(folder),
    async [Symbol.asyncDispose]() {
      await stop('SIGKILL')
      rmSync(folder, { recursive: true, force: true })
    },
    interrupt: () => stop('SIGINT'),
  }
}

const ready = (one: { output: { out: string } }) => until('it is listening', async () => one.output.out.includes('Listening'))

function verify({ headers, body }: Received, secret: string): void {
  const sent = Object.fromEntries(headers)
  expect(headers.get('x-service-signature')).toBe(`sha256=${createHmac('sha256', secret).update(body).digest('hex')}`)
  expect(() => new Webhook(secret).verify(body, sent)).not.toThrow()
  expect(() => new Webhook(secret).verify(`${body} `, sent)).toThrow()
}

test('events reach a local receiver like the hub’s own webhooks, across a restart of the hub', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const port = new URL(hub.url).port
  const token = await fullToken(here)
  const [own, forwarded] = [receiver(), receiver()]
  await call(hub, token, 'POST', '/v1/webhook-endpoints', { url: own.url, events: ['monitor.alert'] })
  const { ping_url } = (
    await call(hub, token, 'POST', '/v1/heartbeats', {
      name: 'nächtlich ✓',
      schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
    })
  ).body
  const flap = async (at = ping_url) => {
    for (const path of ['', '/fail', '']) expect((await fetch(`${at}${path}`)).status).toBe(200)
  }
  // Raised before it listens: not sent without --since.
  await flap()
  await using it = listening(
    { BAILIWICK_URL: hub.url, BAILIWICK_TOKEN: token },
    '--forward-to',
    forwarded.url.replace('127.0.0.1', 'localhost'),
    '--events',
    'monitor.alert',
  )
  await ready(it)
  await flap()
  await until('the event was forwarded', async () => it.lines().length === 1)
  await until('the hub sent both', async () => own.received.length === 2)
  const [fromHub, fromListen] = [own.received[1]!, forwarded.received[0]!]
  expect(fromListen.body).toBe(fromHub.body)
  verify(fromListen, it.secret())
  const same = ['webhook-id', 'content-type', 'user-agent', 'accept-encoding'].concat(
    ['event', 'attempt', 'workspace', 'resource', 'sequence', 'occurred-at'].map(name => `x-service-${name}`),
  )
  for (const name of same) expect([name, fromListen.headers.get(name)]).toEqual([name, fromHub.headers.get(name)])
  expect([...fromListen.headers.keys()].sort()).toEqual([...fromHub.headers.keys()].sort())
  expect(it.lines()[0]).toMatch(/^\d{4}-\S+Z monitor\.alert evt_\w+ 204 \d+ ms$/)

  forwarded.answer = () => new Response('no', { status: 500 })
  await hub.stop()
  await until('it reports that the hub is unavailable', async () => it.output.err.includes('The hub is unavailable'))
  await using again = await startHub(here, { args: ['--listen', `127.0.0.1:${port}`] })
  expect(new URL(again.url).port).toBe(port)
  await flap()
  await until('the next event was forwarded', async () => it.lines().length === 2)
  expect(it.lines()[1]).toMatch(/ 500 \d+ ms$/)
  expect(it.output.err).toContain('The hub is available again.')
  expect(forwarded.received).toHaveLength(2)
  expect(await it.interrupt()).toBe(0)
  expect(it.files()).toEqual([])
  expect(it.output.out + it.output.err).not.toContain(token)
}, 180_000)

test('--since starts in the past, and --secret signs with a custom secret', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const token = await fullToken(here)
  const { ping_url } = (
    await call(hub, token, 'POST', '/v1/heartbeats', {
      name: 'job',
      schedule: { kind: 'period', period_seconds: 3600, grace_seconds: 60 },
    })
  ).body
  for (const path of ['', '/fail', '']) await fetch(`${ping_url}${path}`)
  const inbox = receiver()
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const tokenFile = join(here.folder, 'token')
  writeFileSync(tokenFile, `${token}\n`)
  await using it = listening(
    {},
    ...['--forward-to', inbox.url, '--url', hub.url, '--token-file', tokenFile, '--secret', secret, '--since', '1h'],
  )
  await until('both events were forwarded', async () => it.lines().length === 2)
  expect(inbox.received.map(one => one.headers.get('x-service-event'))).toEqual(['monitor.alert', 'monitor.recovered'])
  for (const one of inbox.received) verify(one, secret)
  expect(await it.interrupt()).toBe(0)
}, 180_000)

test('invalid usage exits immediately with an error', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const to = ['--forward-to', 'http://localhost:9/hook', '--url', hub.url]
  const run = (args: string[]) => runProgram('bailiwick', ['listen', ...args], { env: { PATH: process.env.PATH! } })
  expect((await run(to)).err).toContain('No API token')
  const wrong = await run([...to, '--token', 'bw_live_nonsense'])
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('The hub rejected the request (401)')])
  for (const args of [
    ['--forward-to', 'ftp://localhost/'],
    [...to, '--events', 'nonsense'],
    [...to, '--since', 'yesterday'],
    [...to, '--secret', 'hunter2'],
  ])
    expect([args, (await run(args)).code]).toEqual([args, 2])
}, 180_000)
