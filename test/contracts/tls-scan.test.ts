import { afterAll, describe, expect, test } from 'bun:test'
import type { Socket } from 'node:net'
import fc from 'fast-check'
import type { ScanProtocol } from '../../src/checks/tls-probe/facts'
import {
  alert,
  certificateMessage,
  curveKey,
  handshake,
  helloDone,
  readHello,
  record,
  records,
  serverHello,
  type ReadHello,
} from '../support/tls-messages'
import { ssl2Hello } from '../support/old-tls-server'
import { scanLocal, scriptedTls, suitesFound, type ScriptedTls } from '../support/tls-scan'
import { stopTalkers, talker } from '../support/talker'

// What a scan makes of servers that break the rules of TLS.

const servers: ScriptedTls[] = []
afterAll(() => {
  servers.forEach(one => one.stop())
  stopTalkers()
})

async function serverThat(talk: (socket: Socket) => void): Promise<ScriptedTls> {
  const server = await scriptedTls(talk)
  servers.push(server)
  return server
}

/** A server that answers each ClientHello of SSLv3 and later; nothing to others. */
const answering = (answer: (hello: ReadHello) => Uint8Array, after?: (socket: Socket) => void) =>
  serverThat(socket =>
    socket.once('data', (octets: Buffer) => {
      if (octets[0] !== 22) return void socket.end()
      socket.write(answer(readHello(octets)))
      after?.(socket)
    }),
  )

const certificate = Buffer.alloc(500, 1)
/** A server of TLS 1.2 with these suites, by its own order. */
const accepting =
  (known: number[], chain: Uint8Array[] = [certificate]) =>
  (hello: ReadHello) => {
    const suite = known.find(one => hello.suites.includes(one))
    if (suite === undefined || hello.version < 0x0303) return alert(suite === undefined ? 40 : 70)
    return records(Buffer.concat([serverHello({ suite }), certificateMessage(chain), curveKey(0x1d), helloDone]))
  }
const kinds = (errors: { kind: string }[]) => [...new Set(errors.map(one => one.kind))]

test('a scan opens at most two connections at once, and finds what the server chooses', async () => {
  // Answers late enough for further connections, if there were any.
  let [waiting, most] = [0, 0]
  const server = await serverThat(socket => {
    most = Math.max(most, ++waiting)
    socket.once('data', (octets: Buffer) =>
      setTimeout(() => {
        waiting--
        socket.end(octets[0] === 22 ? accepting([0xc02f, 0xc030, 0x002f])(readHello(octets)) : '')
      }, 10),
    )
  })
  const facts = await scanLocal(server.port)
  expect(facts).toMatchObject({
    speaks_tls: true,
    versions: {
      ssl2: { status: 'not_offered' },
      ssl3: { status: 'not_offered' },
      '1.2': { status: 'offered', order: 'server', complete: true, suites: [{ id: 0xc02f }, { id: 0xc030 }, { id: 0x2f }] },
      '1.3': { status: 'not_offered' },
    },
    secure_renegotiation: false,
    compression: false,
    staple: false,
    chains: [{ certificates: [Uint8Array.from(certificate)], count: 1, versions: ['1.2'], authentications: ['rsa'] }],
  })
  expect(most).toBe(2)
  expect(server.all()).toBe(facts.connections)
})

test('a server that follows the client, compresses, and only takes short lists', async () => {
  const known = new Set([0x0005, 0x0035, 0x002f])
  const server = await answering(hello => {
    const suite = hello.suites.find(one => known.has(one))
    if (hello.version !== 0x0301 || hello.suites.length > 120 || suite === undefined) return alert(40)
    const compression = hello.compression[0]!
    return records(
      Buffer.concat([serverHello({ version: 0x0301, suite, compression }), certificateMessage([certificate]), helloDone]),
    )
  })
  const facts = await scanLocal(server.port)
  expect(facts.versions['1.0']).toMatchObject({
    status: 'offered',
    order: 'client',
    suites: [{ id: 0x35 }, { id: 0x2f }, { id: 5 }],
  })
  expect([facts.versions['1.2'].status, facts.versions['1.1'].status, facts.compression]).toEqual([
    'not_offered',
    'not_offered',
    true,
  ])
})

