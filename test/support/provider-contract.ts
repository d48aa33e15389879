import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rdataOfText, rdataOfTxt, textOf, txtValue } from '../../src/dns/rdata'
import {
  ProviderError,
  type DnsProvider,
  type Op,
  type OpResult,
  type ProviderFailure,
  type ProviderRrset,
  type ProviderZone,
  type Snapshot,
} from '../../src/features/dns/providers/provider'
import { rrsetKey } from '../../src/features/dns/zones/names'

// Promises of every kind of provider, tested with a real server or a proven double.

/** A server behind a provider, which a suite can also access directly. */
export interface ServerUnderTest {
  /** Creates a zone for one test, with only its SOA and apex NS. @returns its name without the trailing dot */
  makeZone(): Promise<string>
  /** Reads the rrsets directly, without the SOA. */
  look(zone: string): Promise<ProviderRrset[]>
  /** Makes an external change to an rrset; null deletes it. Values are zone file text with absolute names. */
  changeExternally(zone: string, name: string, type: string, ttl: number, values: readonly string[] | null): Promise<void>
  /** Types that this server doesn't support, although its protocol could. */
  lacks?: readonly string[]
  /** Creates something that is not a plain rrset; absent if the server has no such thing. */
  makeForeign?(zone: string): Promise<{ name: string; type: string }>
  /** Simulated failures, until `calm`; absent if the server doesn't support them. */
  trouble?: Trouble
  stop(): Promise<void> | void
}

/** Failures that can be simulated, until `calm`. */
export interface Trouble {
  /** Responds that the rate limit is exceeded. */
  throttle(): unknown
  /** Sends an incomplete zone in a way that shows in its format. */
  shorten(): unknown
  /** Processes requests without responding. */
  fallSilent(): unknown
  calm(): unknown
}

/** A provider with a server behind it. */
export interface ProviderUnderTest extends ServerUnderTest {
  provider: DnsProvider
  /** The same provider with a wrong credential. */
  unauthorized: DnsProvider
  /** The same provider at an address where nothing listens. */
  unreachable: DnsProvider
}

/** Sample values of all types, before and after an update. */
export const samples: [type: string, name: string, before: string[], after: string[]][] = [
  ['A', 'a', ['192.0.2.1'], ['192.0.2.2', '192.0.2.3']],
  ['AAAA', 'aaaa', ['2001:db8::1'], ['2001:db8::2', '2001:db8:0:1::']],
  ['CNAME', 'cname', ['one.example.net.'], ['two.example.net.']],
  ['ALIAS', 'alias', ['one.example.net.'], ['two.example.net.']],
  ['DNAME', 'dname', ['one.example.net.'], ['two.example.net.']],
  ['NS', 'ns', ['ns1.example.net.'], ['ns2.example.net.', 'ns3.example.net.']],
  ['MX', 'mx', ['10 mail.example.net.'], ['10 mail.example.net.', '20 backup.example.net.']],
  ['TXT', 'txt', ['"one"'], ['"two" "strings"', '"three"']],
  ['SRV', '_sip._tcp', ['0 5 5060 one.example.net.'], ['0 5 5061 one.example.net.', '1 0 5061 two.example.net.']],
  ['CAA', 'caa', ['0 issue "ca.example.net"'], ['128 issuewild ";"', '0 iodef "mailto:security@example.net"']],
  ['PTR', 'ptr', ['one.example.net.'], ['two.example.net.']],
  ['TLSA', '_443._tcp', [`3 1 1 ${'ab'.repeat(32)}`], [`3 1 1 ${'cd'.repeat(32)}`, `2 0 2 ${'ef'.repeat(64)}`]],
  ['SMIMEA', `${'c9'.repeat(28)}._smimecert`, [`3 0 1 ${'ab'.repeat(32)}`], [`3 0 1 ${'cd'.repeat(32)}`]],
  ['SSHFP', 'sshfp', [`4 2 ${'ab'.repeat(32)}`], [`4 2 ${'cd'.repeat(32)}`, `1 1 ${'ef'.repeat(20)}`]],
  [
    'NAPTR',
    'naptr',
    ['100 10 "S" "SIP+D2U" "" _sip._udp.example.net.'],
    ['100 10 "U" "E2U+sip" "!^.*$!sip:info@example.net!" .'],
  ],
  [
    'LOC',
    'loc',
    ['52 22 23.000 N 4 53 32.000 E -2.00m 0.00m 10000.00m 10.00m'],
    ['0 0 0.000 N 0 0 0.000 E 0.00m 1.00m 10000.00m 10.00m'],
  ],
  ['URI', 'uri', ['10 1 "https://one.example.net/"'], ['10 1 "ftp://two.example.net/public"']],
  ['SVCB', '_dns', ['1 one.example.net. alpn=h2,h3 port=853'], ['2 two.example.net. alpn=dot ipv4hint=192.0.2.1,192.0.2.2']],
  ['HTTPS', 'https', ['1 . alpn=h2,h3'], ['0 alias.example.net.']],
  ['OPENPGPKEY', 'key', ['mDMEXEcE6RYJKwYBBAHaRw8BAQdA'], ['mDMEXEcE6RYJKwYBBAHaRw8BAQdB']],
  ['HINFO', 'hinfo', ['"ARM64" "Linux"'], ['"AMD64" "Linux"']],
  ['RP', 'rp', ['admin.example.net. .'], ['admin.example.net. text.example.net.']],
  ['AFSDB', 'afsdb', ['1 one.example.net.'], ['2 two.example.net.']],
  ['CERT', 'cert', ['1 2 8 AQIDBA=='], ['1 2 8 BQYHCA==']],
  ['DHCID', 'dhcid', ['AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA='], ['AAABxLmlskllE0MVjd57zHcWmEH3pCQ6VytcKD//7es/deY=']],
  ['TYPE65280', 'private', ['\\# 2 abcd'], ['\\# 3 abcdef']],
]

