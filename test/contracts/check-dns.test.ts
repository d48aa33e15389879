import { afterAll, describe, expect, test } from 'bun:test'
import { createServer as createHttps } from 'node:https'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { CheckInputRefused, type Facts } from '../../src/checks/check'
import { dns } from '../../src/checks/dns'
import { reverseName } from '../../src/checks/dns/reverse-name'
import { RCODE, type Message } from '../../src/core/dns/message'
import { decodeMessage } from '../../src/core/dns/message-decode'
import { around } from '../support/around'
import { answerTo, scriptedServer, type Script } from '../support/scripted-server'
import { fixtureCa } from '../support/talker'

const stops: (() => unknown)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

type Options = Parameters<typeof dns.run>[1]

async function asked(script: Script, options: Options = {}, target = 'www.example.test', withinMs = 5000): Promise<Facts> {
  const server = await scriptedServer(script)
  stops.push(() => server.stop())
  const given = { resolver: `a.test:${server.port}`, ...options }
  dns.refuse!(given, dns.target(target))
  return await dns.run(dns.target(target), given, around({ withinMs }))
}

const says =
  (values: string[], more: Partial<Message> = {}): Script =>
  ({ message: query }) => [answerTo(query, values, more)]

describe('a question', () => {
  test('that is answered is up, with its answers', async () => {
    const facts = await asked(says(['192.0.2.1', '192.0.2.2']))
    expect(facts).toMatchObject({ connected: true, error: null, address: '127.0.0.1' })
    expect(facts.dns).toEqual({ rcode: 'NOERROR', answers: ['192.0.2.1', '192.0.2.2'] })
    expect(facts.phases.first_byte).toBeGreaterThanOrEqual(0)
    expect(facts.request).toMatch(/^A www\.example\.test\. by udp of a\.test:\d+$/)
  })

  test('says what is wanted: the type, recursion and DNSSEC', async () => {
    const seen: Message[] = []
    const script: Script = ({ message: query }) => {
      seen.push(query)
      return [answerTo(query, ['10 mail.example.test.'])]
    }
    await asked(script, { record_type: 'mx', recursion: false })
    await asked(script, { record_type: 'MX', require_dnssec: true })
    expect(seen.map(({ flags, edns, question }) => [flags.rd, flags.ad, edns!.dnssec, question[0]!.type])).toEqual([
      [false, false, false, 'MX'],
      [true, true, true, 'MX'],
    ])
  })

  test('of an address is that of its reverse name', async () => {
    const facts = await asked(
      says(['host.example.test.']),
      { record_type: 'PTR', expected_answers: ['host.example.test'] },
      '192.0.2.7',
    )
    expect(facts.error).toBeNull()
    expect(facts.request).toContain('PTR 7.2.0.192.in-addr.arpa.')
    expect(reverseName('2001:db8::1')).toBe(`1.${'0.'.repeat(23)}8.b.d.0.1.0.0.2.ip6.arpa.`)
  })

  test.each<[string, string[], Options, string | null]>([
    ['one of several', ['192.0.2.1', '192.0.2.2'], { expected_answers: ['192.0.2.9', '192.0.2.2'], match: 'any' }, null],
    ['none of several', ['192.0.2.1'], { expected_answers: ['192.0.2.9', '192.0.2.8'], match: 'any' }, 'one of'],
    ['all', ['192.0.2.1', '192.0.2.2'], { expected_answers: ['192.0.2.2'] }, null],
    [
      'not all',
      ['192.0.2.1'],
      { expected_answers: ['192.0.2.1', '192.0.2.2'] },
      '"192.0.2.1" came where "192.0.2.2" is expected',
    ],
    ['exactly these', ['192.0.2.1', '192.0.2.2'], { expected_answers: ['192.0.2.2', '192.0.2.1'], match: 'exact' }, null],
    [
      'one too many',
      ['192.0.2.1', '192.0.2.2'],
      { expected_answers: ['192.0.2.2'], match: 'exact' },
      '"192.0.2.1" came, which is not',
    ],
    ['a pattern', ['192.0.2.1'], { expected_answers: ['192.0.2.*'] }, null],
    ['another form', ['2001:db8::1'], { record_type: 'AAAA', expected_answers: ['2001:DB8:0::1'] }, null],
    ['no dot', ['10 mail.example.test.'], { record_type: 'MX', expected_answers: ['10 Mail.example.test'] }, null],
    ['text', ['v=spf1 -all'], { record_type: 'TXT', expected_answers: ['v=spf1 -all'] }, null],
    ['part of text', ['v=spf1 a -all'], { record_type: 'TXT', expected_answers: ['v=spf1 * -all'] }, null],
    ['nothing', [], {}, 'there is no record of the type A'],
    ['nothing, as it may', [], { require_answer: false }, null],
  ])('is held against what is expected: %s', async (_, values, options, fault) => {
    const { error } = await asked(says(values), options)
    if (fault === null) expect(error).toBeNull()
    else expect(error).toEqual({ kind: 'content', message: expect.stringContaining(fault) })
  })

  test.each<[string, Partial<Message>, Options, object | null]>([
    ['another code', { rcode: RCODE.NXDOMAIN }, {}, { kind: 'status', message: 'NXDOMAIN where NOERROR is expected' }],
    ['the code that is expected', { rcode: RCODE.NXDOMAIN }, { expected_rcode: 'NXDOMAIN' }, null],
    ['no authority', {}, { require_authoritative: true }, { kind: 'content', message: 'the answer is not authoritative' }],
    ['authority', { flags: { aa: true } as Message['flags'] }, { require_authoritative: true }, null],
    ['no proof', {}, { require_dnssec: true }, { kind: 'content', message: expect.stringContaining('DNSSEC') }],
    ['a proof', { flags: { ad: true } as Message['flags'] }, { require_dnssec: true }, null],
  ])('that is answered with %s', async (_, more, options, error) => {
    const values = more.rcode === undefined ? ['192.0.2.1'] : []
    expect((await asked(says(values, more), options)).error).toEqual(error as Facts['error'])
  })

  test('whose answer does not fit goes by TCP', async () => {
    const facts = await asked(({ message: query, by }) => [
      answerTo(query, by === 'udp' ? [] : ['192.0.2.1'], by === 'udp' ? { flags: { tc: true } as Message['flags'] } : {}),
    ])
    expect(facts).toMatchObject({ error: null, dns: { answers: ['192.0.2.1'] } })
    expect(facts.request).toContain('by tcp since')
    expect(facts.phases.connect).toBeGreaterThanOrEqual(0)
  })

  test('is not answered by what belongs to another', async () => {
    const other: Script = ({ message: query, by }) => {
      const wrong = answerTo({ ...query, id: query.id ^ 1 }, ['192.0.2.66'])
      return by === 'udp' ? [wrong, Uint8Array.of(1, 2, 3), answerTo(query, ['192.0.2.1'])] : [wrong]
    }
    expect((await asked(other)).dns!.answers).toEqual(['192.0.2.1'])
    expect((await asked(other, { transport: 'tcp' })).error!.kind).toBe('protocol')
  })

  test('is asked once more after a second, and waited for to the end', async () => {
    let times = 0
    const facts = await asked(({ message: query }) => (++times < 2 ? [null] : [answerTo(query, ['192.0.2.1'])]))
    expect([facts.error, times]).toEqual([null, 2])
    const silent = await asked(() => [null], {}, 'www.example.test', 300)
    expect(silent).toMatchObject({ connected: false, error: { kind: 'timeout' } })
  })

  test('to a closed port is refused', async () => {
    const server = await scriptedServer(() => [])
    server.stop()
    for (const transport of ['udp', 'tcp', 'dot'] as const) {
      const facts = await dns.run('a.test', { resolver: `127.0.0.1:${server.port}`, transport }, around({ withinMs: 3000 }))
      expect([transport, facts.error!.kind]).toEqual([transport, 'refused'])
    }
  })

  test('without a server goes to the resolvers of the hub, in turn', async () => {
    const server = await scriptedServer(says(['192.0.2.1']))
    stops.push(() => server.stop())
    const dead = await scriptedServer(() => [])
    dead.stop()
    const resolvers = [dead, server].map(({ port }) => ({ address: '127.0.0.1', port }))
    expect((await dns.run('www.example.test', {}, around({ resolvers }))).error).toBeNull()
    expect((await dns.run('www.example.test', {}, around())).error!.kind).toBe('unsupported')
    const closed = await dns.run('www.example.test', {}, around({ resolvers, policy: { allowPrivate: false } }))
    expect(closed.error!.kind).toBe('blocked_address')
  })

  test('goes by HTTP/1.1 too', async () => {
    const fixture = (name: string) => readFileSync(new URL(`../fixtures/tls/${name}`, import.meta.url))
    const types: string[] = []
    const server = createHttps({ key: fixture('two-names.key'), cert: fixture('two-names.pem') }, (request, response) => {
      const parts: Buffer[] = []
      types.push(`${request.method} ${request.headers['content-type']}`)
      request.on('data', part => parts.push(part))
      request.on('end', () => {
        if (request.url !== '/dns-query') return response.writeHead(404).end()
        response.writeHead(200, { 'Content-Type': 'application/dns-message' })
        response.end(answerTo(decodeMessage(Buffer.concat(parts)), ['192.0.2.1']))
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    stops.push(() => server.close())
    const ask = (path: string) => {
      const resolver = `https://a.test:${(server.address() as AddressInfo).port}${path}`
      return dns.run('www.example.test', { transport: 'doh', resolver, ca: fixtureCa }, around())
    }
    expect(await ask('/dns-query')).toMatchObject({ error: null, dns: { answers: ['192.0.2.1'] }, tls: { version: '1.3' } })
    expect((await ask('/other')).error).toEqual({ kind: 'status', message: 'HTTP 404 where 200 is expected' })
    expect(types[0]).toBe('POST application/dns-message')
  })
})

test.each<[string, Options, string, string]>([
  ['a type that is none', { record_type: 'NONE' }, 'a.test', '/options/record_type'],
  ['a type of questions alone', { record_type: 'AXFR' }, 'a.test', '/options/record_type'],
  ['an address with another type', { record_type: 'A' }, '192.0.2.1', '/options/record_type'],
  ['a value of another type', { expected_answers: ['mail.example.test'] }, 'a.test', '/options/expected_answers/0'],
  ['TLS without a server', { transport: 'dot' }, 'a.test', '/options/resolver'],
  ['a server that is none', { resolver: 'a b' }, 'a.test', '/options/resolver'],
  ['HTTPS without a URL', { transport: 'doh', resolver: '192.0.2.1' }, 'a.test', '/options/resolver'],
  ['authority of any resolver', { require_authoritative: true }, 'a.test', '/options/require_authoritative'],
])('%s is refused', (_, options, target, pointer) => {
  expect(() => dns.refuse!(options, target)).toThrow(expect.objectContaining({ pointer }))
})

test.each([
  ['WWW.Example.test.', 'www.example.test'],
  ['_dmarc.bücher.example', '_dmarc.xn--bcher-kva.example'],
  ['.', '.'],
  ['2001:DB8::1', '2001:db8::1'],
])('the target %s is kept as %s', (text, kept) => {
  expect(dns.target(text)).toBe(kept)
})

test.each(['', 'a..b', `${'x'.repeat(64)}.test`])('the target %j is refused', text => {
  expect(() => dns.target(text)).toThrow(CheckInputRefused)
})
