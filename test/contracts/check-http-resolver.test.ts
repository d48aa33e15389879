import { afterAll, describe, expect, test } from 'bun:test'
import { createServer } from 'node:https'
import { CheckInputRefused } from '../../src/checks/check'
import { http } from '../../src/checks/http'
import type { HttpOptions } from '../../src/checks/http/options'
import { message, RCODE } from '../../src/core/dns/message'
import { encodeMessage } from '../../src/core/dns/message-encode'
import { rdataOfContent } from '../../src/core/dns/rdata'
import { around } from '../support/around'
import { closeTargets, ca, listening, run, served, shown } from '../support/http-targets'
import { answerTo, recordOf, scriptedServer, type Script, type ScriptedServer } from '../support/scripted-server'

const stops: (() => void)[] = []
afterAll(() => {
  closeTargets()
  for (const stop of stops) stop()
})

async function resolver(script: Script): Promise<ScriptedServer> {
  const server = await scriptedServer(script)
  stops.push(() => server.stop())
  return server
}

/** A resolver that knows these names by their IPv4 addresses, and nothing else of them. */
const knowing = (names: Record<string, string>) =>
  resolver(({ message: query }) => {
    const { name, type } = query.question[0]!
    const address = names[name.replace(/\.$/, '')]
    if (address === undefined) return [answerTo(query, [], { rcode: RCODE.NXDOMAIN })]
    return [answerTo(query, type === 'A' ? [address] : [])]
  })

const questions = ({ asked }: ScriptedServer) =>
  asked.map(({ message: { question }, by }) => `${question[0]!.type} ${question[0]!.name} by ${by}`)

