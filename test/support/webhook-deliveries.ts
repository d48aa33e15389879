import { raiseAlert } from './receiver'
import type { World } from './world'

/** The log of deliveries. @param query of the list */
export const deliveries = async (here: World, query = ''): Promise<any[]> =>
  (await here.acme.call('GET', `/v1/webhook-deliveries?${query}`)).body.data

/** One delivery with its attempts. */
export const getDelivery = async (here: World, id: string): Promise<any> =>
  (await here.acme.call('GET', `/v1/webhook-deliveries/${id}`)).body

/** Resends a delivery. */
export const resend = (here: World, id: string) => here.acme.call('POST', `/v1/webhook-deliveries/${id}/resend`)

/** Raises an alert, and waits until it is delivered. */
export const raise = async (here: World, ...more: [string?, string?]) => {
  await raiseAlert(here, ...more)
  await here.settle()
}
