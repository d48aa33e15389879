import { expect } from 'bun:test'
import type { World } from './world'

// Requests to dynamic IP sources, and what the tests compare.

export async function createSource(w: World, input: object = {}): Promise<any> {
  const { status, body } = await w.acme.call('POST', '/v1/dynamic-ips', {
    name: 'Office router',
    hosts: [{ name: 'office.example.com' }],
    ...input,
  })
  expect([status, body]).toEqual([201, body])
  return body
}

export const reportTo = (w: World, id: string, body: object) => w.acme.call('POST', `/v1/dynamic-ips/${id}/report`, body)
export const sourceOf = async (w: World, id: string) => (await w.acme.call('GET', `/v1/dynamic-ips/${id}`)).body
export const recordsOf = async (w: World, zone: { id: string }) =>
  (await w.acme.call('GET', `/v1/dns/zones/${zone.id}/records?limit=100`)).body.data.map((one: any) =>
    [one.name, one.type, one.content, one.source].join(' '),
  )
export const codeOf = ({ status, body }: { status: number; body: any }) => [
  status,
  body.errors?.[0]?.code ?? body.code,
  body.errors?.[0]?.pointer,
]

/** Sends the request of a router, and returns the response. */
export async function routerReports(w: World, secret: string, address: string, userAgent = 'ddclient/3.10.0'): Promise<string> {
  const headers = { authorization: `Basic ${btoa(`any:${secret}`)}`, 'user-agent': userAgent }
  const response = await w.app.handle(new Request(`http://localhost:8484/nic/update?myip=${address}`, { headers }))
  return `${response.status} ${(await response.text()).trimEnd()}`
}
export const kindsOfNotices = async (w: World) =>
  (await w.acme.call('GET', '/v1/notices')).body.data.map((one: any) => [one.kind, one.count])