describe('a resolver of its own', () => {
  test('is asked for the host in place of those of the machine, each time', async () => {
    const [names, target] = [
      await knowing({ 'shop.example.com': '127.0.0.1' }),
      await served((_, response) => response.end('in')),
    ]
    const given = around()
    const url = http.target(`http://shop.example.com:${target.port}/`)
    for (const turn of [1, 2]) {
      const facts = await http.run(url, { resolver: `a.test:${names.port}` }, given)
      expect(facts).toMatchObject({ error: null, body: 'in', address: '127.0.0.1', connected: true })
      expect(facts.phases.dns).toBeGreaterThan(0)
      expect(questions(names)).toHaveLength(turn)
    }
    expect(questions(names)[0]).toBe('A shop.example.com. by udp')
    expect(target.headers[0]!.host).toBe(`shop.example.com:${target.port}`)
    // The name of the resolver itself alone.
    expect(new Set(given.asked)).toEqual(new Set(['a.test']))
  })

  test('leads over TLS to a certificate for the name', async () => {
    const names = await knowing({ 'a.test': '127.0.0.1', 'b.test': '127.0.0.1', 'c.test': '127.0.0.1' })
    const port = await listening(createServer(shown('two-names'), (_, response) => response.end('in')))
    const seen = (host: string) => run(`https://${host}:${port}/`, { ca, resolver: `127.0.0.1:${names.port}` })
    expect(await seen('a.test')).toMatchObject({ error: null, body: 'in' })
    expect((await seen('c.test')).error?.kind).toBe('certificate')
  })

  test('is asked for the hosts of redirects too, and over TCP where that is said', async () => {
    const names = await knowing({ 'one.example.com': '127.0.0.1', 'two.example.com': '127.0.0.1' })
    const target: { port: number } = await served((request, response) => {
      if (request.headers.host!.startsWith('one.'))
        response.writeHead(302, { location: `http://two.example.com:${target.port}/` })
      response.end()
    })
    const options = { resolver: `tcp://127.0.0.1:${names.port}` }
    expect((await run(`http://one.example.com:${target.port}/`, options)).error).toBeNull()
    expect(questions(names)).toEqual(['A one.example.com. by tcp', 'A two.example.com. by tcp'])
  })

  test('follows aliases, and is not asked for addresses', async () => {
    const target = await served((_, response) => response.end('in'))
    const names = await resolver(({ message: query }) => {
      const { question, id, flags } = query
      const alias = recordOf(question[0]!.name, 60, 'CNAME', rdataOfContent('CNAME', 'edge.example.net.', '.'))
      const address = recordOf('edge.example.net.', 60, 'A', rdataOfContent('A', '127.0.0.1', '.'))
      return [encodeMessage(message({ id, question, flags: { ...flags, qr: true }, answer: [alias, address] }))]
    })
    const options = { resolver: `127.0.0.1:${names.port}` }
    expect((await run(`http://www.example.com:${target.port}/`, options)).error).toBeNull()
    expect((await run(`http://127.0.0.1:${target.port}/`, options)).error).toBeNull()
    expect(names.asked).toHaveLength(1)
  })

  test('that knows the name not, no address of it, or cannot say is told apart from the target', async () => {
    const names = await knowing({ 'v4.example.com': '127.0.0.1' })
    const failing = await resolver(({ message: query }) => [answerTo(query, [], { rcode: RCODE.SERVFAIL })])
    const error = async (host: string, options: HttpOptions) => (await run(`http://${host}:1/`, options)).error
    expect(await error('gone.example.com', { resolver: `127.0.0.1:${names.port}` })).toEqual({
      kind: 'dns',
      message: 'resolver: the host name does not exist (NXDOMAIN)',
    })
    expect(await error('v4.example.com', { resolver: `127.0.0.1:${names.port}`, ip_family: 6 })).toEqual({
      kind: 'dns',
      message: 'resolver: the host has no IPv6 address',
    })
    expect(await error('v4.example.com', { resolver: `127.0.0.1:${failing.port}` })).toEqual({
      kind: 'dns',
      message: 'resolver: it answered SERVFAIL',
    })
  })

  test('that says nothing ends with the time of the check', async () => {
    const silent = await resolver(() => [null])
    const facts = await run('http://slow.example.com:1/', { resolver: `127.0.0.1:${silent.port}` }, { withinMs: 400 })
    expect(facts.error).toEqual({ kind: 'timeout', message: 'resolver: no answer within the time limit' })
    expect(facts.connected).toBe(false)
  })

  test('opens nothing that the network policy closes: neither itself nor where it leads', async () => {
    const names = await knowing({ 'inside.example.com': '10.0.0.5' })
    const resolverOnly = { policy: { allowPrivate: false, allowRanges: ['127.0.0.0/8'] } }
    const options = { resolver: `127.0.0.1:${names.port}` }
    expect((await run('http://inside.example.com:1/', options, resolverOnly)).error?.kind).toBe('blocked_address')
    expect(names.asked).toHaveLength(1)
    expect((await run('http://inside.example.com:1/', options, { policy: { allowPrivate: false } })).error?.kind).toBe(
      'blocked_address',
    )
    expect(names.asked).toHaveLength(1)
  })
})

test.each([
  ['a host with a port that is none', { resolver: '9.9.9.9:99999' }],
  ['a URL of HTTP', { resolver: 'http://dns.example.net/' }],
  ['a URL with a user', { resolver: 'https://me@dns.example.net/' }],
  [
    'one beside a tunnel',
    {
      resolver: '9.9.9.9',
      ssh_tunnel: { host: 'a.test', username: 'me', password: 'secret', host_key: `SHA256:${'a'.repeat(43)}` },
    },
  ],
  ['one beside a proxy', { resolver: '9.9.9.9', proxy: { url: 'http://proxy.test:3128' } }],
] as [string, HttpOptions][])('is refused as resolver: %s', (_, options) => {
  let refused: unknown
  try {
    http.refuse!(options, http.target('https://a.test/'))
  } catch (error) {
    refused = error
  }
  expect(refused).toBeInstanceOf(CheckInputRefused)
  expect((refused as CheckInputRefused).pointer).toBe('/options/resolver')
})

test.each([
  '9.9.9.9',
  'ns1.example.com:5353',
  '[2620:fe::fe]:53',
  'tls://dns.example.net',
  'TCP://9.9.9.9',
  'https://dns.example.net/q',
])('is taken as resolver: %s', resolver => expect(() => http.refuse!({ resolver }, http.target('https://a.test/'))).not.toThrow())
