import type { Caller } from './world'

/** Creates a zone over the API and returns it. */
export const createZone = async (caller: Caller, name = 'example.com', more: object = {}): Promise<any> =>
  (await caller.call('POST', '/v1/dns/zones', { name, ...more })).body
