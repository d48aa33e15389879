import { expect } from 'bun:test'
import type { Caller } from './world'

/** A template with one variable, the address of a website. */
export const siteTemplate = {
  name: 'Website',
  variables: [{ name: 'address', type: 'ip' }],
  records: [
    { type: 'A', name: '@', content: '{{address}}', ttl: 300 },
    { type: 'CNAME', name: 'www', content: '{{fqdn}}.' },
  ],
}
/** Variables for the template. */
export const siteAddress = { address: '192.0.2.10' }

export const templateOf = (records: object[], variables: object[] = []) => ({ name: 'One', variables, records })

export async function createTemplate(caller: Caller, input: object = siteTemplate): Promise<any> {
  const answer = await caller.call('POST', '/v1/dns/templates', input)
  expect([answer.status, answer.text]).toEqual([201, expect.any(String)])
  return answer.body
}

export async function applyTemplate(caller: Caller, templateId: string, zone: any, more: object = {}): Promise<any> {
  const answer = await caller.call('POST', `/v1/dns/templates/${templateId}/apply`, { zone_id: zone.id, ...more })
  expect([answer.status, answer.body?.detail]).toEqual([201, undefined])
  return answer.body
}

/** Records of a zone as `name ttl type content`, without NS and glue. */
export async function recordsOf(caller: Caller, zone: any): Promise<string[]> {
  const { data } = (await caller.call('GET', `/v1/dns/zones/${zone.id}/records?limit=100`)).body
  return data
    .filter((one: any) => one.type !== 'NS' && one.name !== 'ns1')
    .map((one: any) => `${one.name} ${one.ttl} ${one.type} ${one.content}`)
    .sort()
}

export async function createRecord(caller: Caller, zone: any, input: object): Promise<any> {
  return (await caller.call('POST', `/v1/dns/zones/${zone.id}/records`, input)).body
}

export const pointersAndCodes = (answer: { body: any }) => answer.body.errors?.map((one: any) => `${one.pointer} ${one.code}`)
