import { afterAll, describe, expect, test } from 'bun:test'
import { createServer } from 'node:https'
import { http } from '../../src/checks/http'
import type { HttpOptions } from '../../src/checks/http/options'
import { message, RCODE } from '../../src/dns/message'
import { encodeMessage } from '../../src/dns/message-encode'
import { rdataOfContent } from '../../src/dns/rdata'
import { checkContext } from '../support/check-context'
import { ca, closeTargets, listening, refusalOf, run, served, shown } from '../support/http-targets'
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

/** A resolver that only knows the IPv4 addresses of these names. */
const knowing = (names: Record<string, string>) =>
  resolver(({ message: query }) => {
    const { name, type } = query.question[0]!
    const address = names[name.replace(/\.$/, '')]
    if (address === undefined) return [answerTo(query, [], { rcode: RCODE.NXDOMAIN })]
    return [answerTo(query, type === 'A' ? [address] : [])]
  })

const questions = ({ requests }: ScriptedServer) =>
  requests.map(({ message: { question }, by }) => `${question[0]!.type} ${question[0]!.name} by ${by}`)

describe('a custom resolver', () => {
  test('is queried for the host instead of the system resolvers, every time', async () => {
    const [names, target] = [
      await knowing({ 'shop.example.com': '127.0.0.1' }),
      await served((_, response) => response.end('in')),
    ]
    const input = checkContext()
    const url = http.target(`http://shop.example.com:${target.port}/`)
    for (const turn of [1, 2]) {
      const facts = await http.run(url, { resolver: `a.test:${names.port}` }, input)
      expect(facts).toMatchObject({ error: null, body: 'in', address: '127.0.0.1', connected: true })
      expect(facts.phases.dns).toBeGreaterThan(0)
      expect(questions(names)).toHaveLength(turn)
    }
    expect(questions(names)[0]).toBe('A shop.example.com. by udp')
    expect(target.headers[0]!.host).toBe(`shop.example.com:${target.port}`)
    // The system resolvers only see the name of the custom resolver.
    expect(new Set(input.lookups)).toEqual(new Set(['a.test']))
  })

  test('does not change the name that the certificate must be for', async () => {
    const names = await knowing({ 'a.test': '127.0.0.1', 'b.test': '127.0.0.1', 'c.test': '127.0.0.1' })
    const port = await listening(createServer(shown('two-names'), (_, response) => response.end('in')))
    const seen = (host: string) => run(`https://${host}:${port}/`, { ca, resolver: `127.0.0.1:${names.port}` })
    expect(await seen('a.test')).toMatchObject({ error: null, body: 'in' })
    expect((await seen('c.test')).error?.kind).toBe('certificate')
  })

  test('is also queried for the hosts of redirects, and over TCP if configured', async () => {
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

  test('follows aliases, and is not queried for IP addresses', async () => {
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
    expect(names.requests).toHaveLength(1)
  })

  test('that does not know the name, has no address or fails is distinguished from the target', async () => {
    const names = await knowing({ 'v4.example.com': '127.0.0.1' })
    const failing = await resolver(({ message: query }) => [answerTo(query, [], { rcode: RCODE.SERVFAIL })])
    const error = async (host: string, options: HttpOptions) => (await run(`http://${host}:1/`, options)).error
    expect(await error('gone.example.com', { resolver: `127.0.0.1:${names.port}` })).toEqual({
      kind: 'dns',
      message: 'resolver: the hostname does not exist (NXDOMAIN)',
    })
    expect(await error('v4.example.com', { resolver: `127.0.0.1:${names.port}`, ip_family: 6 })).toEqual({
      kind: 'dns',
      message: 'resolver: the host has no IPv6 address',
    })
    expect(await error('v4.example.com', { resolver: `127.0.0.1:${failing.port}` })).toEqual({
      kind: 'dns',
      message: 'resolver: server responded with SERVFAIL',
    })
  })

  test('is not queried for an invalid DNS name', async () => {
    const names = await knowing({})
    const { error } = await run(`http://${'a'.repeat(64)}.example.com:1/`, { resolver: `127.0.0.1:${names.port}` })
    expect(error).toEqual({
      kind: 'dns',
      message: 'resolver: the host is not a valid DNS name, or the response could not be parsed',
    })
    expect(names.requests).toEqual([])
  })

  test('that does not respond fails at the time limit', async () => {
    const silent = await resolver(() => [null])
    const facts = await run('http://slow.example.com:1/', { resolver: `127.0.0.1:${silent.port}` }, { withinMs: 400 })
    expect(facts.error).toEqual({ kind: 'timeout', message: 'resolver: timed out waiting for the response' })
    expect(facts.connected).toBe(false)
  })

  test('does not bypass the network policy, neither for itself nor for its answers', async () => {
    const names = await knowing({ 'inside.example.com': '10.0.0.5' })
    const resolverOnly = { policy: { allowPrivate: false, allowRanges: ['127.0.0.0/8'] } }
    const options = { resolver: `127.0.0.1:${names.port}` }
    expect((await run('http://inside.example.com:1/', options, resolverOnly)).error?.kind).toBe('blocked_address')
    expect(names.requests).toHaveLength(1)
    expect((await run('http://inside.example.com:1/', options, { policy: { allowPrivate: false } })).error?.kind).toBe(
      'blocked_address',
    )
    expect(names.requests).toHaveLength(1)
  })
})

test.each([
  ['a host with an invalid port', { resolver: '9.9.9.9:99999' }],
  ['an http URL', { resolver: 'http://dns.example.net/' }],
  ['a URL with a user', { resolver: 'https://me@dns.example.net/' }],
  [
    'together with a tunnel',
    {
      resolver: '9.9.9.9',
      ssh_tunnel: { host: 'a.test', username: 'me', password: 'secret', host_key: `SHA256:${'a'.repeat(43)}` },
    },
  ],
  ['together with a proxy', { resolver: '9.9.9.9', proxy: { url: 'http://proxy.test:3128' } }],
] as [string, HttpOptions][])('rejects the resolver: %s', (_, options) => {
  expect(refusalOf(options)?.pointer).toBe('/options/resolver')
})

test.each([
  '9.9.9.9',
  'ns1.example.com:5353',
  '[2620:fe::fe]:53',
  'tls://dns.example.net',
  'TCP://9.9.9.9',
  'https://dns.example.net/q',
])('accepts the resolver: %s', resolver =>
  expect(() => http.validate!({ resolver }, http.target('https://a.test/'))).not.toThrow(),
)
