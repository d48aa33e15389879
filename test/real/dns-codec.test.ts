import { expect, test } from 'bun:test'
import { message, OPCODE } from '../../src/dns/message'
import { decodeMessage } from '../../src/dns/message-decode'
import { encodeMessage, encodeTransfer } from '../../src/dns/message-encode'
import { rdataOfFields, rdataOfText, textOf } from '../../src/dns/rdata'
import { signTsig, transferSigner, tsigLength, verifyTsig, type TsigAlgorithm, type TsigKey } from '../../src/dns/tsig'
import { typeCode } from '../../src/dns/type-codes'
import { readUpdate } from '../../src/dns/update'
import { readZoneFile, type ZoneRecord } from '../../src/dns/zone-file'
import { writeZoneFile } from '../../src/dns/zone-file-write'
import { bindFields, bindTypes, compiled as compiledZone } from '../support/compiled-zone'

// Our records, zone files and signatures, compared to BIND.

const ORIGIN = 'example.com.'
const SOA = '@ 300 IN SOA ns hostmaster 1 7200 1800 1209600 300\n@ 300 IN NS ns.example.net.\n'
const compiled = (text: string) => compiledZone(text, ORIGIN)

const generic = (rdata: Uint8Array) => `\\# ${rdata.length} ${Buffer.from(rdata).toString('hex')}`
const canonical = ({ name, type, ttl, rdata }: ZoneRecord) => `${name.toLowerCase()} ${type} ${ttl} ${generic(rdata)}`

test.each(bindTypes.filter(type => type !== 'SOA'))('%s: BIND reads our text and our octets as the same values', type => {
  const values = bindFields(type, 60, 7).map(fields => rdataOfFields(type, fields, null))
  const zone = (print: (rdata: Uint8Array) => string) =>
    compiled(SOA + values.map((rdata, at) => `r${at} 300 IN ${print(rdata)}\n`).join(''))
  const fromText = zone(rdata => `${type} ${textOf(type, rdata)}`)
  const fromOctets = zone(rdata => `TYPE${typeCode(type)} ${generic(rdata)}`)
  expect(fromText).toEqual(fromOctets)
  expect(fromText.length).toBeGreaterThanOrEqual(values.length)
  // And we read what BIND writes.
  const back = [...readZoneFile(fromText.join('\n'), { origin: null })].filter(({ name }) => /^r\d+\./.test(name))
  expect(back.map(canonical).sort()).toEqual(
    values.map((rdata, at) => canonical({ name: `r${at}.${ORIGIN}`, type, ttl: 300, rdata })).sort(),
  )
})

test('SOA: BIND reads our text and our octets as the same values', () => {
  for (const rdata of bindFields('SOA', 20, 7).map(fields => rdataOfFields('SOA', fields, null))) {
    const zone = (value: string) => compiled(`@ 300 IN ${value}\n@ 300 IN NS ns.example.net.\n`)
    expect(zone(`SOA ${textOf('SOA', rdata)}`)).toEqual(zone(`TYPE6 ${generic(rdata)}`))
  }
})

