import { record } from '../../src/core/change'
import type { Message } from '../../src/features/notifications/message'
import { tell } from '../../src/features/notifications/tell'
import type { World } from './world'

/** A message about an incident of the shop, a problem unless it says otherwise. */
export const messageOf = ({ clock }: World, more: Partial<Message> = {}): Message => ({
  kind: more.state === 'recovery' ? 'incident.resolved' : 'incident.opened',
  state: 'problem',
  severity: 'critical',
  title: 'shop.example.com is down',
  text: 'The connection was refused.',
  facts: [['Since', '2026-11-21T10:00:00.000Z']],
  link: 'https://hub.example.com/incidents/inc_1',
  acknowledgeLink: null,
  thread: 'inc_1',
  resource: { type: 'monitor', id: 'mon_1', name: 'shop.example.com' },
  tags: ['shop', 'web'],
  occurredAt: clock.now(),
  ...more,
})

/** Tells acme. */
export const told = (w: World, more: Partial<Message> = {}, channelIds: string[] | null = null): Promise<void> =>
  record(w.hub, async tx => ({
    result: undefined,
    ...(await tell(tx, w.hub, { workspaceId: w.acme.workspaceId, message: messageOf(w, more), channelIds })),
  }))

/** Makes a channel of acme. */
export async function channelAt({ acme }: World, url: string, more: object = {}): Promise<any> {
  const made = await acme.call('POST', '/v1/notification-channels', {
    kind: 'webhook',
    name: `channel ${crypto.randomUUID().slice(0, 8)}`,
    settings: { url },
    ...more,
  })
  if (made.status !== 201) throw new Error(made.text)
  return made.body
}

/** A world whose workspace may call this machine. */
export async function openToLocal(w: World): Promise<World> {
  const answer = await w.acme.call('PATCH', `/v1/workspaces/${w.acme.workspaceId}`, {
    network_policy: { allow_private: true, allow_ranges: [] },
  })
  if (answer.status !== 200) throw new Error(answer.text)
  return w
}

/** What stands in a channel's log, oldest first: kind, status and reason. */
export async function logOf({ acme }: World, channelId: string): Promise<string[]> {
  const { body } = await acme.call('GET', `/v1/notification-channels/${channelId}/notifications?limit=100&sort=id`)
  return body.data.map((one: any) => [one.kind, one.status, one.reason].filter(part => part !== null).join(' '))
}
