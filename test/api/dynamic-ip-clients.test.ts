import { afterAll, describe, expect, spyOn, test } from 'bun:test'
import pino from 'pino'
import { newIngestToken } from '../../src/access/token-format'
import { flushCalls } from '../../src/features/dynamic-ips/calls'
import { listen } from '../../src/hub/listen'
import { sendRaw } from '../properties/raw-connection'
import { world } from '../support/world'

// Requests as clients send them, byte by byte, to a listening hub.

const here = await world({ BAILIWICK_TRUSTED_PROXIES: '127.0.0.1', BAILIWICK_FAILED_CREDENTIALS_PER_MINUTE: '1000' })
const { hub, app, acme, rival, anonymous, clock } = here
const listening = listen(app, { ...hub.config, listen: { host: '127.0.0.1', port: 0 } })
const port = listening.server().port!
afterAll(() => listening.server().stop(true))

await acme.call('POST', '/v1/dns/zones', { name: 'example.test' })

interface Source {
  id: string
  secret: string
  basic: string
}
let count = 0
async function createSource(hosts: string[], more: object = {}): Promise<Source> {
  const input = { name: `Router ${++count}`, hosts: hosts.map(name => ({ name })), ...more }
  const { status, body } = await acme.call('POST', '/v1/dynamic-ips', input)
  expect(status).toBe(201)
  return { id: body.id, secret: body.secret, basic: btoa(`any:${body.secret}`) }
}
const read = async (source: Source) => (await acme.call('GET', `/v1/dynamic-ips/${source.id}`)).body
const values = async (source: Source) => {
  const { ipv4, ipv6, prefix6 } = await read(source)
  return [ipv4, ipv6, prefix6]
}

/** Sends a request, and returns the status, the body, and the headers. */
async function send(...pieces: (string | Uint8Array)[]): Promise<{ status: number; body: string; head: string }> {
  const { text } = await sendRaw(port, pieces)
  const [head = '', ...body] = text.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.1 (\d{3})/.exec(head)?.[1]), body: body.join('\r\n\r\n'), head }
}
const answer = async (...pieces: (string | Uint8Array)[]) => {
  const { status, body } = await send(...pieces)
  return [status, body]
}
const get = (path: string, headers = '') =>
  answer(`GET ${path} HTTP/1.1\r\nHost: hub.example.test:8484\r\nConnection: close\r\n${headers}\r\n`)
