import { afterAll, describe, expect, test } from 'bun:test'
import { createServer as createHttps } from 'node:https'
import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { InvalidCheckInput, type Facts } from '../../src/checks/check'
import { dns } from '../../src/checks/dns'
import { reverseName } from '../../src/checks/dns/reverse-name'
import { RCODE, type Message } from '../../src/dns/message'
import { decodeMessage } from '../../src/dns/message-decode'
import { checkContext } from '../support/check-context'
import { answerTo, scriptedServer, type Script } from '../support/scripted-server'
import { fixtureCa } from '../support/talker'

const stops: (() => unknown)[] = []
afterAll(() => {
  for (const stop of stops) stop()
})

type Options = Parameters<typeof dns.run>[1]

async function check(script: Script, options: Options = {}, target = 'www.example.test', withinMs = 5000): Promise<Facts> {
  const server = await scriptedServer(script)
  stops.push(() => server.stop())
  const input = { resolver: `a.test:${server.port}`, ...options }
  dns.validate!(input, dns.target(target))
  return await dns.run(dns.target(target), input, checkContext({ withinMs }))
}

const says =
  (values: string[], more: Partial<Message> = {}): Script =>
  ({ message: query }) => [answerTo(query, values, more)]

describe('a query', () => {
  test('that is answered is up and reports the answers', async () => {
    const facts = await check(says(['192.0.2.1', '192.0.2.2']))
    expect(facts).toMatchObject({ connected: true, error: null, address: '127.0.0.1' })
    expect(facts.dns).toEqual({ rcode: 'NOERROR', answers: ['192.0.2.1', '192.0.2.2'] })
    expect(facts.phases.first_byte).toBeGreaterThanOrEqual(0)
    expect(facts.request).toMatch(/^A www\.example\.test\. over udp from a\.test:\d+$/)
  })

  test.each(['udp', 'tcp'] as const)('can be sent to the name server of the hub over %s', async transport => {
    const server = await scriptedServer(says(['192.0.2.1']))
    stops.push(() => server.stop())
    const ask = (isNameServer: boolean) =>
      dns.run(
        'www.example.test',
        { resolver: `127.0.0.1:${server.port}`, transport },
        checkContext({ listeners: [{ address: '127.0.0.1', port: server.port, isNameServer }] }),
      )
    expect(await ask(true)).toMatchObject({ error: null, dns: { answers: ['192.0.2.1'] } })
    expect((await ask(false)).error?.kind).toBe('blocked_address')
  })

  test('contains the type, recursion and DNSSEC flags', async () => {
    const seen: Message[] = []
    const script: Script = ({ message: query }) => {
      seen.push(query)
      return [answerTo(query, ['10 mail.example.test.'])]
    }
    await check(script, { record_type: 'mx', recursion: false })
    await check(script, { record_type: 'MX', require_dnssec: true })
    expect(seen.map(({ flags, edns, question }) => [flags.rd, flags.ad, edns!.dnssec, question[0]!.type])).toEqual([
      [false, false, false, 'MX'],
      [true, true, true, 'MX'],
    ])
  })

  test('for an IP address uses the reverse name', async () => {
    const facts = await check(
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
    ['not all', ['192.0.2.1'], { expected_answers: ['192.0.2.1', '192.0.2.2'] }, 'received "192.0.2.1", expected "192.0.2.2"'],
    ['exactly these', ['192.0.2.1', '192.0.2.2'], { expected_answers: ['192.0.2.2', '192.0.2.1'], match: 'exact' }, null],
    [
      'one too many',
      ['192.0.2.1', '192.0.2.2'],
      { expected_answers: ['192.0.2.2'], match: 'exact' },
      'received unexpected "192.0.2.1"',
    ],
    ['a pattern', ['192.0.2.1'], { expected_answers: ['192.0.2.*'] }, null],
    ['another form', ['2001:db8::1'], { record_type: 'AAAA', expected_answers: ['2001:DB8:0::1'] }, null],
    ['no dot', ['10 mail.example.test.'], { record_type: 'MX', expected_answers: ['10 Mail.example.test'] }, null],
    ['text', ['v=spf1 -all'], { record_type: 'TXT', expected_answers: ['v=spf1 -all'] }, null],
    ['part of text', ['v=spf1 a -all'], { record_type: 'TXT', expected_answers: ['v=spf1 * -all'] }, null],
    ['no records', [], {}, 'no A records in the answer'],
    ['no records, allowed', [], { require_answer: false }, null],
  ])('is compared with the expected answers: %s', async (_, values, options, mismatch) => {
    const { error } = await check(says(values), options)
    if (mismatch === null) expect(error).toBeNull()
    else expect(error).toEqual({ kind: 'content', message: expect.stringContaining(mismatch) })
  })

  test.each<[string, Partial<Message>, Options, object | null]>([
    [
      'another response code',
      { rcode: RCODE.NXDOMAIN },
      {},
      { kind: 'status', message: 'response code is NXDOMAIN, expected NOERROR' },
    ],
    ['the expected response code', { rcode: RCODE.NXDOMAIN }, { expected_rcode: 'NXDOMAIN' }, null],
    ['no AA flag', {}, { require_authoritative: true }, { kind: 'content', message: 'the response is not authoritative' }],
    ['the AA flag', { flags: { aa: true } as Message['flags'] }, { require_authoritative: true }, null],
    ['no AD flag', {}, { require_dnssec: true }, { kind: 'content', message: expect.stringContaining('DNSSEC') }],
    ['the AD flag', { flags: { ad: true } as Message['flags'] }, { require_dnssec: true }, null],
  ])('answered with %s', async (_, more, options, error) => {
    const values = more.rcode === undefined ? ['192.0.2.1'] : []
    expect((await check(says(values, more), options)).error).toEqual(error as Facts['error'])
  })

  test('with a truncated response is repeated over TCP', async () => {
    const facts = await check(({ message: query, by }) => [
      answerTo(query, by === 'udp' ? [] : ['192.0.2.1'], by === 'udp' ? { flags: { tc: true } as Message['flags'] } : {}),
    ])
    expect(facts).toMatchObject({ error: null, dns: { answers: ['192.0.2.1'] } })
    expect(facts.request).toContain('then over tcp')
    expect(facts.phases.connect).toBeGreaterThanOrEqual(0)
  })

  test('ignores responses to other queries', async () => {
    const other: Script = ({ message: query, by }) => {
      const wrong = answerTo({ ...query, id: query.id ^ 1 }, ['192.0.2.66'])
      return by === 'udp' ? [wrong, Uint8Array.of(1, 2, 3), answerTo(query, ['192.0.2.1'])] : [wrong]
    }
    expect((await check(other)).dns!.answers).toEqual(['192.0.2.1'])
    expect((await check(other, { transport: 'tcp' })).error!.kind).toBe('protocol')
  })

  test('is repeated after a second, until the time limit', async () => {
    let times = 0
    const facts = await check(({ message: query }) => (++times < 2 ? [null] : [answerTo(query, ['192.0.2.1'])]))
    expect([facts.error, times]).toEqual([null, 2])
    const silent = await check(() => [null], {}, 'www.example.test', 300)
    expect(silent).toMatchObject({ connected: false, error: { kind: 'timeout' } })
  })

  test('to a closed port is refused', async () => {
    const server = await scriptedServer(() => [])
    server.stop()
    for (const transport of ['udp', 'tcp', 'dot'] as const) {
      const facts = await dns.run('a.test', { resolver: `127.0.0.1:${server.port}`, transport }, checkContext({ withinMs: 3000 }))
      expect([transport, facts.error!.kind]).toEqual([transport, 'refused'])
    }
  })

  test('without a resolver goes to the resolvers of the hub, in turn', async () => {
    const server = await scriptedServer(says(['192.0.2.1']))
    stops.push(() => server.stop())
    const dead = await scriptedServer(() => [])
    dead.stop()
    const resolvers = [dead, server].map(({ port }) => ({ address: '127.0.0.1', port }))
    expect((await dns.run('www.example.test', {}, checkContext({ resolvers }))).error).toBeNull()
    expect((await dns.run('www.example.test', {}, checkContext())).error!.kind).toBe('unsupported')
    const closed = await dns.run('www.example.test', {}, checkContext({ resolvers, policy: { allowPrivate: false } }))
    expect(closed.error!.kind).toBe('blocked_address')
  })

  test('also works over HTTP/1.1', async () => {
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
      return dns.run('www.example.test', { transport: 'doh', resolver, ca: fixtureCa }, checkContext())
    }
    expect(await ask('/dns-query')).toMatchObject({ error: null, dns: { answers: ['192.0.2.1'] }, tls: { version: '1.3' } })
    expect((await ask('/other')).error).toEqual({ kind: 'status', message: 'HTTP 404, expected 200' })
    expect(types[0]).toBe('POST application/dns-message')
  })
})

