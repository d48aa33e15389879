import { record } from '../../src/core/change'
import type { Message } from '../../src/features/notifications/message'
import { notify } from '../../src/features/notifications/delivery/notify'
import type { World } from './world'

/** A message about an incident of the shop, by default a problem. */
export const messageOf = ({ clock }: World, more: Partial<Message> = {}): Message => ({
  kind: more.state === 'recovery' ? 'incident.resolved' : 'incident.opened',
  state: 'problem',
  severity: 'critical',
  title: 'shop.example.com is down',
  text: 'The connection was refused.',
  facts: [['Started', '2026-11-21T10:00:00.000Z']],
  link: 'https://hub.example.com/incidents/inc_1',
  acknowledgeLink: null,
  thread: 'inc_1',
  resource: { type: 'monitor', id: 'mon_1', name: 'shop.example.com' },
  tags: ['shop', 'web'],
  occurredAt: clock.now(),
  ...more,
})

/** Sends a message to the channels of acme. */
export const sendMessage = (w: World, more: Partial<Message> = {}, channelIds: string[] | null = null): Promise<void> =>
  record(w.hub, async tx => ({
    result: undefined,
    ...(await notify(tx, w.hub, { workspaceId: w.acme.workspaceId, message: messageOf(w, more), channelIds })),
  }))

/** Creates a channel of acme. */
export async function channelAt({ acme }: World, url: string, more: object = {}): Promise<any> {
  const created = await acme.call('POST', '/v1/notification-channels', {
    kind: 'webhook',
    name: `channel ${crypto.randomUUID().slice(0, 8)}`,
    settings: { url },
    ...more,
  })
  if (created.status !== 201) throw new Error(created.text)
  return created.body
}

/** Allows the workspace to send requests to this machine. */
export async function allowPrivateNetwork(w: World): Promise<World> {
  const response = await w.acme.call('PATCH', `/v1/workspaces/${w.acme.workspaceId}`, {
    network_policy: { allow_private: true, allow_ranges: [] },
  })
  if (response.status !== 200) throw new Error(response.text)
  return w
}

/** The log of a channel, oldest first: kind, status and reason. */
export async function logOf({ acme }: World, channelId: string): Promise<string[]> {
  const { body } = await acme.call('GET', `/v1/notification-channels/${channelId}/notifications?limit=100&sort=id`)
  return body.data.map((one: any) => [one.kind, one.status, one.reason].filter(part => part !== null).join(' '))
}
