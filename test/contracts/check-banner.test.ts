import { afterAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import type { MailOptions } from '../../src/checks/banner'
import type { Facts } from '../../src/checks/check'
import { imap } from '../../src/checks/imap'
import { pop3 } from '../../src/checks/pop3'
import { smtp } from '../../src/checks/smtp'
import { ssh } from '../../src/checks/ssh'
import { checkContext } from '../support/check-context'
import { fixtureCa, script, stopTalkers, talker, type Said } from '../support/talker'

afterAll(stopTalkers)

const types = { smtp, imap, pop3 }
type Mail = keyof typeof types

const run = async (type: Mail, said: Said, options: MailOptions = {}): Promise<Facts> =>
  await types[type].run(
    types[type].target(`a.test:${await talker(said)}`),
    { ca: fixtureCa, ...options },
    checkContext({ withinMs: 5000 }),
  )

const bye = { smtp: 'QUIT', imap: 'z LOGOUT', pop3: 'QUIT' }
const greeting = { smtp: '220-a.test\r\n220 ready ESMTP\r\n', imap: '* OK [CAPABILITY IDLE] ready\r\n', pop3: '+OK ready\r\n' }
/** The responses of each server, with the given capability. */
const answers: Record<Mail, (offered: string) => Record<string, string>> = {
  smtp: offered => ({ EHLO: `250-a.test\r\n250-SIZE 1000\r\n250 ${offered}\r\n` }),
  imap: offered => ({ 'a CAPABILITY': `* CAPABILITY IMAP4rev1 ${offered}\r\na OK done\r\n` }),
  pop3: offered => ({ CAPA: `+OK\r\nUIDL\r\n${offered}\r\n.\r\n` }),
}

/** A server that records what it receives, and closes the connection after the client's last command. */
function polite(type: Mail, offered = 'IDLE') {
  const received: string[] = []
  const talk = script(greeting[type], answers[type](offered))
  const said = (socket: Socket) => {
    talk(socket)
    socket.on('data', octets => {
      received.push(...octets.toString().split('\r\n').filter(Boolean))
      if (received.at(-1) === bye[type]) socket.end()
    })
  }
  return { said, received }
}

describe.each(['smtp', 'imap', 'pop3'] as const)('%s', type => {
  test('is up if it greets and responds, and the session is closed properly', async () => {
    const { said: output, received } = polite(type)
    const facts = await run(type, output, { expected_capabilities: ['idle'], expected_banner: '*ready*' })
    expect(facts).toMatchObject({ connected: true, error: null, status: type === 'smtp' ? 220 : null })
    expect(facts.body).toStartWith(greeting[type])
    expect(received.at(-1)).toBe(bye[type])
  })

  test('is down if it lacks a capability or has another banner', async () => {
    expect((await run(type, polite(type).said, { expected_capabilities: ['AUTH*'] })).error).toEqual({
      kind: 'content',
      message: 'the server lacks "AUTH*"',
    })
    expect((await run(type, polite(type).said, { expected_banner: 'other*' })).error!.kind).toBe('content')
  })

  test('that keeps the connection open at the end is not waited for', async () => {
    const startedAt = performance.now()
    const { error, phases } = await run(type, script(greeting[type], answers[type]('IDLE')))
    const took = performance.now() - startedAt
    expect(error).toBeNull()
    expect(took).toBeLessThan(4000)
    // The wait does not count as response time.
    expect(phases.total).toBeLessThan(took - 300)
  })

  test('uses implicit TLS', async () => {
    const facts = await run(type, { implicit: polite(type).said }, { tls: 'implicit' })
    expect(facts).toMatchObject({ error: null, tls: { certificate: { names: ['a.test', 'b.test'] } } })
  })

  test('that does not offer STARTTLS is down if it is required', async () => {
    expect((await run(type, polite(type).said, { tls: 'starttls' })).error!.kind).toBe('tls')
  })

  test('that speaks another protocol is down', async () => {
    expect((await run(type, script('SSH-2.0-OpenSSH_9.2\r\n', {}))).error!.kind).toBe('protocol')
  })
})

test.each<[Mail, string, string, string]>([
  ['smtp', '554 no service\r\n', 'status', 'the greeting has code 554, expected 220: "no service"'],
  ['imap', '* BYE full\r\n', 'status', 'the server rejected the connection: "full"'],
  ['pop3', '-ERR [SYS/TEMP] busy\r\n', 'status', 'the server rejected the connection: "[SYS/TEMP] busy"'],
])('an %s server that rejects the connection is down', async (type, says, kind, message) => {
  expect((await run(type, script(says, {}))).error).toEqual({ kind, message } as Facts['error'])
})

test('an SMTP server that rejects the connection as expected is up', async () => {
  const facts = await run('smtp', script('554 no service\r\n', {}), { expected_code: 554 })
  expect(facts).toMatchObject({ error: null, status: 554 })
})

test('only capabilities received under TLS count', async () => {
  const plain = `220 ready\r\n`
  const secret = script('', { EHLO: '250-a.test\r\n250 AUTH PLAIN LOGIN\r\n' })
  const server = (agrees: string) => (socket: Socket) => {
    script(plain, { EHLO: '250-a.test\r\n250 STARTTLS\r\n', STARTTLS: agrees })(socket)
  }
  const injected = await run('smtp', server('220 go\r\n250 injected\r\n'), { tls: 'starttls' })
  expect(injected.error).toMatchObject({ kind: 'protocol', message: expect.stringContaining('plain text') })
  const refused = await run('smtp', server('454 not now\r\n'), { tls: 'starttls' })
  expect(refused.error).toEqual({ kind: 'tls', message: 'the server responded to STARTTLS with 454: "not now"' })
  const implicit = await run(
    'smtp',
    { implicit: socket => (socket.write(plain), secret(socket)) },
    {
      tls: 'implicit',
      expected_capabilities: ['AUTH PLAIN*'],
    },
  )
  expect(implicit.error).toBeNull()
})

describe('ssh', () => {
  const check = async (says: string, options: Parameters<typeof ssh.run>[1] = {}): Promise<[Facts, Buffer]> => {
    const received: Uint8Array[] = []
    const port = await talker(socket => {
      socket.write(says)
      socket.on('data', octets => {
        received.push(Buffer.from(octets))
        if (octets.includes('checked')) socket.end()
      })
    })
    return [await ssh.run(ssh.target(`a.test:${port}`), options, checkContext({ withinMs: 3000 })), Buffer.concat(received)]
  }

  test('is up if it announces version 2, possibly after other lines', async () => {
    const [facts, received] = await check('Welcome\r\nSSH-2.0-OpenSSH_9.2p1\r\n', { expected_banner: 'SSH-2.0-OpenSSH_*' })
    expect(facts).toMatchObject({ error: null, body: 'Welcome\r\nSSH-2.0-OpenSSH_9.2p1\r\n' })
    const packet = received.subarray(received.indexOf(10) + 1)
    expect([packet.readUInt32BE(), packet.length % 8, packet[5]]).toEqual([packet.length - 4, 0, 1])
  })

  test.each([
    ['SSH-1.5-old\r\n', {}, 'protocol'],
    ['x\r\n'.repeat(60), {}, 'protocol'],
    ['SSH-2.0-dropbear\r\n', { expected_banner: '*OpenSSH*' }, 'content'],
  ] as const)('is down if it sends %j', async (says, options, kind) => {
    expect((await check(says, options))[0].error!.kind).toBe(kind)
  })
})

test('targets default to the port of their protocol', () => {
  expect([smtp.target('MX.example.test'), imap.target('a.test'), pop3.target('a.test'), ssh.target('a.test')]).toEqual([
    'mx.example.test:25',
    'a.test:143',
    'a.test:110',
    'a.test:22',
  ])
})