test.each<[string, Options, string, string]>([
  ['an unknown type', { record_type: 'NONE' }, 'a.test', '/options/record_type'],
  ['a query-only type', { record_type: 'AXFR' }, 'a.test', '/options/record_type'],
  ['an IP address with another type', { record_type: 'A' }, '192.0.2.1', '/options/record_type'],
  ['a value of another type', { expected_answers: ['mail.example.test'] }, 'a.test', '/options/expected_answers/0'],
  ['TLS without a resolver', { transport: 'dot' }, 'a.test', '/options/resolver'],
  ['an invalid resolver', { resolver: 'a b' }, 'a.test', '/options/resolver'],
  ['HTTPS without a URL', { transport: 'doh', resolver: '192.0.2.1' }, 'a.test', '/options/resolver'],
  ['an authoritative response from any resolver', { require_authoritative: true }, 'a.test', '/options/require_authoritative'],
])('%s is rejected', (_, options, target, pointer) => {
  expect(() => dns.validate!(options, target)).toThrow(expect.objectContaining({ pointer }))
})

test.each([
  ['WWW.Example.test.', 'www.example.test'],
  ['_dmarc.bücher.example', '_dmarc.xn--bcher-kva.example'],
  ['.', '.'],
  ['2001:DB8::1', '2001:db8::1'],
])('the target %s is stored as %s', (text, canonical) => {
  expect(dns.target(text)).toBe(canonical)
})

test.each(['', 'a..b', `${'x'.repeat(64)}.test`])('the target %j is rejected', text => {
  expect(() => dns.target(text)).toThrow(InvalidCheckInput)
})