const post = (path: string, body: string, type = 'application/x-www-form-urlencoded') =>
  answer(
    `POST ${path} HTTP/1.1\r\nHost: hub.example.test:8484\r\nConnection: close\r\nContent-Type: ${type}\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )

describe('captured requests', () => {
  test('ddclient 3.10 and 4.0', async () => {
    const source = await createSource(['dd.example.test', 'ddvpn.example.test'])
    const headers = `Host: hub.example.test\r\nAuthorization: Basic ${source.basic}\r\nUser-Agent: ddclient/3.10.0\r\nConnection: close\r\n\r\n`
    const older = (more = '') =>
      `GET /nic/update?system=dyndns&hostname=dd.example.test,ddvpn.example.test&myip=203.0.113.7${more} HTTP/1.1\r\n${headers}`
    expect(await answer(older())).toEqual([200, 'good 203.0.113.7\ngood 203.0.113.7\n'])
    expect(await answer(older('&wildcard=ON&mx=mail.example.test&backmx=YES'))).toEqual([
      200,
      'nochg 203.0.113.7\nnochg 203.0.113.7\n',
    ])
    expect(
      await answer(
        `GET /nic/update?hostname=dd.example.test,ddvpn.example.test&myip=203.0.113.7,2001:db8::7 HTTP/1.1\r\n${headers}`,
      ),
    ).toEqual([200, 'good 203.0.113.7,2001:db8::7\ngood 203.0.113.7,2001:db8::7\n'])
    expect((await read(source)).last_client).toMatchObject({ client: 'ddclient', protocol: 'dyndns2', auth_method: 'basic' })
  })

  test('inadyn: HTTP/1.0, one host, with the escaped address', async () => {
    const source = await createSource(['ina.example.test'])
    const request = `GET /nic/update?hostname=ina.example.test&myip=2001%3adb8%3a%3a7 HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Basic ${source.basic}\r\nUser-Agent: inadyn/2.10.0\r\n\r\n`
    expect(await answer(request)).toEqual([200, 'good 2001:db8::7\n'])
    expect(await answer(request)).toEqual([200, 'nochg 2001:db8::7\n'])
  })

  test('FRITZ!Box: IPv4, IPv6, and the prefix, by HTTP/1.0', async () => {
    const source = await createSource(['fritz.example.test'])
    const fritz = (query: string) =>
      `GET /nic/update?${query} HTTP/1.0\r\nHost: hub.example.test\r\nAuthorization: Basic ${source.basic}\r\nUser-Agent: Fritz!Box DDNS/1.0.1\r\n\r\n`
    expect(await answer(fritz('hostname=fritz.example.test&myip=203.0.113.7'))).toEqual([200, 'good 203.0.113.7\n'])
    const v6 = fritz('hostname=fritz.example.test&myipv6=2001:db8:1:100::7&ip6lanprefix=2001:db8:1:100::/56')
    expect(await answer(v6)).toEqual([200, 'good 2001:db8:1:100::7\n'])
    expect(await answer(v6)).toEqual([200, 'nochg 2001:db8:1:100::7\n'])
    expect(await values(source)).toEqual(['203.0.113.7', '2001:db8:1:100::7', '2001:db8:1:100::/56'])
    // Without IPv6, the box sends empty parameters.
    expect(await answer(fritz('hostname=fritz.example.test&myipv6=&ip6lanprefix='))).toEqual([200, 'good\n'])
    expect(await values(source)).toEqual(['203.0.113.7', null, '2001:db8:1:100::/56'])
    expect(await answer(fritz('hostname=fritz.example.test&myip=<ipaddr>'))).toEqual([200, 'dnserr\n'])
    expect((await read(source)).last_client.client).toBe('FRITZ!Box')
  })

  test('UniFi: the doubled name, through inadyn', async () => {
    const source = await createSource(['unifi.example.test'])
    expect(
      await answer(
        `GET /nic/update?hostname=unifi.example.testunifi.example.test&myip=203.0.113.7 HTTP/1.0\r\nHost: hub.example.test\r\nAuthorization: Basic ${source.basic}\r\nUser-Agent: inadyn/2.9.1\r\n\r\n`,
      ),
    ).toEqual([200, 'good 203.0.113.7\n'])
  })

  test('OPNsense, OpenWrt, Synology, and RouterOS', async () => {
    const source = await createSource(['other.example.test'])
    const basic = `Authorization: Basic ${source.basic}\r\n`
    expect(
      await get(
        '/nic/update?hostname=other.example.test&myip=203.0.113.7&system=dyndns&wildcard=NOCHG',
        `${basic}User-Agent: OPNsense-dyndns\r\n`,
      ),
    ).toEqual([200, 'good 203.0.113.7\n'])
    expect(await get('/nic/update?hostname=other.example.test&myip=203.0.113.7', `${basic}User-Agent: Wget/1.21\r\n`)).toEqual([
      200,
      'nochg 203.0.113.7\n',
    ])
    expect(await get(`/nic/update?hostname=other.example.test&myip=203.0.113.8&username=any&password=${source.secret}`)).toEqual([
      200,
      'good 203.0.113.8\n',
    ])
    expect(
      await get(
        `/nic/update?hostname=other.example.test&myip=203.0.113.8&token=${source.secret}`,
        'User-Agent: Mikrotik/7.15 Fetch\r\nAccept: */*\r\n',
      ),
    ).toEqual([200, 'nochg 203.0.113.8\n'])
    // Older routers.
    expect(
      await get(
        `/nic/update?hostname=other.example.test&myip=203.0.113.8&wildcard=NOCHG&mx=NOCHG&backmx=NOCHG&password=${source.secret}`,
      ),
    ).toEqual([200, 'nochg 203.0.113.8\n'])
  })
})

describe('HTTP as routers send it', () => {
  test.each([
    ['without Host, by HTTP/1.0', '', 'HTTP/1.0'],
    ['with an impossible port', 'Host: x:99999\r\n', 'HTTP/1.1'],
    ['with blanks in the Host header', 'Host: a b\r\n', 'HTTP/1.1'],
    ['with a Host header of one character', 'Host: x\r\n', 'HTTP/1.1'],
    ['with a Host header of three characters', 'Host: hub\r\n', 'HTTP/1.1'],
    ['with a Host header like a path', 'Host: nic\r\n', 'HTTP/1.1'],
  ])('%s', async (_, host, version) => {
    const source = await createSource([`raw${count}.example.test`])
    const line = (path: string) => `GET ${path} ${version}\r\n${host}Connection: close\r\n\r\n`
    expect(await answer(line(`/nic/update?token=${source.secret}&myip=203.0.113.7`))).toEqual([200, 'good 203.0.113.7\n'])
    expect(await answer(line(`//nic/update?token=${source.secret}&myip=203.0.113.7`))).toEqual([200, 'nochg 203.0.113.7\n'])
    expect(await answer(line('/checkip'))).toEqual([
      200,
      '<html><head><title>Current IP Check</title></head><body>Current IP Address: 127.0.0.1</body></html>\r\n',
    ])
    expect((await answer(line('/nic/update')))[0]).toBe(401)
  })

  test('other paths still require a Host header', async () => {
    expect((await send('GET /v1/limits HTTP/1.0\r\n\r\n')).status).toBe(400)
    expect((await send('GET /update-all HTTP/1.0\r\n\r\n')).status).toBe(400)
    for (const host of ['a', 'hub', 'hub:80'])
      expect([host, (await send(`GET /v1/limits HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`)).status]).toEqual([
        host,
        401,
      ])
  })

  test('two slashes, trailing slashes, and forms', async () => {
    const source = await createSource(['slash.example.test'])
    expect(await get(`//nic/update?token=${source.secret}&myip=203.0.113.7`)).toEqual([200, 'good 203.0.113.7\n'])
    expect(await get(`/v3/update/?token=${source.secret}&myip=203.0.113.7`)).toEqual([200, 'nochg 203.0.113.7\n'])
    expect(await post('/nic/update', `password=${source.secret}&myip=203.0.113.8`)).toEqual([200, 'good 203.0.113.8\n'])
    expect(await post('/nic/update?myip=203.0.113.9', `token=${source.secret}&myip=203.0.113.8`)).toEqual([
      200,
      'good 203.0.113.9\n',
    ])
    expect((await read(source)).last_client.auth_method).toBe('form')
    expect(await post(`/nic/update?token=${source.secret}&myip=203.0.113.9`, '{"myip":1}', 'application/json')).toEqual([
      200,
      'nochg 203.0.113.9\n',
    ])
  })

  test('HEAD and other methods are refused and update nothing', async () => {
    const source = await createSource(['head.example.test'])
    for (const path of ['/nic/update', '/update', '/v1/ingest/dynamic-ips/update']) {
      const { status, head, body } = await send(
        `HEAD ${path}?token=${source.secret}&myip=203.0.113.7 HTTP/1.1\r\nHost: hub.example.test\r\nConnection: close\r\n\r\n`,
      )
      expect([status, body]).toEqual([405, ''])
      expect(head).toMatch(/\r\nAllow: GET, POST\r?\n?/i)
    }
    expect(
      (await send(`PUT /nic/update?token=${source.secret} HTTP/1.1\r\nHost: hub.example.test\r\nConnection: close\r\n\r\n`))
        .status,
    ).toBe(405)
    expect(await values(source)).toEqual([null, null, null])
  })
})

