import { afterAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import type { MailOptions } from '../../src/checks/banner'
import type { Facts } from '../../src/checks/check'
import { imap } from '../../src/checks/imap'
import { pop3 } from '../../src/checks/pop3'
import { smtp } from '../../src/checks/smtp'
import { ssh } from '../../src/checks/ssh'
import { around } from '../support/around'
import { fixtureCa, script, stopTalkers, talker, type Said } from '../support/talker'

afterAll(stopTalkers)

const types = { smtp, imap, pop3 }
type Mail = keyof typeof types

const run = async (type: Mail, said: Said, options: MailOptions = {}): Promise<Facts> =>
  await types[type].run(
    types[type].target(`a.test:${await talker(said)}`),
    { ca: fixtureCa, ...options },
    around({ withinMs: 5000 }),
  )

const bye = { smtp: 'QUIT', imap: 'z LOGOUT', pop3: 'QUIT' }
const greeting = { smtp: '220-a.test\r\n220 ready ESMTP\r\n', imap: '* OK [CAPABILITY IDLE] ready\r\n', pop3: '+OK ready\r\n' }
/** What each answers, offering this. */
const answers: Record<Mail, (offered: string) => Record<string, string>> = {
  smtp: offered => ({ EHLO: `250-a.test\r\n250-SIZE 1000\r\n250 ${offered}\r\n` }),
  imap: offered => ({ 'a CAPABILITY': `* CAPABILITY IMAP4rev1 ${offered}\r\na OK done\r\n` }),
  pop3: offered => ({ CAPA: `+OK\r\nUIDL\r\n${offered}\r\n.\r\n` }),
}

/** A server that counts goodbyes, and hangs up after them. */
function polite(type: Mail, offered = 'IDLE') {
  const heard: string[] = []
  const talk = script(greeting[type], answers[type](offered))
  const said = (socket: Socket) => {
    talk(socket)
    socket.on('data', octets => {
      heard.push(...octets.toString().split('\r\n').filter(Boolean))
      if (heard.at(-1) === bye[type]) socket.end()
    })
  }
  return { said, heard }
}

describe.each(['smtp', 'imap', 'pop3'] as const)('%s', type => {
  test('is up when it greets and answers, and is left with a goodbye', async () => {
    const { said, heard } = polite(type)
    const facts = await run(type, said, { expected_capabilities: ['idle'], expected_banner: '*ready*' })
    expect(facts).toMatchObject({ connected: true, error: null, status: type === 'smtp' ? 220 : null })
    expect(facts.body).toStartWith(greeting[type])
    expect(heard.at(-1)).toBe(bye[type])
  })

  test('is down when it cannot do what is expected, or is somebody else', async () => {
    expect((await run(type, polite(type).said, { expected_capabilities: ['AUTH*'] })).error).toEqual({
      kind: 'content',
      message: 'the server cannot do "AUTH*"',
    })
    expect((await run(type, polite(type).said, { expected_banner: 'other*' })).error!.kind).toBe('content')
  })

  test('that lingers after the goodbye is not waited for', async () => {
    const began = performance.now()
    const { error, phases } = await run(type, script(greeting[type], answers[type]('IDLE')))
    const took = performance.now() - began
    expect(error).toBeNull()
    expect(took).toBeLessThan(4000)
    // Nor is it blamed for that.
    expect(phases.total).toBeLessThan(took - 300)
  })

  test('speaks TLS from the first octet', async () => {
    const facts = await run(type, { implicit: polite(type).said }, { tls: 'implicit' })
    expect(facts).toMatchObject({ error: null, tls: { certificate: { names: ['a.test', 'b.test'] } } })
  })

  test('that does not offer TLS when it is wanted is down', async () => {
    expect((await run(type, polite(type).said, { tls: 'starttls' })).error!.kind).toBe('tls')
  })

  test('that speaks another protocol is down', async () => {
    expect((await run(type, script('SSH-2.0-OpenSSH_9.2\r\n', {}))).error!.kind).toBe('protocol')
  })
})

test.each<[Mail, string, string, string]>([
  ['smtp', '554 no service\r\n', 'status', 'the server greets with 554 where 220 is expected: "no service"'],
  ['imap', '* BYE full\r\n', 'status', 'the server refuses to serve: "full"'],
  ['pop3', '-ERR [SYS/TEMP] busy\r\n', 'status', 'the server refuses to serve: "[SYS/TEMP] busy"'],
])('a server of %s that refuses is down', async (type, says, kind, message) => {
  expect((await run(type, script(says, {}))).error).toEqual({ kind, message } as Facts['error'])
})

test('a server of SMTP that refuses as expected is up', async () => {
  const facts = await run('smtp', script('554 no service\r\n', {}), { expected_code: 554 })
  expect(facts).toMatchObject({ error: null, status: 554 })
})

test('capabilities under TLS are what counts, and nothing that came before it', async () => {
  const plain = `220 ready\r\n`
  const secret = script('', { EHLO: '250-a.test\r\n250 AUTH PLAIN LOGIN\r\n' })
  const server = (agrees: string) => (socket: Socket) => {
    script(plain, { EHLO: '250-a.test\r\n250 STARTTLS\r\n', STARTTLS: agrees })(socket)
  }
  const injected = await run('smtp', server('220 go\r\n250 injected\r\n'), { tls: 'starttls' })
  expect(injected.error).toMatchObject({ kind: 'protocol', message: expect.stringContaining('plain text') })
  const refused = await run('smtp', server('454 not now\r\n'), { tls: 'starttls' })
  expect(refused.error).toEqual({ kind: 'tls', message: 'the server answers STARTTLS with 454: "not now"' })
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
  const asked = async (says: string, options: Parameters<typeof ssh.run>[1] = {}): Promise<[Facts, Buffer]> => {
    const heard: Uint8Array[] = []
    const port = await talker(socket => {
      socket.write(says)
      socket.on('data', octets => {
        heard.push(Buffer.from(octets))
        if (octets.includes('checked')) socket.end()
      })
    })
    return [await ssh.run(ssh.target(`a.test:${port}`), options, around({ withinMs: 3000 })), Buffer.concat(heard)]
  }

  test('is up when it says version 2, after whatever else it says', async () => {
    const [facts, heard] = await asked('Welcome\r\nSSH-2.0-OpenSSH_9.2p1\r\n', { expected_banner: 'SSH-2.0-OpenSSH_*' })
    expect(facts).toMatchObject({ error: null, body: 'Welcome\r\nSSH-2.0-OpenSSH_9.2p1\r\n' })
    const packet = heard.subarray(heard.indexOf(10) + 1)
    expect([packet.readUInt32BE(), packet.length % 8, packet[5]]).toEqual([packet.length - 4, 0, 1])
  })

  test.each([
    ['SSH-1.5-old\r\n', {}, 'protocol'],
    ['x\r\n'.repeat(60), {}, 'protocol'],
    ['SSH-2.0-dropbear\r\n', { expected_banner: '*OpenSSH*' }, 'content'],
  ] as const)('is down when it says %j', async (says, options, kind) => {
    expect((await asked(says, options))[0].error!.kind).toBe(kind)
  })
})

test('targets have the port of their protocol, and TLS at that which is for it', () => {
  expect([smtp.target('MX.example.test'), imap.target('a.test'), pop3.target('a.test'), ssh.target('a.test')]).toEqual([
    'mx.example.test:25',
    'a.test:143',
    'a.test:110',
    'a.test:22',
  ])
})
