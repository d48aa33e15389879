import { describe, expect, test } from 'bun:test'
import type { KnownCertificate } from '../certificates/known'
import { changesOf } from './changes-of'
import { gapsOf, mismatchOf, type FoundGap, type GapSources } from './gaps'
import { gapKindNames, gapKinds, type GapKind } from './kinds'
import { reconcile, type GapStep, type StoredGap } from './reconcile'

const dayMs = 86_400_000
const minuteMs = 60_000
const now = Date.UTC(2027, 0, 10)

function run<R>(steps: Generator<void, R>): R {
  for (;;) {
    const step = steps.next()
    if (step.done) return step.value
  }
}

const certificate = (more: Partial<KnownCertificate> = {}): KnownCertificate => ({
  ...{
    id: 'cert_1',
    commonName: '',
    names: new Set(['shop.example.com']),
    issuer: "C=US, O=Let's Encrypt, CN=R3",
    keyType: 'ec',
  },
  ...{
    notBefore: now - 30 * dayMs,
    notAfter: now + 60 * dayMs,
    trust: 'public',
    lineageId: 'lin_1',
    revokedAt: null,
    revokedIssuer: null,
  },
  ...{
    supersededBy: null,
    inUse: true,
    autoRenewing: false,
    renewalDueAt: now + 30 * dayMs,
    sources: ['endpoint'],
    findings: [],
  },
  ...more,
})
const certificatesOf = (...all: KnownCertificate[]) => new Map(all.map(one => [one.id, one]))
const name = { name: 'shop.example.com', zoneId: 'zone_1', because: ['record'], places: [] } as const
const endpoint = { id: 'tls_1', host: 'shop.example.com', port: 443, servername: null, isChainIncomplete: false, plainHttp: null }
const address = { address: '192.0.2.1', certificateId: 'cert_1', isOpen: true, seenAt: now - minuteMs }
const at = { serverId: 'srv_1', serverName: 'web-1' }
const file = { ...at, certificateId: 'cert_1', path: '/etc/ssl/shop.pem', isUsed: true, firstSeenAt: now - dayMs }
const served = { ...at, certificateId: 'cert_1', port: 443, servername: 'shop.example.com', process: 'nginx' }

/** A workspace without gaps. */
const fine: GapSources = {
  expected: new Map([[name.name, name]]),
  endpoints: [{ ...endpoint, scannedAt: now - minuteMs, addresses: [address] }],
  certificates: certificatesOf(certificate()),
  files: [file],
  served: [served],
  zones: new Map([['example.com', { id: 'zone_1', isWritable: true }]]),
  recorded: new Set([name.name, 'www.example.com']),
  aliases: new Map(),
  caa: new Map([['example.com', [{ flags: 0, tag: 'issue', value: 'letsencrypt.org' }]]]),
}
const withCertificate = (more: Partial<KnownCertificate>): Partial<GapSources> => ({
  certificates: certificatesOf(certificate(more)),
})
const withEndpoint = (more: Partial<GapSources['endpoints'][number]>): Partial<GapSources> => ({
  endpoints: [{ ...fine.endpoints[0]!, ...more }],
})
const second = certificate({ id: 'cert_2', notBefore: now - dayMs, notAfter: now + 80 * dayMs })

