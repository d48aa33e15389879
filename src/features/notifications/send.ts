import { surroundingsOf } from '../../access/surroundings'
import { sha256Hex } from '../../core/crypto'
import type { Reader } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { EgressRefused } from '../../core/net/egress'
import { FetchFailed } from '../../core/net/fetch-failure'
import { openSettings, secretsOf, type Settings } from '../../core/sealed-settings'
import { NotOpened, type Place } from '../../core/secrets'
import { toldLine } from '../../core/told-line'
import { acknowledgeLinkFor } from './acknowledge-link'
import { ChannelError } from './channels/channel'
import { channelKindOf } from './channels'
import type { Message } from './message'
import type { ChannelRow, ChannelTrouble } from './tables'

/** What is to go out on a channel. */
export interface Sending {
  /** Of the first notification that goes with it. */
  id: string
  message: Message
  count: number
  first: boolean
}

/** What came of it. */
export type Sent = { said: string; trouble: null } | { trouble: ChannelTrouble; retryAfterMs: number | null }

/** Sends a message on a channel once, past the network policy of its workspace. Secrets of the channel are in nothing that is told of it. */
export async function sendOn(hub: Hub, channel: ChannelRow, sending: Sending): Promise<Sent> {
  let settings: Settings
  try {
    settings = await openChannelSettings(hub, channel)
  } catch (error) {
    if (error instanceof NotOpened) return troubled('passing', 'Its secrets cannot be opened by the keys of this hub.')
    throw error
  }
  return await sendWith(hub, channel, settings, sending)
}

/** The same with these settings, secrets among them, for a channel that need not be there yet. */
export async function sendWith(
  hub: Hub,
  channel: Pick<ChannelRow, 'id' | 'workspaceId' | 'kind'>,
  settings: Settings,
  { id, message, count, first }: Sending,
): Promise<Sent> {
  const kind = channelKindOf(channel.kind)
  if (!kind) return troubled('refused', `This version knows no channels of the kind ${channel.kind}.`)
  const secrets = secretTexts(secretsOf(kind, settings))
  try {
    const around = {
      ...(await surroundingsOf(hub, channel.workspaceId, { channel: channel.id })),
      mail: hub.config.smtpUrl,
      mailFrom: hub.config.mailFrom,
      hostName: new URL(hub.baseUrl).hostname.replace(/^\[(.*)\]$/, '$1'),
    }
    const said = await kind.send(
      settings,
      {
        id,
        message: linked(hub, channel, message),
        count,
        first,
        thread: sha256Hex(`${channel.id} ${message.thread}`).slice(0, 32),
      },
      around,
    )
    return { said: without(secrets, said), trouble: null }
  } catch (error) {
    if (error instanceof ChannelError) return troubled(error.failure, without(secrets, error.message), error.retryAfterMs)
    if (error instanceof FetchFailed) return troubled('passing', error.message)
    // The policy may be changed, and names may lead elsewhere tomorrow.
    if (error instanceof EgressRefused) return troubled('passing', error.message)
    throw error
  }
}

/** A message with the link that acknowledges it signed for the channel it goes out on. */
const linked = (hub: Hub, channel: Pick<ChannelRow, 'id'>, message: Message): Message => ({
  ...message,
  acknowledgeLink:
    message.acknowledgeLink &&
    acknowledgeLinkFor(hub, message.acknowledgeLink, { thread: message.thread, channelId: channel.id }),
})

/** All settings of a channel, its secrets among them. @throws NotOpened */
export const openChannelSettings = (
  hub: Hub,
  row: Pick<ChannelRow, 'id' | 'workspaceId' | 'settings' | 'secretsSealed'>,
  read?: Reader,
): Promise<Settings> => openSettings(hub, sealedIn(row), row, read)

/** Where the secrets of a channel are sealed for. */
export const sealedIn = ({ id, workspaceId }: Pick<ChannelRow, 'id' | 'workspaceId'>): Place => ({
  table: 'notification_channels',
  column: 'secrets_sealed',
  row: id,
  workspaceId,
})

const troubled = (failure: ChannelTrouble['failure'], detail: string, retryAfterMs: number | null = null): Sent => ({
  trouble: { failure, detail: toldLine(detail) },
  retryAfterMs,
})

// Shorter ones are found by chance in any sentence.
const shortestSecret = 6
const shortestPart = 16

/** Secrets, and what servers repeat of them: the path of a secret address, its longer parts, what follows `Bearer`. */
const secretTexts = (secrets: Settings): string[] => {
  const whole = Object.values(secrets).filter((value): value is string => typeof value === 'string')
  const parts = whole.flatMap(value => {
    const url = URL.canParse(value) && value.includes('://') ? new URL(value) : null
    return url
      ? [url.pathname + url.search, url.pathname, ...url.pathname.split('/').filter(part => part.length >= shortestPart)]
      : value.split(/\s+/).filter(word => word.length >= shortestPart)
  })
  return [...new Set([...whole, ...parts])].filter(one => one.length >= shortestSecret).sort((a, b) => b.length - a.length)
}

/** A text in which other machines may have repeated what they were sent, also where it breaks off within a secret. */
const without = (secrets: readonly string[], text: string): string =>
  secrets.reduce((left, secret) => {
    const cleared = left.replaceAll(secret, hidden)
    if (!cleared.endsWith('…')) return cleared
    for (let most = Math.min(secret.length, cleared.length) - 1; most >= shortestSecret; most--)
      if (cleared.endsWith(`${secret.slice(0, most)}…`)) return `${cleared.slice(0, -most - 1)}${hidden}`
    return cleared
  }, text)
const hidden = '•••'