/** Runs the contract. Each test uses its own zone. */
export function providerContract(title: string, start: () => Promise<ProviderUnderTest>): void {
  describe(title, () => {
    let here: ProviderUnderTest
    beforeAll(async () => {
      here = await start()
    })
    afterAll(async () => {
      await here?.stop()
    })

    const zoneOf = async (): Promise<{ name: string; zone: ProviderZone; before: Snapshot }> => {
      const name = await here.makeZone()
      const zone = await here.provider.findZone(name)
      expect(zone?.name).toBe(name)
      return { name, zone: zone!, before: await here.provider.read(zone!) }
    }
    const known = (value: ProviderRrset): ProviderRrset => shown(value, here.provider.caps.rechunksTxt)
    /** Expects that the provider reads what exists. */
    const expectSeen = async (zone: ProviderZone, wanted: readonly ProviderRrset[]) => {
      const { rrsets } = await here.provider.read(zone)
      expect(listed(rrsets.map(known))).toEqual(listed(wanted.map(known)))
      expect(listed((await here.look(zone.name)).map(known))).toEqual(listed(wanted.map(known)))
    }
    const apply = async (zone: ProviderZone, ops: Op[]) => outcomes(await here.provider.apply(zone, ops))
    /** An rrset, or another one if the provider doesn't support it, which it reports before anything is sent. */
    const supported = async (zone: ProviderZone, one: ProviderRrset, other: ProviderRrset) => {
      if (here.provider.findUnsupported(one).length === 0) return one
      expect(await apply(zone, [op(null, one)])).toEqual(['refused'])
      expect((await here.look(zone.name)).map(rrsetKey)).not.toContain(rrsetKey(one))
      return other
    }
    const takes = (type: string) =>
      !here.provider.caps.unsupported.has(type) &&
      !here.lacks?.includes(type) &&
      (type !== 'ALIAS' || here.provider.caps.alias === 'native')

    test('can be checked, and reports what it is', async () => {
      const { detail, warnings } = await here.provider.check()
      expect(detail).not.toBe('')
      expect(warnings).toEqual([])
    })

    test('finds and lists a zone by name', async () => {
      const { name, zone, before } = await zoneOf()
      expect(before.rrsets.map(rrsetKey)).toEqual(here.provider.caps.apexNs === 'hidden' ? [] : ['@ NS'])
      const zones = await here.provider.listZones?.()
      if (zones) expect(zones).toContainEqual(zone)
      expect(await here.provider.findZone(`absent.${name}`)).toBeNull()
    })

    test('distinguishes a missing zone from an empty one', async () => {
      const { name } = await zoneOf()
      expect(await failureOf(here.provider.read({ name: `absent.${name}`, ref: null }))).toBe('zone_not_found')
    })

    test.each(samples)('%s is created, updated, deleted, and read as in wire form', async (type, name, before, after) => {
      if (!takes(type)) return
      const { zone, before: empty } = await zoneOf()
      const first = rrset(name, type, 300, before)
      const second = rrset(name, type, 600, after)
      expect(await apply(zone, [op(null, first)])).toEqual(['done'])
      await expectSeen(zone, [...empty.rrsets, first])
      expect(await apply(zone, [op(first, second)])).toEqual(['done'])
      await expectSeen(zone, [...empty.rrsets, second])
      expect(await apply(zone, [op(second, null)])).toEqual(['done'])
      await expectSeen(zone, empty.rrsets)
    })

    test('a TXT of 300 octets with special characters is preserved', async () => {
      const { zone, before } = await zoneOf()
      const text = 'a;b"c\\d $e (f) @g %h 100\\100 '.repeat(11).slice(0, 300)
      const all = (first: string) => ({
        name: 'long',
        type: 'TXT',
        ttl: 300,
        values: [first, 'v=DMARC1; p=none', 'ключ=värde 🔑', ' leading and trailing '].map(one => rdataOfTxt(Buffer.from(one))),
      })
      const one = await supported(zone, all(text), all(text.replaceAll('\\', '/')))
      expect(await apply(zone, [op(null, one)])).toEqual(['done'])
      await expectSeen(zone, [...before.rrsets, one])
    })

    test('handles IDNs, wildcards, deep names and the apex', async () => {
      const { zone, before } = await zoneOf()
      const created = [
        rrset('xn--bcher-kva', 'A', 300, ['192.0.2.1']),
        rrset('*', 'A', 300, ['192.0.2.2']),
        rrset('*.dev', 'TXT', 300, ['"wild"']),
        rrset('a.b.c.d.e.f', 'A', 300, ['192.0.2.3']),
        rrset('_acme-challenge.www', 'TXT', 300, ['"token"']),
        rrset('@', 'A', 300, ['192.0.2.4']),
        rrset('@', 'TXT', 300, ['"v=spf1 -all"']),
        rrset('@', 'MX', 300, ['10 mail.example.net.']),
      ]
      expect(
        await apply(
          zone,
          created.map(one => op(null, one)),
        ),
      ).toEqual(created.map(() => 'done'))
      await expectSeen(zone, [...before.rrsets, ...created])
    })

    test('updates apex NS records if supported', async () => {
      if (here.provider.caps.apexNs !== 'rw') return
      const { zone, before } = await zoneOf()
      const old = before.rrsets.find(one => rrsetKey(one) === '@ NS')!
      const other = rrset('@', 'NS', 600, ['ns8.example.net.', 'ns9.example.net.'])
      expect(await apply(zone, [op(old, other)])).toEqual(['done'])
      await expectSeen(zone, [other])
    })

    test('applies a thousand rrsets in one plan', async () => {
      const { zone, before } = await zoneOf()
      const many = Array.from({ length: 1000 }, (_, n) => rrset(`host-${n}`, 'A', 300, [`10.0.${n >> 8}.${n & 255}`]))
      const results = await here.provider.apply(
        zone,
        many.map(one => op(null, one)),
      )
      expect(results.map(({ name, type }) => rrsetKey({ name, type }))).toEqual(many.map(rrsetKey))
      expect(new Set(outcomes(results))).toEqual(new Set(['done']))
      await expectSeen(zone, [...before.rrsets, ...many])
    }, 180_000)

    test('replaces a CNAME with an address, and the other way around', async () => {
      const { zone, before } = await zoneOf()
      const alias = rrset('www', 'CNAME', 300, ['one.example.net.'])
      const address = rrset('www', 'A', 300, ['192.0.2.1'])
      expect(await apply(zone, [op(null, alias)])).toEqual(['done'])
      expect(await apply(zone, [op(alias, null), op(null, address)])).toEqual(['done', 'done'])
      await expectSeen(zone, [...before.rrsets, address])
      expect(await apply(zone, [op(address, null), op(null, alias)])).toEqual(['done', 'done'])
      await expectSeen(zone, [...before.rrsets, alias])
    })

    test('reads external changes', async () => {
      const { name, zone, before } = await zoneOf()
      const ours = rrset('www', 'A', 300, ['192.0.2.1'])
      expect(await apply(zone, [op(null, ours)])).toEqual(['done'])
      await here.changeExternally(name, 'www', 'A', 300, ['192.0.2.66'])
      await here.changeExternally(name, 'theirs', 'TXT', 300, ['"theirs"'])
      await expectSeen(zone, [
        ...before.rrsets,
        rrset('www', 'A', 300, ['192.0.2.66']),
        rrset('theirs', 'TXT', 300, ['"theirs"']),
      ])
      await here.changeExternally(name, 'www', 'A', 300, null)
      await expectSeen(zone, [...before.rrsets, rrset('theirs', 'TXT', 300, ['"theirs"'])])
    })

    test('does not overwrite external changes made since the last read', async () => {
      const { name, zone, before } = await zoneOf()
      const ours = rrset('www', 'A', 300, ['192.0.2.1'])
      const theirs = rrset('www', 'A', 300, ['192.0.2.66'])
      expect(await apply(zone, [op(null, ours)])).toEqual(['done'])
      await here.changeExternally(name, 'www', 'A', 300, ['192.0.2.66'])
      await here.changeExternally(name, 'made', 'A', 300, ['192.0.2.67'])
      const created = rrset('made', 'A', 300, ['192.0.2.67'])
      const wrong = [
        op(ours, rrset('www', 'A', 300, ['192.0.2.2'])),
        op(ours, null),
        op(null, rrset('www', 'A', 300, ['192.0.2.3'])),
        op(null, rrset('made', 'A', 300, ['192.0.2.4'])),
      ]
      for (const one of wrong) {
        expect([one.action, one.name, ...(await apply(zone, [one]))]).toEqual([one.action, one.name, 'stale'])
        await expectSeen(zone, [...before.rrsets, theirs, created])
      }
    })

    test('can restore a previous read exactly', async () => {
      const { zone, before } = await zoneOf()
      const texts = (second: string) => rrset('t', 'TXT', 900, ['"one" "two"', second])
      const kept = [
        rrset('a', 'A', 300, ['192.0.2.1', '192.0.2.2']),
        await supported(zone, texts('"\\255\\000"'), texts('"three"')),
      ]
      expect(
        new Set(
          await apply(
            zone,
            kept.map(one => op(null, one)),
          ),
        ),
      ).toEqual(new Set(['done']))
      const then = await here.provider.read(zone)
      const edits = [
        op(seen(then, 'a A'), rrset('a', 'A', 60, ['192.0.2.9'])),
        op(seen(then, 't TXT'), null),
        op(null, rrset('n', 'MX', 300, ['10 mail.example.net.'])),
      ]
      expect(new Set(await apply(zone, edits))).toEqual(new Set(['done']))
      const now = await here.provider.read(zone)
      const undo = edits.toReversed().map(one => op(one.after && seen(now, rrsetKey(one)), one.before))
      expect(new Set(await apply(zone, undo))).toEqual(new Set(['done']))
      expect(listed((await here.provider.read(zone)).rrsets)).toEqual(listed(then.rrsets))
      expect(listed(then.rrsets.map(known))).toEqual(listed([...before.rrsets, ...kept].map(known)))
    })

    test('lists what is not a plain rrset, and does not change it', async () => {
      if (!here.makeForeign) return
      const { name, zone, before } = await zoneOf()
      const foreign = await here.makeForeign(name)
      const read = await here.provider.read(zone)
      expect(listed(read.rrsets)).toEqual(listed(before.rrsets))
      expect(read.foreign).toEqual([{ ...foreign, detail: expect.stringMatching(/./) }])
      const sample = samples.find(([type]) => type === foreign.type)
      if (!sample) return
      const own = rrset(foreign.name, foreign.type, 300, sample[2])
      for (const one of [op(null, own), op(own, null)]) expect((await apply(zone, [one]))[0]).toBeOneOf(['refused', 'stale'])
      expect(await here.provider.read(zone)).toEqual(read)
    })

    test('does nothing without steps', async () => {
      const { zone } = await zoneOf()
      expect(await here.provider.apply(zone, [])).toEqual([])
    })

    test('distinguishes a wrong credential from an unreachable server', async () => {
      const { zone } = await zoneOf()
      expect(await failureOf(here.unauthorized.check())).toBe('unauthorized')
      expect(await failureOf(here.unauthorized.read(zone))).toBe('unauthorized')
      const { unreachable } = here
      for (const ask of [() => unreachable.check(), () => unreachable.read(zone), () => unreachable.findZone(zone.name)])
        expect(await failureOf(ask())).toBeOneOf(['unreachable', 'timeout'])
      const one = op(null, rrset('www', 'A', 300, ['192.0.2.1']))
      expect(await failureOf(here.unreachable.apply(zone, [one]))).toBeOneOf(['unreachable', 'timeout'])
    })

    test('reports rate limiting, and applies nothing', async () => {
      if (!here.trouble) return
      const { zone, before } = await zoneOf()
      await here.trouble.throttle()
      try {
        expect(await failureOf(here.provider.read(zone))).toBe('throttled')
        const one = op(null, rrset('www', 'A', 300, ['192.0.2.1']))
        expect(await failureOf(here.provider.apply(zone, [one]))).toBe('throttled')
      } finally {
        await here.trouble.calm()
      }
      await expectSeen(zone, before.rrsets)
    })

    test('reports an incomplete zone as an error', async () => {
      if (!here.trouble) return
      const { zone } = await zoneOf()
      const some = Array.from({ length: 20 }, (_, n) => rrset(`host-${n}`, 'A', 300, ['192.0.2.1']))
      expect(
        new Set(
          await apply(
            zone,
            some.map(one => op(null, one)),
          ),
        ),
      ).toEqual(new Set(['done']))
      here.trouble.shorten()
      try {
        expect(await failureOf(here.provider.read(zone))).toBeOneOf(['incomplete', 'invalid_response'])
      } finally {
        await here.trouble.calm()
      }
    })

    test('reports a step without a response as unknown', async () => {
      if (!here.trouble) return
      const { zone, before } = await zoneOf()
      const one = rrset('www', 'A', 300, ['192.0.2.1'])
      here.trouble.fallSilent()
      let results: string[]
      try {
        results = await apply(zone, [op(null, one)])
      } finally {
        await here.trouble.calm()
      }
      expect(results).toEqual(['unknown'])
      await expectSeen(zone, [...before.rrsets, one])
    })
  })
}

