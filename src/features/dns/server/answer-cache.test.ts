import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { digOutput, queryOctets, servedZone } from '../../../../test/support/served-zone'
import { Answerer } from './answerer'
import { ZoneIndex, ZoneSet } from './zone-index'

// Name servers and targets below names that don't exist, and wildcards that lead to themselves.
const lines = `@ 60 SOA ns.gone.z.test. h 1 2 3 4 5
@ 60 NS ns.gone.z.test.
www 60 A 192.0.2.1
a.b 60 A 192.0.2.2
*.wild 60 A 192.0.2.3
*.mail.wild 60 MX 10 mx.mail.wild
*.to 60 CNAME www
*.loop 60 CNAME aa.loop
*.gone 60 CNAME nothing
*.far 60 CNAME aa.elsewhere.test.
*.alias 60 ALIAS www
old 60 DNAME wild
sub 60 NS ns.sub
sub 60 NS aa.sub
ns.sub 60 A 192.0.2.4`
const below = ['', 'b.', 'wild.', 'mail.wild.', 'to.', 'loop.', 'gone.', 'far.', 'alias.', 'old.', 'sub.', 'www.']
const labels = ['aa.', 'bb.', 'AA.', 'mx.', 'ns.', 'ns.gone.', 'aa.bb.', 'x.', '']
const types = ['A', 'MX', 'DS', 'ANY', 'CNAME']

function scene() {
  const index = ZoneIndex.of(servedZone('z.test.', lines))
  const zones = new ZoneSet()
  zones.put(index)
  return { index, zones, server: new Answerer(zones) }
}

test('responses from the cache are the same as without it', () => {
  const query = fc.tuple(fc.constantFrom(...labels), fc.constantFrom(...below), fc.constantFrom(...types))
  fc.assert(
    fc.property(fc.array(query, { minLength: 2, maxLength: 20 }), queries => {
      const { zones, server } = scene()
      for (const [label, parent, type] of queries) {
        const octets = queryOctets(`${label}${parent}z.test.`, type)
        const cached = digOutput(server.answer(octets, 'udp')!)
        expect(cached).toEqual(digOutput(new Answerer(zones).answer(octets, 'udp')!))
      }
    }),
    { numRuns: 200 },
  )
}, 180_000)

test('a wildcard that leads to the queried name is not used for other names', () => {
  const { server } = scene()
  const answer = (name: string) => digOutput(server.answer(queryOctets(name, 'DS'), 'udp')!).answer
  expect(answer('aa.loop.z.test.')).toHaveLength(1)
  expect(answer('ns.loop.z.test.')).toHaveLength(2)
})

test('names that don’t exist share a response', () => {
  const { index, server } = scene()
  let reads = 0
  const node = index.node.bind(index)
  index.node = key => {
    reads++
    return node(key)
  }
  const readsOf = (name: string) => {
    reads = 0
    const { rcode, answer } = digOutput(server.answer(queryOctets(name, 'A'), 'udp')!)
    return [rcode, answer.length, reads > 0]
  }
  expect(readsOf('a1.z.test.')).toEqual(['NXDOMAIN', 0, true])
  expect(readsOf('a2.z.test.')).toEqual(['NXDOMAIN', 0, false])
  expect(readsOf('a1.wild.z.test.')).toEqual(['NOERROR', 1, true])
  expect(readsOf('a2.wild.z.test.')).toEqual(['NOERROR', 1, false])
  expect(readsOf('a1.to.z.test.')).toEqual(['NOERROR', 2, true])
  expect(readsOf('a2.to.z.test.')).toEqual(['NOERROR', 2, false])
  expect(readsOf('a1.sub.z.test.')).toEqual(['NOERROR', 0, true])
  expect(readsOf('a2.sub.z.test.')).toEqual(['NOERROR', 0, false])
  // A new name is found at once.
  index.put({ name: 'a2.z.test.', type: 'A', ttl: 60, rdata: [Buffer.from([192, 0, 2, 9])] })
  server.forget()
  expect(readsOf('a2.z.test.')).toEqual(['NOERROR', 1, true])
})