/** What each kind needs in addition to `fine`. */
const causes: Record<GapKind, Partial<GapSources>> = {
  expired_served: withCertificate({ notAfter: now - 1 }),
  revoked_served: withCertificate({ revokedAt: now - dayMs }),
  mismatch_served: withCertificate({ names: new Set(['www.example.com']) }),
  untrusted_served: withCertificate({ trust: 'untrusted' }),
  uncovered: {
    ...withEndpoint({ addresses: [{ ...address, certificateId: null }] }),
    ...{ certificates: new Map(), files: [], served: [] },
  },
  stale_on_disk: {
    certificates: certificatesOf(certificate(), second),
    files: [file, { ...file, certificateId: 'cert_2', firstSeenAt: now - 15 * minuteMs }],
  },
  ct_unknown: { certificates: certificatesOf(certificate(), { ...second, sources: ['ct'], inUse: false }) },
  caa_conflict: { caa: new Map([['shop.example.com', [{ flags: 0, tag: 'issue', value: 'pki.goog; account=1' }]], ...fine.caa]) },
  key_readable: withCertificate({ findings: [{ code: 'key_readable', detail: 'Every user can read the private key.' }] }),
  renewal_overdue: withCertificate({ autoRenewing: true, renewalDueAt: now - 9 * dayMs }),
  plain_http: withEndpoint({
    ...{ scannedAt: null, addresses: [], plainHttp: { address: '192.0.2.1', status: 200, seenAt: now - minuteMs } },
  }),
  chain_incomplete: withEndpoint({ isChainIncomplete: true }),
  split_brain: {
    ...withEndpoint({ addresses: [address, { ...address, address: '192.0.2.2', certificateId: 'cert_2' }] }),
    certificates: certificatesOf(certificate(), second),
  },
  lifetime_over_limit: withCertificate({ findings: [{ code: 'lifetime_over_limit', detail: 'It is valid for 400 days.' }] }),
  served_not_on_disk: { files: [{ ...file, certificateId: 'cert_9' }] },
  caa_missing: { caa: new Map() },
  disk_unused: {
    certificates: certificatesOf(certificate(), { ...second, inUse: false, sources: ['agent'] }),
    files: [file, { ...file, certificateId: 'cert_2', path: '/etc/ssl/old.pem', isUsed: false, firstSeenAt: now }],
  },
  orphan: { recorded: new Set(['www.example.com']) },
}

const gapsWith = (more: Partial<GapSources>, time = now) => run(gapsOf({ ...fine, ...more }, time))

test('a workspace in which everything is right has no gaps', () => expect(gapsWith({})).toEqual([]))

describe.each(gapKindNames)('%s', kind => {
  const more = causes[kind]
  const isServed = 'isServed' in gapKinds[kind]
  const scannedAt = (time: number): Partial<GapSources> => ({
    ...more,
    endpoints: (more.endpoints ?? fine.endpoints).map(one => ({
      ...{ ...one, scannedAt: time },
      addresses: one.addresses.map(each => ({ ...each, seenAt: time })),
      plainHttp: one.plainHttp && { ...one.plainHttp, seenAt: time },
    })),
  })

  test('is found with its evidence', () => {
    const [gap, ...others] = gapsWith(more)
    expect(others).toEqual([])
    expect(gap).toMatchObject({ kind, severity: gapKinds[kind].severity, zoneId: 'zone_1' })
    expect(gap!.detail).toEndWith('.')
    expect(gap!.observedAt).toBe(isServed ? now - minuteMs : null)
    expect(gap!.isIssuable).toBe('isIssuable' in gapKinds[kind])
    const readOnly = new Map([['example.com', { id: 'zone_1', isWritable: false }]])
    expect(gapsWith({ ...more, zones: readOnly })[0]!.isIssuable).toBe(false)
    const delegated = { zones: new Map([...readOnly, ['acme.test', { id: 'zone_2', isWritable: true }]]) }
    const aliases = new Map([[`_acme-challenge.${gap!.name}`, 'shop.acme.test']])
    expect(gapsWith({ ...more, ...delegated, aliases })[0]!.isIssuable).toBe('isIssuable' in gapKinds[kind])
  })

  test('opens, stays, is acknowledged, resolves, and opens again', () => {
    const store = new Store()
    if (isServed) {
      store.apply(gapsWith(scannedAt(now)), now)
      expect(store.statuses).toEqual(['pending'])
      store.apply(gapsWith(scannedAt(now + 4 * minuteMs)), now + 4 * minuteMs)
      expect(store.statuses).toEqual(['pending'])
    }
    store.apply(gapsWith(scannedAt(now + 5 * minuteMs)), now + 5 * minuteMs)
    expect(store.statuses).toEqual(['open'])
    store.apply(gapsWith(scannedAt(now + 6 * minuteMs)), now + 6 * minuteMs)
    expect([store.statuses, store.opened]).toEqual([['open'], 1])
    store.acknowledge(now + dayMs)
    store.apply(gapsWith(scannedAt(now + 7 * minuteMs)), now + 7 * minuteMs)
    expect([store.statuses, store.opened]).toEqual([['acknowledged'], 1])
    store.apply([], now + 8 * minuteMs)
    expect(store.statuses).toEqual(['resolved'])
    store.apply([], now + 9 * minuteMs)
    expect(store.statuses).toEqual(['resolved'])
    for (const minutes of [10, 15]) store.apply(gapsWith(scannedAt(now + minutes * minuteMs)), now + minutes * minuteMs)
    expect([store.statuses, store.opened]).toEqual([['open'], 2])
  })
})

