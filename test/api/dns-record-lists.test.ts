import { describe, expect, test } from 'bun:test'
import { world, type World } from '../support/world'
import { createZone } from '../support/zones'
import { contents } from '../support/record-scene'

describe('the list of records', () => {
  async function filled(w: World) {
    const [one, two] = [await createZone(w.acme), await createZone(w.acme, 'example.net')]
    const put = (zone: { id: string }, rrsets: object[]) => w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
    await put(one, [
      { name: 'www', type: 'A', records: [{ content: '192.0.2.1' }, { content: '192.0.2.20' }] },
      { name: 'www2', type: 'A', records: [{ content: '198.51.100.1' }] },
      { name: 'api.dev', type: 'CNAME', records: [{ content: 'www' }] },
      { name: 'x.api.dev', type: 'TXT', records: [{ content: 'V=spf1 -all' }] },
      { name: 'dev', type: 'A', records: [{ content: '192.0.2.2' }] },
      { name: '*', type: 'A', records: [{ content: '192.0.2.3' }] },
      { name: 'a_b', type: 'TXT', records: [{ content: 'x' }] },
    ])
    await put(two, [{ name: 'www', type: 'AAAA', records: [{ content: '2001:db8::1' }] }])
    return { one, two }
  }

  test('is in order, and each of 1,000 records is on one page', async () => {
    const { acme } = await world()
    const zone = await createZone(acme)
    const text = '$GENERATE 1-1000 h${0,4} A 192.0.2.1'
    const path = `/v1/dns/zones/${zone.id}/import?mode=merge`
    expect((await acme.call('POST', path, text, { 'content-type': 'text/dns' })).status).toBe(200)
    const ids: string[] = []
    for (let cursor: string | null = ''; cursor !== null;) {
      const { body }: any = await acme.call(
        'GET',
        `/v1/dns/records?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
      )
      ids.push(...body.data.map((one: any) => one.id))
      cursor = body.pagination.next_cursor
    }
    expect(ids.length).toBeGreaterThan(1000)
    expect(ids).toEqual([...new Set(ids)].sort().reverse())
  })

  test('is filtered by zone, type, name, content, source and search text', async () => {
    const w = await world()
    const { one, two } = await filled(w)
    const of = (query: string) => contents(w, query)
    expect(await of('zone=example.net&sort=name')).toEqual(['@ NS ns1.example.net.', 'ns1 A 127.0.0.1', 'www AAAA 2001:db8::1'])
    expect(await of('zone=example.net&sort=-type')).toEqual(['@ NS ns1.example.net.', 'www AAAA 2001:db8::1', 'ns1 A 127.0.0.1'])
    expect(await of(`zone=${two.id}&type=AAAA`)).toEqual(['www AAAA 2001:db8::1'])
    expect(await of('zone=example.org')).toEqual([])
    expect(await of('type=cname')).toEqual(['api.dev CNAME www.example.com.'])
    expect(await of('name=www&sort=id')).toEqual(['www A 192.0.2.1', 'www A 192.0.2.20', 'www AAAA 2001:db8::1'])
    expect(await of('name=WWW*')).toEqual(['www A 192.0.2.1', 'www A 192.0.2.20', 'www AAAA 2001:db8::1', 'www2 A 198.51.100.1'])
    expect(await of('name=*.dev')).toEqual(['api.dev CNAME www.example.com.', 'x.api.dev TXT "V=spf1 -all"'])
    expect(await of('name=*')).toEqual(['* A 192.0.2.3'])
    expect(await of(`name=@&type=NS&zone=${one.id}`)).toEqual(['@ NS ns1.example.com.'])
    expect(await of('name=a_*')).toEqual(['a_b TXT "x"'])
    expect(await of('content=192.0.2.2')).toEqual(['dev A 192.0.2.2'])
    expect(await of('content=192.0.2.2*')).toEqual(['dev A 192.0.2.2', 'www A 192.0.2.20'])
    expect(await of('content=v=spf1*')).toEqual(['x.api.dev TXT "V=spf1 -all"'])
    expect(await of('q=dev*&sort=id')).toEqual(['dev A 192.0.2.2'])
    expect(await of('q=WWW&sort=id')).toEqual(['www A 192.0.2.1', 'www A 192.0.2.20', 'www AAAA 2001:db8::1'])
    expect(await of(`q=www&zone=${two.id}&include=total`)).toEqual(['www AAAA 2001:db8::1'])
    expect(await of('q=198.51*')).toEqual(['www2 A 198.51.100.1'])
    expect(await of('q=www.example.net')).toEqual(['www AAAA 2001:db8::1'])
    expect(await of('q=example.net')).toEqual(['@ NS ns1.example.net.'])
    expect(await of('q=WWW.exam*&type=A&sort=id')).toEqual(['www A 192.0.2.1', 'www A 192.0.2.20'])
    expect(await of('q=www.exam*&type=AAAA')).toEqual(['www AAAA 2001:db8::1'])
    expect(await of('q=x.api.dev.example.com.')).toEqual(['x.api.dev TXT "V=spf1 -all"'])
    expect(await of(`q=www.example.net&zone=${one.id}`)).toEqual([])
    expect(await of('q=www.example.org*')).toEqual([])
    expect((await of('source=api&include=total')).length).toBe(13)
    expect(await of('source=dynamic')).toEqual([])
    const none = await w.acme.call('GET', '/v1/dns/records?type=FOO')
    expect([none.status, none.body.errors]).toEqual([
      400,
      [{ pointer: '#/query/type', code: 'invalid_parameter', detail: 'must be a record type such as A or TXT; FOO is unknown.' }],
    ])
    expect((await w.acme.call('GET', '/v1/dns/records?type=A,AAAA')).body.detail).toContain('single record type')
    expect((await w.acme.call('GET', '/v1/dns/records?type=FOO&state=unmanaged')).status).toBe(400)
    for (const query of ['name=a*b', 'content=*x', 'q=a*b*', 'type=A,B', 'name=*.a*'])
      expect([query, (await w.acme.call('GET', `/v1/dns/records?${query}`)).status]).toEqual([query, 400])
    await createZone(w.acme, 'bücher.example')
    expect(await of(`zone=${encodeURIComponent('BÜCHER.example.')}&type=NS`)).toEqual(['@ NS ns1.xn--bcher-kva.example.'])
    expect(await of(`zone=${encodeURIComponent('ü:.example')}`)).toEqual([])
  })

  test('patterns and exact texts in any spelling do not affect each other', async () => {
    const w = await world()
    await filled(w)
    const statuses: unknown[] = []
    for (const list of ['zones?sort=-name&name=', 'records?sort=-name&name=', 'records?sort=-id&content=', 'records?sort=-id&q='])
      for (const text of ['*', 'exa＊', 'example.org', 'example.*', '*', '＊.dev', '*。dev', 'dev', '*.dev', 'www*']) {
        const { status } = await w.acme.call('GET', `/v1/dns/${list}${encodeURIComponent(text)}`)
        if (status >= 500) statuses.push([list, text, status])
      }
    expect(statuses).toEqual([])
    const zones = await w.acme.call('GET', `/v1/dns/zones?name=${encodeURIComponent('EXA＊')}`)
    expect(zones.body.data.map((one: any) => one.name)).toEqual(['example.com', 'example.net'])
  })

  test.each(['', 'name=host-*', 'name=*.dev', 'content=192.0.2.*', 'q=192*', 'zone=example.com&type=A', 'sort=-name'])(
    'returns every record exactly once across pages, with %p',
    async query => {
      const w = await world()
      const zone = await createZone(w.acme)
      const rrsets = Array.from({ length: 40 }, (_, n) => ({
        name: `host-${n % 20}${n < 20 ? '.dev' : ''}`,
        type: 'A',
        records: [{ content: `192.0.2.${n}` }],
      }))
      await w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
      const whole = (await w.acme.call('GET', `/v1/dns/records?limit=1000&${query}`)).body.data.map((one: any) => one.id)
      const seen: string[] = []
      for (let cursor = ''; ;) {
        const page = (await w.acme.call('GET', `/v1/dns/records?limit=7&${query}${cursor && `&cursor=${cursor}`}`)).body
        seen.push(...page.data.map((one: any) => one.id))
        cursor = page.pagination.next_cursor
        if (!page.pagination.has_more) break
      }
      expect(seen).toEqual(whole)
      expect(new Set(seen).size).toBeGreaterThanOrEqual(20)
    },
  )

  test('has up to 1000 records per page', async () => {
    const { readOnly } = await world()
    expect((await readOnly.call('GET', '/v1/dns/records?limit=1000')).status).toBe(200)
    expect((await readOnly.call('GET', '/v1/dns/records?limit=1001')).status).toBe(400)
  })
})
