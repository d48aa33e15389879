import { openAccountSettings, unsupportedKind } from '../../../adapters/accounts/accounts'
import { adapterContextOf } from '../../../adapters/accounts/context'
import { AdapterError } from '../../../adapters/failure'
import { redactSecrets } from '../../../adapters/redaction'
import { sha256Hex } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'
import { EgressRefused } from '../../../core/net/egress'
import { secretsOf, type Settings } from '../../../core/sealed-settings'
import { DecryptionFailed } from '../../../core/secrets'
import { oneLine } from '../../../core/one-line'
import { acknowledgeLinkFor } from '../acknowledge-link'
import { formatUtcSecond } from '../../../core/clock'
import { inTimezone } from '../../../core/local-times'
import { channelAccounts } from '../channel-accounts'
import { channelFailures, type ChannelContext } from '../channels/channel'
import { channelKindOf } from '../channels'
import type { Message } from '../message'
import type { ChannelRow, LastError } from '../tables'
import { timezoneOf } from './timezone'

/** A message to send on a channel. */
interface OutgoingMessage {
  /** Id of the first notification in the message. */
  id: string
  message: Message
  count: number
  first: boolean
}

/** The result of an attempt. `replaced`: settings that the destination replaced; null if there are none. */
export type SendResult = ({ response: string; error: null } | { error: LastError; retryAfterMs: number | null }) & {
  replaced: Settings | null
}

/** Sends a message on a channel once, subject to the network policy of its workspace. Redacts secrets of the channel from the result. */
export async function sendToChannel(hub: Hub, channel: ChannelRow, sending: OutgoingMessage): Promise<SendResult> {
  let settings: Settings
  try {
    settings = await openAccountSettings(hub, channelAccounts, channel)
  } catch (error) {
    if (error instanceof DecryptionFailed)
      return failed('temporary', 'The secrets of the channel can’t be decrypted with the keys of this hub.')
    throw error
  }
  return await sendWithSettings(hub, channel, settings, sending)
}

/** Like `sendToChannel`, with the given settings including secrets. The channel need not exist yet. */
export async function sendWithSettings(
  hub: Hub,
  channel: Pick<ChannelRow, 'id' | 'workspaceId' | 'kind'>,
  settings: Settings,
  { id, message, count, first }: OutgoingMessage,
): Promise<SendResult> {
  const kind = channelKindOf(channel.kind)
  if (!kind) return failed('rejected', unsupportedKind(channelAccounts, channel.kind))
  const secrets = Object.values(secretsOf(kind, settings))
  let replaced: Settings | null = null
  try {
    const context: ChannelContext = {
      ...(await adapterContextOf(hub, channel.workspaceId, { channel: channel.id })),
      mail: hub.config.smtpUrl,
      mailFrom: hub.config.mailFrom,
      hostName: new URL(hub.baseUrl).hostname.replace(/^\[(.*)\]$/, '$1'),
      replaceSettings: changed => {
        replaced = { ...replaced, ...changed }
      },
    }
    const timezone = await timezoneOf(hub.read, channel, settings)
    const response = await kind.send(
      settings,
      {
        id,
        message: localized(withAcknowledgeLink(hub, channel, message), timezone),
        time: inTimezone(formatUtcSecond(message.occurredAt), timezone),
        hub: { name: new URL(hub.baseUrl).host, url: hub.baseUrl },
        count,
        first,
        thread: sha256Hex(`${channel.id} ${message.thread}`).slice(0, 32),
      },
      context,
    )
    return { response: redactSecrets(response, secrets), error: null, replaced }
  } catch (error) {
    if (error instanceof AdapterError) {
      // Without a response, the message may not have arrived.
      const failure = channelFailures.find(one => one === error.failure) ?? 'temporary'
      return failed(failure, redactSecrets(error.message, secrets), { retryAfterMs: error.retryAfterMs, replaced })
    }
    // Temporary: the policy may change, and the name may resolve to another address.
    if (error instanceof EgressRefused) return failed('temporary', error.message, { replaced })
    throw error
  }
}

/** A message with its acknowledge link signed for the channel. */
const withAcknowledgeLink = (hub: Hub, channel: Pick<ChannelRow, 'id'>, message: Message): Message => ({
  ...message,
  acknowledgeLink:
    message.acknowledgeLink &&
    acknowledgeLinkFor(hub, message.acknowledgeLink, { thread: message.thread, channelId: channel.id }),
})

/** A message with its times, which are in UTC, in a time zone. */
const localized = (message: Message, timezone: string): Message => ({
  ...message,
  title: inTimezone(message.title, timezone),
  text: inTimezone(message.text, timezone),
  facts: message.facts.map(([name, value]) => [name, inTimezone(value, timezone)] as const),
})

const failed = (
  code: LastError['code'],
  detail: string,
  { retryAfterMs = null, replaced = null }: { retryAfterMs?: number | null; replaced?: Settings | null } = {},
): SendResult => ({ error: { code, detail: oneLine(detail) }, retryAfterMs, replaced })