/** Applies the steps as the database does. */
class Store {
  rows: StoredGap[] = []
  opened = 0

  get statuses() {
    return this.rows.map(one => one.status)
  }

  acknowledge(until: number) {
    this.rows = this.rows.map(one => ({ ...one, status: 'acknowledged', acknowledgedUntil: until }))
  }

  apply(found: readonly FoundGap[], time: number): GapStep[] {
    const steps = run(reconcile(found, this.rows, time))
    for (const step of steps) {
      const before = step.do === 'add' ? undefined : this.rows.find(one => one.id === step.id)
      this.rows = this.rows.filter(one => one !== before)
      if (step.do === 'forget') continue
      const { key, severity } = step.do === 'resolve' ? before! : step.found
      const status = step.do === 'resolve' ? 'resolved' : step.status
      const observedAt = step.do === 'add' ? step.found.observedAt : step.do === 'keep' ? step.observedAt : null
      if (status === 'open' && before?.status !== 'open') this.opened++
      this.rows.push({ id: key, key, status, severity, observedAt, acknowledgedUntil: before?.acknowledgedUntil ?? null })
    }
    return steps
  }
}

test('an acknowledgement ends when it expires, and when the gap becomes worse', () => {
  const store = new Store()
  const medium = gapsWith(causes.renewal_overdue)
  store.apply(medium, now)
  store.acknowledge(now + dayMs)
  store.apply(medium, now + dayMs - 1)
  expect(store.statuses).toEqual(['acknowledged'])
  store.apply(medium, now + dayMs)
  expect(store.statuses).toEqual(['open'])
  store.acknowledge(now + 90 * dayMs)
  const later = now + 54 * dayMs
  store.apply(gapsWith(causes.renewal_overdue, later), later)
  expect(store.rows).toMatchObject([{ status: 'open', severity: 'high' }])
})

test('what one scan finds and the next one does not is forgotten', () => {
  const store = new Store()
  store.apply(gapsWith(causes.expired_served), now)
  store.apply([], now + minuteMs)
  expect(store.rows).toEqual([])
  // The same for one that was resolved before.
  const again = { id: 'a', key: 'expired_served tls_1 cert_1', status: 'resolved', severity: 'critical' } as const
  store.rows = [{ ...again, observedAt: null, acknowledgedUntil: null }]
  store.apply(gapsWith(causes.expired_served), now)
  expect(store.rows).toMatchObject([{ status: 'resolved', observedAt: now - minuteMs }])
  store.apply([], now + minuteMs)
  expect(store.rows).toMatchObject([{ status: 'resolved', observedAt: null }])
})

test.each([
  ['shop.example.com', ['shop.example.com'], null],
  ['shop.example.com', ['*.example.com'], null],
  ['a.shop.example.com', ['*.example.com'], 'wildcard_depth'],
  ['example.com', ['*.example.com'], 'apex_missing'],
  ['example.com', ['example.net'], 'other_name'],
  ['example.com', [], 'other_name'],
])('%s with a certificate for %p: %p', (of, names, reason) => {
  expect(mismatchOf(of, new Set(names))?.reason ?? null).toBe(reason as never)
})