test('SSLv2 lists its suites', async () => {
  const server = await serverThat(socket =>
    socket.once('data', octets => {
      if (octets[0] !== 0x80) return void socket.end(alert(70))
      socket.write(ssl2Hello(certificate))
    }),
  )
  const facts = await scanLocal(server.port)
  expect(suitesFound(facts)).toEqual({ ssl2: ['SSL_CK_DES_192_EDE3_CBC_WITH_MD5', 'SSL_CK_RC4_128_EXPORT40_WITH_MD5'] })
  expect(facts.chains).toMatchObject([{ versions: ['ssl2'], count: 1 }])
})

const foreverEvery20Ms = (octets: string) => (socket: Socket) => {
  let at = 0
  const timer = setInterval(() => void socket.write(octets[at++ % octets.length]!, 'latin1'), 20)
  socket.on('close', () => clearInterval(timer))
}
const repeating = (octets: Uint8Array) => (socket: Socket) => {
  const more = () => {
    while (!socket.destroyed && socket.write(octets));
  }
  socket.on('drain', more)
  more()
}
const hello12 = record(Buffer.concat([serverHello({ suite: 0x2f }), certificateMessage([certificate])]))

describe('a server of no use', () => {
  test.each<[name: string, talk: (socket: Socket) => void, errors: string[], connections: number]>([
    ['sends nothing', socket => void socket.resume(), ['timeout'], 2],
    ['sends a byte now and then', foreverEvery20Ms('\x16\x03\x01\x3f\xff\x02'), ['timeout'], 2],
    ['closes at once', socket => void socket.end(), [], 20],
    ['speaks HTTP', socket => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'), ['protocol'], 7],
    ['speaks another protocol', socket => void socket.write('SSH-2.0-OpenSSH_9.2\r\n'), ['protocol'], 7],
    ['refuses everything', socket => void socket.once('data', () => socket.end(alert(40))), [], 20],
    ['rejects every version', socket => void socket.once('data', () => socket.end(alert(70))), [], 4],
    [
      'warns forever',
      socket =>
        void socket.once('data', () => repeating(Buffer.concat(Array.from({ length: 1000 }, () => alert(112, 1))))(socket)),
      ['protocol'],
      7,
    ],
    ['sends long records', socket => void socket.write(record(Buffer.alloc(65_535))), ['protocol'], 7],
    ['sends endless messages', socket => repeating(record(handshake(99, Buffer.alloc(16_000))))(socket), ['protocol'], 7],
    ['never ends its handshake', socket => repeating(hello12)(socket), ['protocol'], 7],
  ])('%s', async (_, talk, errors, connections) => {
    const server = await serverThat(talk)
    const facts = await scanLocal(server.port, errors[0] === 'timeout' ? { connectionMs: 300 } : {})
    expect([facts.speaks_tls, kinds(facts.errors), facts.chains]).toEqual([false, errors, []])
    expect(facts.connections).toBeLessThanOrEqual(connections)
    expect(facts.connections).toBe(server.all())
  })

  test('is not there', async () => {
    const server = await serverThat(() => {})
    server.stop()
    expect(await scanLocal(server.port)).toMatchObject({
      speaks_tls: false,
      connections: 2,
      errors: [
        { phase: 'connect', kind: 'refused' },
        { phase: 'connect', kind: 'refused' },
      ],
      versions: { ssl2: { status: 'not_tested' }, '1.2': { status: 'not_tested' } },
    })
  })
})

test.each([
  ['chooses what was not offered', accepting([0x5600]), () => serverHello({ suite: 0x5600 })],
  ['chooses the same suite again and again', accepting([]), () => serverHello({ suite: 0xc02f })],
])('a server that %s is not believed', async (_, __, hello) => {
  const server = await answering(() => records(Buffer.concat([hello(), certificateMessage([certificate]), helloDone])))
  const facts = await scanLocal(server.port)
  expect(facts.errors[0]).toMatchObject({
    kind: 'protocol',
    message: expect.stringMatching(/^the server chose the suite 0x\w+, which was not offered$/),
  })
  expect(facts.connections).toBeLessThan(20)
})

test('a server that accepts everything in every version ends at the limit of connections', async () => {
  const server = await answering(({ version, suites: [suite] }) =>
    records(
      Buffer.concat([
        serverHello({ version: Math.min(version, 0x0303), suite: suite! }),
        certificateMessage([certificate]),
        helloDone,
      ]),
    ),
  )
  const facts = await scanLocal(server.port)
  expect(facts.connections).toBe(600)
  expect(facts.errors.map(one => one.message)).toContain('the scan needs more than 600 connections')
  expect(Object.values(facts.versions).filter(one => one.status === 'offered' && !one.complete).length).toBeGreaterThan(0)
})

test('a chain of a thousand certificates is cut, and one that is too long fails its handshake', async () => {
  const long = await answering(
    accepting(
      [0x2f],
      Array.from({ length: 1000 }, () => Buffer.alloc(200, 1)),
    ),
  )
  const { chains } = await scanLocal(long.port)
  expect(chains.map(one => [one.count, one.certificates.length])).toEqual([[1000, 20]])
  const longer = await answering(
    accepting(
      [0x2f],
      Array.from({ length: 1000 }, () => Buffer.alloc(1200, 1)),
    ),
  )
  const facts = await scanLocal(longer.port)
  expect(facts.versions['1.2'].status).toBe('not_tested')
  expect(facts.errors).toContainEqual({
    phase: 'versions',
    version: '1.2',
    kind: 'protocol',
    message: 'the server sent a handshake message of 1203003 bytes',
  })
})

test('a server with a different chain for each connection fills only a few', async () => {
  let at = 0
  const server = await answering(hello =>
    accepting([0xc02f, 0xc030, 0x2f, 0x35, 5, 10, 0x9c, 0x9d], [Buffer.alloc(300, ++at)])(hello),
  )
  expect((await scanLocal(server.port)).chains).toHaveLength(6)
})

test('a scan ends when it is aborted', async () => {
  const limit = new AbortController()
  const server = await serverThat(socket => socket.once('data', () => limit.abort()))
  const facts = await scanLocal(server.port, { signal: limit.signal })
  expect([facts.speaks_tls, kinds(facts.errors)]).toEqual([false, ['timeout']])
})

test('a server that never responds to HEAD ends with its connection, and the rest is kept', async () => {
  const limit = new AbortController()
  const port = await talker({ implicit: socket => void socket.on('data', () => limit.abort()) })
  const facts = await scanLocal(port, { signal: limit.signal })
  expect(facts).toMatchObject({ speaks_tls: true, http: null, errors: [{ phase: 'http', version: null, kind: 'timeout' }] })
  expect(facts.chains).toMatchObject([{ versions: ['1.2', '1.3'], count: 1 }])
})

test('HTTP headers are read, with the protocol that the server chooses', async () => {
  const headers =
    'HTTP/1.1 301 Moved\r\nStrict-Transport-Security: max-age=600; preload\r\nstrict-transport-security: max-age=1\r\n\r\n'
  const requests: string[] = []
  const port = await talker({
    implicit: socket =>
      void socket.on('data', (octets: Buffer) => {
        requests.push(octets.toString())
        socket.write(headers)
      }),
  })
  const facts = await scanLocal(port)
  expect(facts).toMatchObject({
    errors: [],
    http: { status: 301, hsts: { max_age_seconds: 600, include_subdomains: false, preload: true } },
  })
  expect(requests).toEqual([expect.stringMatching(new RegExp(`^HEAD / HTTP/1\\.1\\r\\nHost: a\\.test:${port}\\r\\n`))])
})

/** A server that sends a greeting, answers each packet with the next text, and starts TLS after the last. */
const afterwards = (greeting: string, ...answers: (string | Buffer)[]) =>
  serverThat(socket => {
    const left = [...answers]
    socket.write(greeting, 'latin1')
    socket.on('data', (octets: Buffer) => {
      const next = left.shift()
      if (next !== undefined) socket.write(next)
      // MySQL's clients send their part and the ClientHello without waiting.
      const hello = octets.subarray(Math.max(0, octets.indexOf(Buffer.from([22, 3]))))
      if (left.length > 0 || (next !== undefined && next !== '')) return
      if (hello[0] === 22) socket.write(accepting([0x002f])(readHello(hello)))
      else if (next === undefined || octets.length > 36) socket.end()
    })
  })

const xmppFeatures = `<?xml version='1.0'?><stream:stream xmlns='jabber:client'><stream:features><starttls xmlns='urn:ietf:params:xml:ns:xmpp-tls'/></stream:features>`
const mysqlGreeting = (capabilities: number) => {
  const content = Buffer.concat([
    Buffer.from('\x0a8.0.36\0', 'latin1'),
    ...[Buffer.alloc(4), Buffer.alloc(9), Buffer.from([capabilities & 0xff, capabilities >> 8]), Buffer.alloc(30)],
  ])
  return `${String.fromCharCode(content.length)}\0\0\0${content.toString('latin1')}`
}
const ldapResponse = (code: number) => Buffer.from([0x30, 0x0c, 2, 1, 1, 0x78, 7, 0x0a, 1, code, 4, 0, 4, 0])

describe('protocols that switch to TLS', () => {
  test.each<[protocol: ScanProtocol, greeting: string, ...answers: (string | Buffer)[]]>([
    ['smtp', '220-a\r\n220 b ESMTP\r\n', '250-a\r\n250 STARTTLS\r\n', '220 go ahead\r\n'],
    ['imap', '* OK\r\n', '* CAPABILITY IMAP4rev1 STARTTLS\r\na OK\r\n', 'a OK\r\n'],
    ['pop3', '+OK\r\n', '+OK\r\nSTLS\r\n.\r\n', '+OK\r\n'],
    ['ftp', '220-a\r\n 220 b\r\n220 c\r\n', '234 AUTH TLS\r\n'],
    ['ldap', '', ldapResponse(0)],
    ['postgres', '', 'S'],
    ['mysql', mysqlGreeting(0x0a00)],
    ['xmpp', '', xmppFeatures, `<proceed xmlns='urn:ietf:params:xml:ns:xmpp-tls'/>`],
    ['sieve', '"IMPLEMENTATION" "a"\r\n"STARTTLS"\r\nOK\r\n', 'OK "begin"\r\n'],
  ])('%s', async (protocol, greeting, ...answers) => {
    const packets = protocol === 'mysql' ? [...answers, ''] : answers
    const server = await afterwards(greeting, ...packets)
    const facts = await scanLocal(server.port, { protocol })
    expect(facts.errors.filter(one => one.phase !== 'chain')).toEqual([])
    expect([facts.speaks_tls, suitesFound(facts)['1.2'], facts.http]).toEqual([true, ['TLS_RSA_WITH_AES_128_CBC_SHA'], null])
  })

  test.each<
    [what: string, protocol: ScanProtocol, kind: string, message: RegExp, greeting: string, ...answers: (string | Buffer)[]]
  >([
    ['a greeting of a megabyte', 'smtp', 'protocol', /more than 65536 bytes/, '220-a\r\n'.repeat(160_000)],
    ['a greeting without an end', 'imap', 'protocol', /more than 65536 bytes/, `* OK ${'a'.repeat(1_000_000)}`],
    [
      'text after agreeing',
      'smtp',
      'protocol',
      /continued in plain text/,
      '220 a\r\n',
      '250-a\r\n250 STARTTLS\r\n',
      '220 go\r\n250 no\r\n',
    ],
    ['text after agreeing', 'postgres', 'protocol', /continued in plain text/, '', 'SS'],
    ['a greeting that asks to wait', 'ftp', 'status', /asks to wait/, '120 ready in 5 minutes\r\n'],
    ['a greeting that asks to wait', 'smtp', 'status', /code 421/, '421 try again later\r\n'],
    ['no TLS', 'smtp', 'tls', /does not offer STARTTLS/, '220 a\r\n', '250 a\r\n'],
    ['no TLS', 'ftp', 'status', /code 502/, '220 a\r\n', '502 no\r\n'],
    ['no TLS', 'ldap', 'tls', /result code 2/, '', ldapResponse(2)],
    ['no TLS', 'postgres', 'tls', /does not offer TLS/, '', 'N'],
    ['no TLS', 'mysql', 'tls', /does not offer TLS/, mysqlGreeting(0x0200)],
    ['no TLS', 'xmpp', 'tls', /does not offer STARTTLS/, '', xmppFeatures.replace(/<starttls.*\/>/, '')],
    ['a refusal', 'xmpp', 'tls', /responded to starttls/, '', xmppFeatures, '<failure/>'],
    ['no TLS', 'sieve', 'tls', /does not offer STARTTLS/, '"SASL" "PLAIN"\r\nOK\r\n'],
    ['a refusal', 'mysql', 'status', /Host is blocked/, '\x12\0\0\0\xff\x69\x04Host is blocked'],
    ['another protocol', 'ldap', 'protocol', /does not speak LDAP/, 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['another protocol', 'mysql', 'protocol', /does not speak MySQL/, `\x14\0\0\0${'a'.repeat(20)}`],
    ['another protocol', 'sieve', 'protocol', /does not speak ManageSieve/, 'SSH-2.0-OpenSSH_9.2\r\n'],
    ['another protocol', 'xmpp', 'protocol', /does not speak XMPP|closed/, `SSH-2.0${'x'.repeat(70_000)}`],
  ])('%s: %s', async (_, protocol, kind, message, greeting, ...answers) => {
    const server = await afterwards(greeting, ...answers)
    const facts = await scanLocal(server.port, { protocol })
    expect(facts.errors).toMatchObject([
      { phase: 'starttls', kind },
      { phase: 'starttls', kind },
    ])
    expect(facts.errors[0]!.message).toMatch(message)
    expect([facts.speaks_tls, facts.connections]).toEqual([false, 2])
  })
})

test('whatever a server says before TLS, a scan reports on the server', async () => {
  let says: Uint8Array[] = []
  const server = await serverThat(socket => {
    const left = [...says]
    const next = () => {
      const part = left.shift()
      if (part) socket.write(part)
      else socket.end()
    }
    next()
    socket.on('data', next)
    setTimeout(() => socket.end(), 30)
  })
  const beginnings = [
    '',
    '220 ',
    '220-a\r\n',
    '234 ',
    '* OK\r\n',
    'a OK\r\n',
    '+OK\r\n',
    'OK\r\n',
    '"STARTTLS"\r\n',
    'S',
    '<a></stream:features>',
    '\n\0\0\0\x0a',
    '0\x0c',
  ]
  const part = fc.oneof(
    fc.constantFrom(...beginnings).map(text => Buffer.from(text, 'latin1')),
    fc.uint8Array({ maxLength: 40 }).map(octets => Buffer.from(octets)),
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...upgradable), fc.array(part, { minLength: 1, maxLength: 4 }), async (protocol, parts) => {
      says = parts
      const { errors, speaks_tls } = await scanLocal(server.port, { protocol, connectionMs: 20_000 })
      expect([speaks_tls, errors.some(one => one.kind === 'internal')]).toEqual([false, false])
    }),
    { numRuns: 60 },
  )
})

const upgradable = ['smtp', 'imap', 'pop3', 'ftp', 'ldap', 'postgres', 'mysql', 'xmpp', 'sieve'] as const