// Alternative notations.
test.each([
  ['LOC', '42 21 54 N 71 06 18 W -24m 30m'],
  ['LOC', '42 21 43.952 N 71 5 6.3 W -24.5 1m 200m 15m'],
  ['LOC', '52 N 0 E 10m'],
  ['LOC', '90 S 180 W -100000.00m 0.00m 90000000.00m 99m'],
  ['TXT', 'one "two \\"three\\"" f\\our \\065\\066 "a;b" ünï'],
  ['NAPTR', '100 10 "" "" "!^urn:cid:.+@([^\\\\.]+\\\\.)(.*)$!\\\\2!i" .'],
  ['NAPTR', '100 50 s http+I2L+I2C+I2R "" _http._tcp'],
  ['CERT', 'PKIX 12345 RSASHA256 ( MTIz NDU2 )'],
  ['DS', '60485 RSASHA1 1 ( 2BB183AF5F22588179A53B0A 98631FAD1A292118 )'],
  ['RRSIG', 'A RSASHA1 3 86400 20300322173103 20300220173103 2642 example.com. AAAA'],
  ['NSEC', 'host.example.com. ( A MX RRSIG NSEC TYPE1234 )'],
  ['NSEC3PARAM', '1 0 0 -'],
  ['SVCB', '1 foo alpn="h2,h3" port=8443 ipv4hint=192.0.2.1,192.0.2.2 key667="a b" no-default-alpn'],
  ['SVCB', '16 foo.example.org. alpn="f\\\\\\\\oo\\\\,bar,h2"'],
  ['SVCB', '1 foo.example.com. ipv6hint="2001:db8:122:344::192.0.2.33"'],
  ['HTTPS', '16 foo ( alpn=h2,h3-19 mandatory=ipv4hint,alpn ipv4hint=192.0.2.1 )'],
  ['CAA', '128 issuewild "ca.example.net; account=230123"'],
  ['CAA', '0 issue ";"'],
  ['URI', '10 1 "ftp://ftp1.example.com/public"'],
  ['HINFO', 'PC "Linux 6"'],
  ['AAAA', '2001:DB8:0:0:1::192.0.2.1'],
  ['MX', '010 Mail'],
  ['CNAME', 'a\\.b\\032c\\@\\$'],
  ['SSHFP', '4 2 123456789abcdef67890123456789abcdef67890 123456789ABCDEF678901234'],
])('%s %s is read the same by us and by BIND', (type, text) => {
  const ours = generic(rdataOfText(type, text, ORIGIN))
  expect(compiled(`${SOA}x 300 IN ${type} ${text}\n`)).toEqual(compiled(`${SOA}x 300 IN TYPE${typeCode(type)} ${ours}\n`))
})

test('zone files with all RFC 1035 syntax are read the same by BIND', () => {
  const text = `; a comment
$TTL 1h30m
@ IN SOA ns hostmaster ( 2026010101 ; serial
    1d 2h
    4w 1h )
   IN NS ns.example.net.
\t60 MX 10 mail
www 301 IN A 192.0.2.1
    IN 301 A 192.0.2.2
    301 A 192.0.2.3
$ORIGIN sub.example.com.
@ MX 10 mail
MAIL IN A 192.0.2.4
$ORIGIN deep
x CNAME @
in in A 192.0.2.5
300 300 A 192.0.2.6
a.b TXT one "two three" four\\ five "\\"" ; six
c TXT ( "seven"
 "eight;" )
$GENERATE 1-20/3 host-$ A 192.0.2.$
$GENERATE 1-2 a\${10,4,d} 60 IN CNAME b$
$GENERATE 9-10 x\${0,3,x}-\${0,2,o} A 192.0.2.1
$GENERATE 18-40/7 \${0,7,n}.r PTR p$
$GENERATE 171-172 \${0,0,N}.q PTR p\${-100,0,X}
`
  const zone = [...readZoneFile(text, { origin: ORIGIN })]
  const theirs = [...readZoneFile(compiled(text).join('\n'), { origin: null })]
  expect(zone.map(canonical).sort()).toEqual(theirs.map(canonical).sort())
  expect(compiled(writeZoneFile(zone, ORIGIN))).toEqual(compiled(text))
})

test('BIND reads our zone files unchanged', () => {
  const records = bindTypes
    .filter(type => type !== 'SOA')
    .flatMap((type, at) =>
      bindFields(type, 5, at).map((fields, number) => ({
        name: `${'\\000\\255 ab*'.slice(0, 8)}-${type}-${number}.${ORIGIN}`.replace(' ', '\\032'),
        type,
        ttl: at % 3 === 0 ? 60 : 300,
        rdata: rdataOfFields(type, fields, null),
      })),
    )
  const soa = [...readZoneFile(SOA, { origin: ORIGIN })]
  const theirs = [...readZoneFile(compiled(writeZoneFile([...soa, ...records], ORIGIN)).join('\n'), { origin: null })]
  expect(theirs.map(canonical).sort()).toEqual([...soa, ...records].map(canonical).sort())
})

const algorithms: TsigAlgorithm[] = ['hmac-md5', 'hmac-sha1', 'hmac-sha224', 'hmac-sha256', 'hmac-sha384', 'hmac-sha512']
const secret = Buffer.from('a secret of tests, of 32 octets.')
const seconds = () => Math.floor(Date.now() / 1000)

