import { domain } from './resolver'
import type { Scenario } from './scenario'
import { hourMs, minuteMs } from './time-units'
import type { Caller } from './people'

/** A zone of the demo. Its id is set when the simulation creates it. */
export interface Zone {
  name: string
  id: string
}

/** An RRset in the form of the API for replacing RRsets. */
interface Rrset {
  name: string
  type: string
  ttl?: number
  comment?: string
  tags?: string[]
  locked?: boolean
  expires_at?: string
  records: { content: string }[]
}

export const rrset = (name: string, type: string, contents: readonly string[], more: Partial<Rrset> = {}): Rrset => ({
  name,
  type,
  ttl: 300,
  records: contents.map(content => ({ content })),
  ...more,
})

/** Schedules the main zone of the company, served by the hub, and its changes. */
export function scheduleZones(
  { simulation, people: { ada, grace, linus }, now, ago }: Scenario,
  own: Zone,
  deploy: Caller,
): void {
  const put = (at: number, by: Caller, ...rrsets: Rrset[]) =>
    simulation.schedule(at, () => by.call('PUT', `/v1/dns/zones/${own.id}/rrsets`, { rrsets }))

  simulation.schedule(ago(88), async () => {
    const { id } = await ada.call('POST', '/v1/dns/zones', { name: own.name, nameservers: [`ns1.${domain}`, `ns2.${domain}`] })
    own.id = id
    await ada.call('POST', `/v1/dns/zones/${id}/import?mode=merge`, file)
  })
  put(ago(71), linus, rrset('docs', 'CNAME', [`shop.${domain}.`], { comment: 'Moved off the old wiki' }))
  put(
    ago(62),
    grace,
    rrset('@', 'MX', [`10 mail.${domain}.`, `20 mail2.${domain}.`], { ttl: 3600 }),
    rrset('mail2', 'A', ['192.0.2.26']),
  )
  put(ago(55), deploy, rrset('_release', 'TXT', ['release=4.7.0']))
  put(ago(46), linus, rrset('partners', 'TXT', ['site-verification=9f2c41d07a'], { tags: ['partners'] }))
  put(
    ago(37),
    grace,
    rrset('@', 'CAA', ['0 issue "letsencrypt.org"', `0 iodef "mailto:security@${domain}"`], { locked: true, ttl: 3600 }),
  )
  put(ago(30), deploy, rrset('_release', 'TXT', ['release=4.9.2']))
  put(ago(24), linus, rrset('@', 'ALIAS', ['edge.fastedge.example.'], { ttl: 60 }))
  put(
    ago(16),
    grace,
    rrset('vpn', 'A', ['192.0.2.77'], {
      comment: 'Ends with the contract',
      expires_at: new Date(now + 5 * 86_400_000).toISOString(),
    }),
  )
  // What came just before the sites were away, and what was undone after it.
  const mistake = ago(9) - 58 * minuteMs
  put(mistake, linus, rrset('shop', 'A', ['192.0.2.99']))
  simulation.schedule(ago(9) - 2 * minuteMs, async () => {
    const { data } = await grace.call('GET', `/v1/dns/zones/${own.id}/history?name=shop&type=A&limit=1`)
    await grace.call('POST', `/v1/dns/zones/${own.id}/revert`, {
      changeset_id: data[0].id,
      note: 'The new address answers 503.',
      apply: true,
    })
  })
  put(ago(5), deploy, rrset('_release', 'TXT', ['release=4.11.0']))
  put(ago(2.4), linus, rrset('search', 'A', ['192.0.2.40', '192.0.2.41']))
  put(now - 8 * hourMs, ada, rrset('_dmarc', 'TXT', [`v=DMARC1; p=quarantine; rua=mailto:dmarc@${domain}`], { ttl: 3600 }))
  put(now - 40 * minuteMs, deploy, rrset('_release', 'TXT', ['release=4.11.2']))

  simulation.schedule(ago(66), async () => {
    const { id } = await grace.call('POST', '/v1/dns/zones', { name: 'kestrel-archive.example' })
    simulation.schedule(ago(41), () => grace.call('PATCH', `/v1/dns/zones/${id}`, { status: 'paused' }))
  })
}

const file = `$ORIGIN ${domain}.
$TTL 300
ns1        3600 A     192.0.2.53
ns2        3600 A     198.51.100.53
shop       A     192.0.2.10
www        CNAME shop
api        A     192.0.2.20
api        AAAA  2001:db8:20::1
search     A     192.0.2.40
payments   A     192.0.2.30
images     CNAME kestrel.fastedge.example.
push       A     192.0.2.21
crm        A     192.0.2.60
staging    A     192.0.2.90
*.staging  A     192.0.2.90
mail       A     192.0.2.25
imap       A     192.0.2.25
@     3600 MX    10 mail
@     3600 TXT   "v=spf1 mx -all"
_dmarc 3600 TXT  "v=DMARC1; p=none"
s1._domainkey 3600 TXT "v=DKIM1; k=ed25519; p=11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="
_imaps._tcp 3600 SRV 0 1 993 imap
bastion    A     192.0.2.22
bastion    SSHFP 4 2 9f0c1b5f1a7d3e2b4c6d8e0f1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d
`