test('a certificate with a wildcard is an orphan only if no name one label below it has records', () => {
  const of = { ...withCertificate({ names: new Set(['*.apps.example.com']) }), ...{ endpoints: [], files: [], served: [] } }
  const kindsWith = (...recorded: string[]) => gapsWith({ ...of, recorded: new Set(recorded) }).map(one => one.kind)
  expect(kindsWith('a.apps.example.com')).toEqual([])
  expect(kindsWith('apps.example.com', 'a.b.apps.example.com')).toEqual(['orphan'])
})

test('names in the detail are cut', () => {
  const names = new Set([`${'a'.repeat(60_000)}.example.net`, 'b.example.net'])
  expect(mismatchOf('example.com', names)?.detail).toBe(`it is for ${'a'.repeat(253)}, b.example.net.`)
  const [gap] = gapsWith(withCertificate({ names, sources: ['ct'], inUse: false }))
  expect(JSON.stringify(gap).length).toBeLessThan(2000)
})

test('CAA records don’t conflict with the certificate of an alias, for whose target other records apply', () => {
  const kindsWith = (...aliases: string[]) =>
    gapsWith({ ...causes.caa_conflict, aliases: new Map(aliases.map(one => [one, 'cdn.test'])) }).map(one => one.kind)
  expect([kindsWith(), kindsWith('shop.example.com')]).toEqual([['caa_conflict'], []])
})

test('a newer certificate may be on disk for 15 minutes before it has to be served', () => {
  const files = [file, { ...file, certificateId: 'cert_2', firstSeenAt: now - 15 * minuteMs + 1 }]
  expect(gapsWith({ ...causes.stale_on_disk, files })).toEqual([])
})

test('servers with two types of keys may present either certificate', () => {
  const rsa = { ...second, keyType: 'rsa' }
  expect(gapsWith({ ...causes.split_brain, certificates: certificatesOf(certificate(), rsa) })).toEqual([])
})

test('wildcards follow issuewild', () => {
  const wildcard = withCertificate({ names: new Set(['*.example.com', 'shop.example.com']) })
  const kinds = (...caa: [string, string][]) =>
    gapsWith({ ...wildcard, caa: new Map([['example.com', caa.map(([tag, value]) => ({ flags: 0, tag, value }))]]) })
      .filter(one => one.kind === 'caa_conflict')
      .map(one => one.key)
  expect(kinds(['issue', 'letsencrypt.org'], ['issuewild', ';'])).toEqual(['caa_conflict lin_1 *.example.com'])
  expect(kinds(['issue', ';'], ['issuewild', 'letsencrypt.org'])).toEqual(['caa_conflict lin_1 shop.example.com'])
  expect(kinds(['iodef', 'mailto:ops@example.com'])).toEqual([])
})

test('the gaps of a subject are written together, or the most severe ones first and those that are gone last', () => {
  const gap = (key: string, endpointId: string) => ({ key, endpointId, certificateId: null })
  const few = ['a', 'b', 'c'].map(key => gap(key, 'tls_1'))
  const severities = ['info', 'high', 'medium', 'critical'] as const
  const many = Array.from({ length: 120 }, (_, n) => gap(`${n}`, 'tls_2'))
  // A quarter of them is gone.
  const found = new Map(many.slice(30).map(({ key }, n) => [key, { severity: severities[n % 4]! }]))
  const changes = changesOf([...few, ...many], found)
  expect(changes.map(keys => keys.length)).toEqual([50, 50, 23])
  const written = changes.flat().slice(0, 120)
  expect(new Set(written)).toEqual(new Set(many.map(one => one.key)))
  const order = written.map(key => ['critical', 'high', 'medium', 'info'].indexOf(found.get(key)?.severity ?? 'info'))
  expect(order).toEqual(order.toSorted())
  expect(written.slice(-30).some(key => found.has(key))).toBe(false)
  expect(changes[2]!.slice(-3)).toEqual(['a', 'b', 'c'])
})