/** Builds an rrset from zone file text with absolute names. */
export const rrset = (name: string, type: string, ttl: number, values: readonly string[]): ProviderRrset => ({
  name,
  type,
  ttl,
  values: values.map(one => rdataOfText(type, one, null)),
})

/** The step from one rrset to another. */
export function op(before: ProviderRrset | null, after: ProviderRrset | null): Op {
  const { name, type } = (after ?? before)!
  return { action: before === null ? 'create' : after === null ? 'delete' : 'update', name, type, before, after }
}

export const outcomes = (results: readonly OpResult[]): string[] => results.map(one => one.outcome)

/** Failure code of a provider call; null if it succeeded. */
export async function failureOf(request: Promise<unknown>): Promise<ProviderFailure | null> {
  try {
    await request
    return null
  } catch (error) {
    if (error instanceof ProviderError) return error.failure
    throw error
  }
}

/** Formats rrsets as sorted lines: TTL and all octets of their values. */
export const listed = (rrsets: readonly ProviderRrset[]): string[] =>
  rrsets
    .map(
      ({ name, type, ttl, values }) =>
        `${name} ${ttl} ${type} ${values
          .map(value => textOf(type, value))
          .sort()
          .join(' | ')}`,
    )
    .sort()

/** Normalizes an rrset for comparison if TXT strings are split differently. */
export const shown = (one: ProviderRrset, rechunks: boolean): ProviderRrset =>
  rechunks && one.type === 'TXT' ? { ...one, values: one.values.map(value => rdataOfTxt(txtValue(value))) } : one

const seen = (snapshot: Snapshot, key: string): ProviderRrset => snapshot.rrsets.find(one => rrsetKey(one) === key)!