describe('DuckDNS and dynv6', () => {
  test('DuckDNS by query and by path', async () => {
    const source = await createSource(['duck.example.test', 'second.example.test'])
    const update = (query: string) => get(`/update?domains=duck&token=${source.secret}${query}`)
    expect(await update('&ip=203.0.113.7')).toEqual([200, 'OK'])
    expect(await update('&ip=203.0.113.7&ipv6=2001:db8::7&verbose=true')).toEqual([200, 'OK\n203.0.113.7\n2001:db8::7\nUPDATED'])
    expect(await update('&ip=203.0.113.7&verbose=true')).toEqual([200, 'OK\n203.0.113.7\n2001:db8::7\nNOCHANGE'])
    expect(await get(`/update/duck,second/${source.secret}/203.0.113.8`)).toEqual([200, 'OK'])
    expect(await get(`/update/duck/bw%5Fddns${source.secret.slice(7)}/203.0.113.9`)).toEqual([200, 'OK'])
    expect((await read(source)).last_client).toMatchObject({ protocol: 'duckdns', auth_method: 'path' })
    expect(await update('&txt=abc')).toEqual([200, 'KO'])
    expect(await get(`/update?domains=nobody&token=${source.secret}`)).toEqual([200, 'KO'])
    expect(await get(`/update?domains=duck&token=nonsense`)).toEqual([200, 'KO'])
    expect(await get(`/update/duck/${newIngestToken('ddns')}`)).toEqual([200, 'KO'])
    expect(await update('&clear=true')).toEqual([200, 'OK'])
    expect(await values(source)).toEqual([null, null, null])
  })

  test('/update with other parameters is dyndns2', async () => {
    const source = await createSource(['plain.example.test'])
    expect(await get(`/update?hostname=plain.example.test&token=${source.secret}&myip=203.0.113.7`)).toEqual([
      200,
      'good 203.0.113.7\n',
    ])
  })

  test('dynv6', async () => {
    const source = await createSource(['six.example.test'])
    const update = (query: string) => get(`/api/update?zone=six.example.test&token=${source.secret}${query}`)
    expect(await update('&ipv4=203.0.113.7&ipv6=2001:db8::7')).toEqual([200, 'addresses updated'])
    expect(await update('&ipv4=203.0.113.7&ipv6=2001:db8::7')).toEqual([200, 'addresses unchanged'])
    expect(await get('/api/update?zone=six&token=nonsense')).toEqual([401, 'invalid authentication token'])
  })

  test('/nic/delete removes both addresses', async () => {
    const source = await createSource(['gone.example.test'])
    await get(`/nic/update?token=${source.secret}&myip=203.0.113.7,2001:db8::7`)
    expect(await get(`/nic/delete?token=${source.secret}&hostname=gone.example.test`)).toEqual([200, 'good\n'])
    expect(await values(source)).toEqual([null, null, null])
  })
})