test.each(algorithms)('dig verifies a transfer with many messages signed with %s', async algorithm => {
  const key: TsigKey = { name: 'key.example.', algorithm, secret, allowMd5: true }
  const soa = [...readZoneFile(SOA, { origin: ORIGIN })].slice(0, 1)
  const hosts = [...readZoneFile('$TTL 60\n$GENERATE 1-2000 host-$ AAAA 2001:db8::$', { origin: ORIGIN })]
  const answers = [...soa, ...hosts, ...soa].map(record => ({ ...record, class: 1 }))
  let verified = 0
  let unsent: Uint8Array = new Uint8Array()
  using server = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      drain(socket) {
        unsent = unsent.subarray(socket.write(unsent))
      },
      data(socket, octets) {
        const requests = octets.subarray(2)
        const query = decodeMessage(requests)
        const verdict = verifyTsig(requests, query.tsig!, [key], { now: seconds() })
        if (!verdict.ok) return
        verified++
        const sign = transferSigner(key, verdict.mac)
        const first = message({ id: query.id, flags: { qr: true, aa: true }, question: query.question })
        const parts = [...encodeTransfer(first, answers, { limit: 4000, reserve: tsigLength(key) })].map(part =>
          framed(sign(part, seconds())),
        )
        const whole = Buffer.concat(parts)
        unsent = whole.subarray(socket.write(whole))
      },
    },
  })
  const keyText = `${algorithm}:key.example:${secret.toString('base64')}`
  const run = Bun.spawn(['dig', '@127.0.0.1', '-p', String(server.port), '-y', keyText, '+onesoa', ORIGIN, 'AXFR'])
  const text = await new Response(run.stdout).text()
  expect(verified).toBe(1)
  expect(text).not.toMatch(/WARNING|failed|could not|ERROR\b(?<!NOERROR)/)
  expect(text).toMatch(/XFR size: 2002 records \(messages [2-9]\d/)
  // Exclude the signatures that dig shows.
  const shown = text.split('\n').filter(line => /\sAAAA\s/.test(line))
  expect([...readZoneFile(shown.join('\n'), { origin: null })].map(canonical)).toEqual(hosts.map(canonical))
})

test('an update signed by nsupdate is verified and read, and our response is accepted', async () => {
  const key: TsigKey = { name: 'key.example.', algorithm: 'hmac-sha256', secret }
  let read: ReturnType<typeof readUpdate> | undefined
  const server = await Bun.udpSocket({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      error() {},
      data(socket, octets, port, address) {
        const update = decodeMessage(octets)
        const verdict = verifyTsig(octets, update.tsig!, [key], { now: seconds() })
        if (!verdict.ok) return
        read = readUpdate(update)
        const answer = encodeMessage(
          message({ id: update.id, opcode: OPCODE.UPDATE, flags: { qr: true }, question: update.question }),
        )
        socket.send(signTsig(answer, key, { time: seconds(), prior: verdict.mac }).message, port, address)
      },
    },
  })
  const run = Bun.spawn(['nsupdate', '-y', `hmac-sha256:key.example:${secret.toString('base64')}`], {
    stdin: 'pipe',
    stderr: 'pipe',
  })
  run.stdin.write(`server 127.0.0.1 ${server.port}
zone example.com
prereq nxrrset www.example.com A
prereq yxdomain example.com
prereq yxrrset mail.example.com A 192.0.2.9
update delete www.example.com AAAA
update delete old.example.com
update delete www.example.com TXT "x"
update add www.example.com 60 A 192.0.2.1
send
`)
  await run.stdin.end()
  expect([await run.exited, await new Response(run.stderr).text()]).toEqual([0, ''])
  server.close()
  expect(read).toEqual({
    zone: 'example.com.',
    prerequisites: [
      { kind: 'rrset_absent', name: 'www.example.com.', type: 'A' },
      { kind: 'name_in_use', name: 'example.com.' },
      { kind: 'rrset_is', name: 'mail.example.com.', type: 'A', rdata: rdataOfText('A', '192.0.2.9', null) },
    ],
    steps: [
      { kind: 'delete_rrset', name: 'www.example.com.', type: 'AAAA' },
      { kind: 'delete_name', name: 'old.example.com.' },
      { kind: 'delete_record', name: 'www.example.com.', type: 'TXT', rdata: rdataOfText('TXT', '"x"', null) },
      { kind: 'add', name: 'www.example.com.', type: 'A', ttl: 60, rdata: rdataOfText('A', '192.0.2.1', null) },
    ],
  })
})

function framed(octets: Uint8Array): Uint8Array {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(octets.length)
  return Buffer.concat([length, octets])
}
