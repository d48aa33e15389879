import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { systemClock } from '../../src/core/clock'
import { openLog } from '../../src/core/log'
import { NameServer } from '../../src/features/dns/server/name-server'
import { call, fullToken, installation, startHub, until } from '../support/binary'
import { queryUdp, startBind, startKnot, type OtherServer } from '../support/name-servers'
import { digOutput, queryOctets, servedZone } from '../support/served-zone'

// Lines of a zone file. BIND and Knot serve the same zone, and our responses are compared to theirs.
const lines = `@ 3600 SOA ns1 hostmaster 7 7200 3600 1209600 300
@ 3600 NS ns1
@ 3600 NS ns2.far.test.
@ 3600 MX 10 mail
@ 3600 MX 20 mail.far.test.
@ 300 TXT "v=spf1 -all"
@ 300 CAA 0 issue "ca.test"
ns1 3600 A 192.0.2.53
mail 300 A 192.0.2.25
www 300 A 192.0.2.1
www 300 A 192.0.2.2
www 300 AAAA 2001:db8::1
a.b.deep 60 A 192.0.2.9
alias 60 CNAME www
twice 60 CNAME alias
away 60 CNAME host.elsewhere.test.
dangling 60 CNAME nothing
loop 60 CNAME pool
pool 60 CNAME loop
tosub 60 CNAME host.sub
todname 60 CNAME x.old
towild 60 CNAME any.wild
*.wild 60 A 192.0.2.7
*.wild 60 MX 10 mail
known.wild 60 TXT "here"
a.under.wild 60 TXT "here"
*.cw 60 CNAME www
sub.*.ent 60 TXT "not a wildcard"
sub 3600 NS ns.sub
sub 3600 NS ns1
sub 3600 NS ns.far.test.
sub 3600 DS 60485 8 1 2bb183af5f22588179a53b0a98631fad1a292118
ns.sub 3600 A 192.0.2.54
ns.sub 3600 AAAA 2001:db8::54
old 600 DNAME new
x.new 60 A 192.0.2.77
away-dname 600 DNAME far.test.
_sip._tcp 60 SRV 1 2 5060 mail
svc 60 HTTPS 1 . alpn="h2,h3" ipv4hint=192.0.2.1
long 60 TXT "${'x'.repeat(250)}" "${'y'.repeat(250)}" "${'z'.repeat(250)}"
ptr 60 PTR www
naptr 60 NAPTR 100 10 "u" "E2U+sip" "!^.*$!sip:info@z.test!" .`
const zone = servedZone('z.test.', lines)
const owners = ['@', ...new Set(lines.split('\n').map(line => line.split(' ')[0]!))].map(name =>
  name === '@' ? 'z.test.' : `${name}.z.test.`,
)
const created = owners.flatMap(name => [`nope.${name}`, `a.b.${name}`, name.replace('*', 'star')])
const names = [
  ...new Set([
    ...owners,
    ...created,
    'deep.z.test.',
    'b.deep.z.test.',
    '_tcp.z.test.',
    'ent.z.test.',
    'far.test.',
    'WwW.Z.tEsT.',
  ]),
]
const types = ['A', 'AAAA', 'CNAME', 'NS', 'SOA', 'MX', 'TXT', 'DS', 'DNAME', 'SRV', 'HTTPS', 'CAA', 'PTR', 'NAPTR', 'TYPE65280']

let ours: NameServer
const others: { name: string; server: OtherServer }[] = []
beforeAll(async () => {
  ours = new NameServer(
    { host: '127.0.0.1', port: 0, setting: '--dns-listen', responsesPerSecond: null, limitLoopback: false },
    { entry: resolve('src/bin/name-server.ts'), clock: systemClock, log: openLog('silent'), onCounts() {}, onEmpty() {} },
  )
  await ours.start()
  await ours.put(zone)
  ours.complete()
  const file = `$ORIGIN z.test.\n${lines}\n`
  others.push({ name: 'BIND', server: await startBind('z.test', file) })
  others.push({ name: 'Knot', server: await startKnot('z.test', file) })
}, 180_000)
afterAll(async () => {
  await ours?.stop()
  for (const { server } of others) await server.stop()
})

