import { afterAll, expect, test } from 'bun:test'
import { message } from '../../src/dns/message'
import { encodeMessage } from '../../src/dns/message-encode'
import { rdataOfText } from '../../src/dns/rdata'
import { call, fullToken, installation, startHub, until } from '../support/binary'
import { closeTargets } from '../support/http-targets'
import { recordOf, scriptedServer } from '../support/scripted-server'
import { fingerprintOf, hostKeys, sshServer } from '../support/ssh-server'
import { script, stopTalkers, talker } from '../support/talker'

// The compiled hub checks servers of every type, created through its API.
afterAll(() => {
  stopTalkers()
  closeTargets()
})

test('a monitor of each type is up, and down if its expectations are not met', async () => {
  await using here = await installation()
  await using hub = await startHub(here)
  const token = await fullToken(here)
  const names = await scriptedServer(({ message: query }) => {
    const { name } = query.question[0]!
    const answer = [recordOf(name, 60, 'A', rdataOfText('A', '192.0.2.1', '.'))]
    return [encodeMessage(message({ id: query.id, question: query.question, answer, flags: { ...query.flags, qr: true } }))]
  })
  const sockets = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: (request, server) => (server.upgrade(request) ? undefined : new Response('', { status: 400 })),
    websocket: { open: socket => void socket.send('hello'), message() {} },
  })
  try {
    const at = async (greeting: string, answers: Record<string, string> = {}) =>
      `127.0.0.1:${await talker(script(greeting, answers))}`
    const resolver = `127.0.0.1:${names.port}`
    const bastion = await sshServer(login => login.method === 'password' && login.password === 'changeme')
    const ssh_tunnel = {
      host: '127.0.0.1',
      port: bastion.port,
      username: 'probe',
      password: 'changeme',
      host_key: fingerprintOf(hostKeys.public),
    }
    const cases: Record<string, { target: string; options?: object; wrong: object }> = {
      http: {
        target: `http://127.0.0.1:${sockets.port}/`,
        options: { ssh_tunnel, accepted_status_codes: ['400'] },
        wrong: { ssh_tunnel: { ...ssh_tunnel, host_key: `SHA256:${'a'.repeat(43)}` }, accepted_status_codes: ['400'] },
      },
      tcp: { target: await at('hello\r\n'), options: { steps: [{ expect: '^hello' }] }, wrong: { steps: [{ expect: '^bye' }] } },
      icmp: { target: '127.0.0.1', options: { count: 2, packet_interval_ms: 10 }, wrong: { ip_family: 6 } },
      dns: { target: 'www.example.test', options: { resolver }, wrong: { resolver, expected_answers: ['192.0.2.2'] } },
      smtp: { target: await at('220 ready\r\n', { EHLO: '250 here\r\n' }), wrong: { expected_code: 554 } },
      imap: {
        target: await at('* OK ready\r\n', { a: '* CAPABILITY IDLE\r\na OK\r\n' }),
        wrong: { expected_capabilities: ['X'] },
      },
      pop3: { target: await at('+OK ready\r\n', { CAPA: '+OK\r\nUIDL\r\n.\r\n' }), wrong: { expected_banner: 'other' } },
      ssh: { target: await at('SSH-2.0-test\r\n'), wrong: { expected_banner: 'SSH-2.0-OpenSSH*' } },
      websocket: {
        target: `ws://127.0.0.1:${sockets.port}/`,
        options: { expect_text: 'hello', secret_headers: { 'X-Key': 'changeme' } },
        wrong: { expect_text: 'goodbye' },
      },
    }
    const create = async (type: string, target: string, options: object, kind: string): Promise<[string, string, string]> => {
      const input = {
        type,
        name: `${kind} ${type}`,
        target,
        options,
        interval_seconds: 10,
        retry_interval_seconds: 1,
        confirm: 1,
      }
      const response = await call(hub, token, 'POST', '/v1/monitors', input)
      expect([type, response.status, JSON.stringify(response.body)]).toEqual([type, 201, expect.not.stringContaining('changeme')])
      return [type, kind, response.body.id]
    }
    const created: [string, string, string][] = []
    for (const [type, { target, options = {}, wrong }] of Object.entries(cases))
      created.push(await create(type, target, options, 'up'), await create(type, target, wrong, 'down'))
    const status = async () =>
      await Promise.all(
        created.map(async ([type, , id]) => [type, (await call(hub, token, 'GET', `/v1/monitors/${id}`)).body.status]),
      )
    const expected = created.map(([type, kind]) => [type, kind])
    await until('all results', async () => Bun.deepEquals(await status(), expected), 30_000).catch(() => {})
    expect(await status()).toEqual(expected)
  } finally {
    names.stop()
    sockets.stop(true)
  }
}, 180_000)
