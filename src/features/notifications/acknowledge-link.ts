import type { Hub } from '../../core/hub'
import { InvalidCursor, openCursor, sealCursor } from '../../core/page'

const lifetimeMs = 7 * 86_400_000
const purpose = 'acknowledge'

/** What a link acknowledges. */
interface AcknowledgeLink {
  /** Thread of the message that contained the link. */
  thread: string
  /** The channel it was sent to: anyone who can read it there may use the link. */
  channelId: string
}

/**
 * Returns a link that acknowledges without signing in, valid for a week. It is signed with a key shared by all hubs of the database, and
 * bound to the thread and the channel.
 * @param page base URL of the acknowledge page
 */
export const acknowledgeLinkFor = (hub: Hub, page: string, { thread, channelId }: AcknowledgeLink): string =>
  `${page}/${sealCursor(hub.keys.derive('acknowledge-link'), { values: [thread, channelId, hub.clock.now() + lifetimeMs], filterHash: purpose })}`

/** Verifies a link token. Returns null if it was tampered with or has expired. */
export function readAcknowledgeLink(hub: Hub, token: string): AcknowledgeLink | null {
  try {
    const [thread, channelId, until] = openCursor(hub.keys.derive('acknowledge-link'), token, purpose)
    return (until as number) > hub.clock.now() ? { thread: thread as string, channelId: channelId as string } : null
  } catch (error) {
    if (error instanceof InvalidCursor) return null
    throw error
  }
}