describe('the JSON API', () => {
  const call = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
    anonymous.call(method, `/v1/ingest/dynamic-ips/${path}`, body, headers)
  const bearer = (source: Source) => ({ authorization: `Bearer ${source.secret}` })

  test('reports addresses, removes them, and refuses mistakes', async () => {
    const source = await createSource(['json.example.test', 'json2.example.test'])
    const first = await call('POST', 'update', { ipv4: '203.0.113.7', hosts: ['json.example.test'] }, bearer(source))
    expect([first.status, first.body]).toEqual([
      200,
      {
        changed: true,
        ipv4: '203.0.113.7',
        ipv6: null,
        prefix6: null,
        hosts: [{ name: 'json.example.test', result: 'changed', problem: null }],
      },
    ])
    const second = await call('GET', `update?myip=203.0.113.7&prefix=2001:db8::/56&token=${source.secret}`)
    expect(second.body).toMatchObject({ changed: true, ipv4: '203.0.113.7', prefix6: '2001:db8::/56' })
    expect((await call('POST', 'update', { ipv4: null }, bearer(source))).body).toMatchObject({ changed: true, ipv4: null })
    for (const [body, pointer, code] of [
      [{ ipv4: '100.65.3.2' }, '#', 'dnserr'],
      [{ ipv4: '2001:db8::7' }, '#', 'dnserr'],
      [{ ipv6: 'fe80::1%eth0' }, '#', 'dnserr'],
      [{ hosts: ['nobody.example.test'], ipv4: '203.0.113.7' }, '#/hosts', 'nohost'],
      [{ hosts: ['%h'], ipv4: '203.0.113.7' }, '#/hosts', 'notfqdn'],
      [{ ipv4: 7 }, '#/ipv4', 'type'],
      [{ nonsense: 7 }, '#/nonsense', 'unknown'],
    ] as const) {
      const refused = await call('POST', 'update', body, bearer(source))
      expect([refused.status, refused.body.errors?.[0].pointer]).toEqual([422, pointer])
      if (pointer !== '#/nonsense') expect(refused.body.errors[0].code).toBe(code)
    }
    expect((await call('POST', 'offline', {}, bearer(source))).body).toMatchObject({ ipv4: null, ipv6: null })
  })

  test('the token is checked first', async () => {
    for (const token of ['', newIngestToken('ddns')]) {
      const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` }
      const { status, body, headers: received } = await call('POST', 'update', { ipv4: 7 }, headers)
      expect([status, body.code, received.get('www-authenticate')]).toEqual([401, 'invalid_token', 'Basic realm="dynamic-ip"'])
    }
  })

  test('the address of the caller', async () => {
    expect((await call('GET', 'address')).body).toEqual({ address: '127.0.0.1', family: 'ipv4' })
    expect((await call('GET', 'address', undefined, { 'x-forwarded-for': '2001:db8::9' })).body).toEqual({
      address: '2001:db8::9',
      family: 'ipv6',
    })
  })
})

describe('refusals', () => {
  const update = (source: Source, query: string, headers = '') =>
    get(`/nic/update?${query}`, `Authorization: Basic ${source.basic}\r\n${headers}`)
  const history = async (source: Source) => {
    await flushCalls(hub)
    return (await acme.call('GET', `/v1/dynamic-ips/${source.id}/updates`)).body.data
  }

  test('a wrong token, a revoked one, another address, and plain HTTP are the same to the client', async () => {
    const strict = { require_https: true, allowed_cidrs: ['198.51.100.0/24'] }
    const source = await createSource(['strict.example.test'], strict)
    const badauth = [401, 'badauth\n']
    expect(await get(`/nic/update?token=${newIngestToken('ddns')}`)).toEqual(badauth)
    expect(await get('/nic/update')).toEqual(badauth)
    const { head } = await send('GET /nic/update HTTP/1.1\r\nHost: hub.example.test\r\nConnection: close\r\n\r\n')
    expect(head).toContain('WWW-Authenticate: Basic realm="dynamic-ip"')
    const good = 'X-Forwarded-For: 198.51.100.9\r\nX-Forwarded-Proto: https\r\n'
    expect(await update(source, 'myip=203.0.113.7', 'X-Forwarded-For: 198.51.100.9\r\nX-Forwarded-Proto: http\r\n')).toEqual(
      badauth,
    )
    expect(await update(source, 'myip=203.0.113.7', 'X-Forwarded-For: 192.0.2.9\r\nX-Forwarded-Proto: https\r\n')).toEqual(
      badauth,
    )
    expect(await update(source, 'myip=203.0.113.7', good)).toEqual([200, 'good 203.0.113.7\n'])
    const noted = (await history(source)).map((one: any) => [one.explanation, one.https, ...one.response_lines])
    expect(noted.sort()).toEqual([
      ['The IPv4 address is 203.0.113.7.', true, 'good 203.0.113.7'],
      ['The client used HTTP, but this source requires HTTPS.', false, 'badauth'],
      ['This source does not accept requests from 192.0.2.9.', true, 'badauth'],
    ])
    await acme.call('POST', `/v1/dynamic-ips/${source.id}/revoke-token`)
    expect(await update(source, 'myip=203.0.113.7', good)).toEqual(badauth)
  })

  test('unknown hosts, refused addresses, and too many hosts have a code and an explanation', async () => {
    const source = await createSource(['codes.example.test', 'codes2.example.test'])
    const table: [query: string, body: string, explanation: string][] = [
      [
        'hostname=codes.example.test,nobody.example.test&myip=203.0.113.7',
        'good 203.0.113.7\nnohost\n',
        'no host named `nobody.example.test`',
      ],
      ['hostname=nobody.example.test&myip=203.0.113.8', 'nohost\n', 'Nothing changed. This source has no host'],
      ['hostname=%h&myip=203.0.113.8', 'notfqdn\n', '`%h` is not a full host name'],
      [`hostname=${Array(21).fill('codes.example.test').join(',')}&myip=203.0.113.8`, 'numhost\n', 'more than 20 hosts'],
      ['myip=100.65.3.2', 'dnserr\n', 'a carrier’s network (RFC 6598)'],
      ['myip=fd00::1', 'dnserr\n', 'unique local address'],
      ['myip=%3a%3affff%3a127.0.0.1', 'dnserr\n', 'loopback'],
      ['myip=fe80::1%25eth0', 'dnserr\n', 'zone ID'],
      ['myipv6=2001:db8::/65', 'dnserr\n', 'from /48 to /64'],
      ['ip6lanprefix=2001:db8::/47', 'dnserr\n', 'from /48 to /64'],
      ['myip=%zz', 'dnserr\n', '`%zz`, which is not an IP address'],
      ['myip=%00', 'dnserr\n', 'not an IP address'],
      [`myip=${Array(1000).fill('203.0.113.8').join(',')}`, 'dnserr\n', 'too many parameters or addresses'],
      ['', 'dnserr\n', 'the address of the connection is a loopback address'],
    ]
    for (const [query, body] of table) expect([query, await update(source, query)]).toEqual([query, [200, body]])
    const noted = (await history(source)).map((one: any) => one.explanation).join('\n')
    for (const [, , explanation] of table) expect(noted).toContain(explanation)
    expect(await values(source)).toEqual(['203.0.113.7', null, null])
  })

  test('huge requests are answered, and store nothing', async () => {
    const source = await createSource(['huge.example.test'])
    const answers = [
      await post(`/nic/update?token=${source.secret}`, 'myip=203.0.113.7&'.repeat(60_000)),
      await post(`/nic/update?token=${source.secret}`, `myip=203.0.113.7&x=${'x'.repeat(1_000_000)}`),
      await update(source, 'myip=203.0.113.7&'.repeat(800)),
      await get(`/nic/update?token=${'x'.repeat(10_000)}&password=${source.secret}&myip=203.0.113.7`),
    ]
    expect(answers).toEqual([
      [200, 'dnserr\n'],
      [200, 'dnserr\n'],
      [200, 'dnserr\n'],
      [200, 'good 203.0.113.7\n'],
    ])
    const { status } = await send(
      `GET /nic/update?x=${'x'.repeat(1_000_000)} HTTP/1.1\r\nHost: hub.example.test\r\nConnection: close\r\n\r\n`,
    )
    expect(status).toBe(431)
  })

  test('wrong tokens from one address are slowed down, and a right one is not', async () => {
    const source = await createSource(['right.example.test'])
    const from = 'X-Forwarded-For: 192.0.2.77\r\n'
    const wrong = `/nic/update?token=${newIngestToken('ddns')}`
    const request = (path: string) =>
      app.handle(new Request(`http://localhost:8484${path}`, { headers: { 'x-forwarded-for': '192.0.2.77' } }))
    const statuses = new Set<number>()
    for (let at = 0; at < 1000; at++) statuses.add((await request(wrong)).status)
    expect([...statuses]).toEqual([401])
    const refused = await request(wrong)
    expect([refused.status, await refused.text(), Number(refused.headers.get('retry-after'))]).toEqual([
      503,
      '911\n',
      expect.any(Number),
    ])
    expect(await (await request(`/update?domains=a&token=x`)).text()).toBe('KO')
    expect(await update(source, 'myip=203.0.113.7', from)).toEqual([200, 'good 203.0.113.7\n'])
  })

  test('too many calls and too many changes get 911, each family for itself', async () => {
    const source = await createSource(['busy.example.test'])
    const request = (query: string) => app.handle(new Request(`http://localhost:8484/nic/update?token=${source.secret}&${query}`))
    const texts = async (queries: string[]) => {
      const all: string[] = []
      for (const query of queries) all.push(await (await request(query)).text())
      return all
    }
    const changes = await texts(Array.from({ length: 7 }, (_, at) => `myip=203.0.113.${at}`))
    expect(changes).toEqual([...Array.from({ length: 6 }, (_, at) => `good 203.0.113.${at}\n`), '911\n'])
    expect(await texts(['myip=2001:db8::7', 'myip=203.0.113.5'])).toEqual(['good 2001:db8::7\n', 'nochg 203.0.113.5\n'])
    await texts(Array(111).fill('myip=203.0.113.5'))
    const limited = await request('myip=203.0.113.5')
    expect([limited.status, await limited.text(), limited.headers.get('retry-after')]).toEqual([503, '911\n', '1'])
    const json = await anonymous.call('GET', `/v1/ingest/dynamic-ips/update?myip=203.0.113.5&token=${source.secret}`)
    expect([json.status, json.body.code]).toEqual([429, 'rate_limited'])
    clock.advance(60_000)
    expect(await texts(['myip=203.0.113.9'])).toEqual(['good 203.0.113.9\n'])
  })

  test('lookups of the address are limited', async () => {
    const lookup = () => app.handle(new Request('http://localhost:8484/myip', { headers: { 'x-forwarded-for': '192.0.2.78' } }))
    for (let at = 0; at < 60; at++) expect(await (await lookup()).text()).toBe('192.0.2.78\n')
    expect((await lookup()).status).toBe(503)
  })

  test('a paused source stores what is reported; a held one refuses changes for now', async () => {
    const source = await createSource(['held.example.test'])
    await update(source, 'myip=203.0.113.1')
    await acme.call('POST', `/v1/dynamic-ips/${source.id}/pause`)
    expect(await update(source, 'myip=203.0.113.2')).toEqual([200, 'good 203.0.113.2\n'])
    expect((await history(source))[0].explanation).toContain('The source is paused')
    await acme.call('POST', `/v1/dynamic-ips/${source.id}/resume`)
    let last: unknown[] = []
    for (let at = 0; at < 10 && last[0] !== 503; at++) {
      clock.advance(30_000)
      last = await update(source, `myip=203.0.113.${1 + (at % 2)}`)
    }
    expect(last).toEqual([503, '911\n'])
    expect((await read(source)).status).toBe('held')
    expect(await update(source, 'myip=203.0.113.9')).toEqual([503, '911\n'])
    const json = await anonymous.call('GET', `/v1/ingest/dynamic-ips/update?myip=203.0.113.9&token=${source.secret}`)
    expect([json.status, json.body.code]).toEqual([503, 'overloaded'])
  })

  test('if the report can’t be stored, the client tries again', async () => {
    const source = await createSource(['broken.example.test'])
    const store = spyOn(hub.store, 'transact').mockRejectedValue(new Error('the disk is full'))
    expect(await update(source, 'myip=203.0.113.7')).toEqual([503, '911\n'])
    expect(await get(`/update?domains=broken&token=${source.secret}&ip=203.0.113.7`)).toEqual([200, 'KO'])
    store.mockRestore()
    expect(await update(source, 'myip=203.0.113.7')).toEqual([200, 'good 203.0.113.7\n'])
  })

  test('no token is in the log, the history, or the audit log', async () => {
    const source = await createSource(['secret.example.test'])
    const wrong = newIngestToken('ddns')
    const log = hub.log
    let lines = ''
    hub.log = pino({ level: 'debug' }, { write: (line: string) => void (lines += line) })
    for (const token of [source.secret, wrong]) {
      const encoded = token.replaceAll('_', '%5f')
      await get(`/update/secret/${token}/203.0.113.7`)
      await get(`/update/secret/${encoded}`)
      await get(`/nic/update?token=${token}&hostname=${token}&myip=${token}`)
      await get(`/nic/update?token=${encoded}&x=${encoded}`)
      await post('/nic/update', `password=${token}&myip=203.0.113.8`)
      await update(source, `hostname=${token}.example.test&${token}=1&myip=203.0.113.9`, `User-Agent: ${token}\r\n`)
      await answer(`GET /update/secret/${token} HTTP/1.0\r\n\r\n`)
      await get(`//update/secret/${token}/`)
      await get(`/update/secret/${token}/1/2`)
    }
    hub.log = log
    expect(lines).toContain('/update/secret/[secret]/203.0.113.7')
    const audit = (await acme.call('GET', '/v1/audit-events?limit=100')).text
    const seen = [lines, JSON.stringify(await history(source)), audit, JSON.stringify(await read(source))].join('\n')
    for (const token of [source.secret, wrong]) {
      // Without its prefix, it may be encoded.
      expect(seen.includes(token.slice(9))).toBe(false)
    }
  })
})

test('the configuration of each client has the URL of the hub and the hosts of the source', async () => {
  const source = await createSource(['config.example.test'])
  const { status, body } = await acme.call('GET', `/v1/dynamic-ips/${source.id}/client-configs`)
  expect([status, body.data.length]).toEqual([200, 12])
  for (const { client, files } of body.data) {
    const text = files.map((one: { content: string }) => one.content).join('\n')
    for (const part of [hub.baseUrl.replace('http://', ''), 'config.example.test', '{{TOKEN}}'])
      expect([client, text]).toEqual([client, expect.stringContaining(part)])
  }
  expect((await rival.call('GET', `/v1/dynamic-ips/${source.id}/client-configs`)).status).toBe(404)
})