/** What resolvers use, ignoring record order and the case of names. */
async function queried(port: number, name: string, type: string) {
  const octets = await queryUdp(port, queryOctets(name, type))
  if (!octets) return null
  const { rcode, flags, answer, authority, additional } = digOutput(octets)
  const sorted = (records: string[]) => records.map(one => one.toLowerCase()).sort()
  const referral = !flags.includes('aa') && rcode === 'NOERROR'
  // Addresses of name servers outside the delegated zone are optional; BIND omits them.
  const glue = referral ? sorted(additional).filter(one => one.split(' ')[0]!.endsWith('.sub.z.test.')) : []
  return { rcode, flags, answer: sorted(answer), authority: sorted(authority), glue }
}

test.each(['BIND', 'Knot'])(
  '%s answers the same to every question',
  async which => {
    const { port } = others.find(({ name }) => name === which)!.server
    const differences: unknown[] = []
    // BIND returns SERVFAIL for a CNAME loop; Knot returns it without error, like we do.
    const requests = names.filter(name => which !== 'BIND' || !/^(loop|pool)\./.test(name))
    for (const name of requests) {
      const pairs = await Promise.all(
        types.map(async type => ({
          question: `${name} ${type}`,
          ours: await queried(ours.address!.port, name, type),
          theirs: await queried(port, name, type),
        })),
      )
      for (const pair of pairs) if (!Bun.deepEquals(pair.ours, pair.theirs)) differences.push(pair)
    }
    expect(requests.length * types.length).toBeGreaterThan(1000)
    expect(differences).toEqual([])
  },
  180_000,
)

describe('dig and dnsperf', () => {
  test('get responses from the compiled program', async () => {
    await using here = await installation()
    await using hub = await startHub(here)
    const token = await fullToken(here)
    const created = await call(hub, token, 'POST', '/v1/dns/zones', { name: 'example.com' })
    const records = `/v1/dns/zones/${created.body.id}/records`
    const values = Array.from({ length: 120 }, (_, n) => ({ content: `192.0.2.${n}` }))
    for (const { content } of values) await call(hub, token, 'POST', records, { type: 'A', name: 'many', content, ttl: 60 })
    const dig = async (...args: string[]) => {
      const run = Bun.spawn(['dig', '@127.0.0.1', '-p', String(hub.dnsPort), '+tries=1', ...args], { stdout: 'pipe' })
      return await new Response(run.stdout).text()
    }
    await until('the zone', async () => (await dig('+short', 'many.example.com')).split('\n').length === 121)
    const whole = await dig('many.example.com', '+tcp')
    expect(whole).toContain('status: NOERROR')
    expect(whole).toContain('flags: qr aa rd; QUERY: 1, ANSWER: 120, AUTHORITY: 0, ADDITIONAL: 1')
    expect(await dig('many.example.com', '+ignore')).toContain('flags: qr aa tc rd')
    expect(await dig('example.com', 'AXFR')).toContain('Transfer failed')
    expect(await dig('CH', 'TXT', 'version.bind')).toContain('status: REFUSED')
    expect(await dig('example.com', 'SOA', '+nocookie', '+edns=1', '+noednsnegotiation')).toContain('status: BADVERS')
    expect(await dig('example.com', 'SOA', '+nsid', '+subnet=192.0.2.0/24', '+dnssec')).toContain('flags: do; udp: 1232')
    for (const word of ['Warning', 'malformed', 'extra bytes']) expect(whole).not.toContain(word)

    writeFileSync(join(here.folder, 'queries'), 'www.example.com A\nmany.example.com AAAA\nexample.com SOA\nnone.example.com A\n')
    const perf = Bun.spawn(
      ['dnsperf', '-s', '127.0.0.1', '-p', String(hub.dnsPort), '-d', join(here.folder, 'queries'), '-l', '2', '-c', '4'],
      { stdout: 'pipe', stderr: 'pipe' },
    )
    const figures = await new Response(perf.stdout).text()
    expect(figures).toMatch(/Queries lost: +0 \(0\.00%\)/)
    expect(Number(/Queries completed: +(\d+)/.exec(figures)![1])).toBeGreaterThan(1000)
  }, 180_000)
})
