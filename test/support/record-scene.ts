import { world, type Caller } from './world'
import { createZone } from './zones'

/** The pointer and detail of each error in a response. */
export const rules = (answer: { body: any }) => answer.body.errors?.map((one: any) => [one.pointer, one.detail])

/** A workspace with a zone, and requests that add records to it. */
export async function scene() {
  const w = await world()
  const zone = await createZone(w.acme)
  await Promise.all([w.audited(), w.emitted()])
  const add = (type: string, name: string, content: string, more: object = {}) =>
    w.acme.call('POST', `/v1/dns/zones/${zone.id}/records`, { type, name, content, ...more })
  const put = (...rrsets: object[]) => w.acme.call('PUT', `/v1/dns/zones/${zone.id}/rrsets`, { rrsets })
  return { ...w, zone, add, put }
}

/** The records of a list, as text. */
export const contents = async (w: { acme: Caller }, query: string) =>
  (await w.acme.call('GET', `/v1/dns/records?${query}`)).body.data.map((one: any) => `${one.name} ${one.type} ${one.content}`)
