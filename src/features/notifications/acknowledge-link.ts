import type { Hub } from '../../core/hub'
import { InvalidCursor, openCursor, sealCursor } from '../../core/page'

// A message is read long after it was sent, but not for ever.
const goodForMs = 7 * 86_400_000
const use = 'acknowledge'

/** What a link that acknowledges is good for. */
export interface AcknowledgeLink {
  /** The thread of the message it was sent with. */
  thread: string
  /** Where it was sent: whoever can read there may use it. */
  channelId: string
}

/**
 * A link that acknowledges without a login, for a week: signed with a key that every hub of the database has, and bound to the matter
 * and to the channel it goes out on.
 * @param page the address of the page that takes it
 */
export const acknowledgeLinkFor = (hub: Hub, page: string, { thread, channelId }: AcknowledgeLink): string =>
  `${page}/${sealCursor(hub.keys.derive('acknowledge-link'), { values: [thread, channelId, hub.clock.now() + goodForMs], filterHash: use })}`

/** What a link is good for; null where it was altered or is too old. */
export function readAcknowledgeLink(hub: Hub, token: string): AcknowledgeLink | null {
  try {
    const [thread, channelId, until] = openCursor(hub.keys.derive('acknowledge-link'), token, use)
    return (until as number) > hub.clock.now() ? { thread: thread as string, channelId: channelId as string } : null
  } catch (error) {
    if (error instanceof InvalidCursor) return null
    throw error
  }
}
