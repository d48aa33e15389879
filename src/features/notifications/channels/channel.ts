import type { AdapterKind } from '../../../adapters/adapter'
import type { AdapterContext } from '../../../adapters/context'
import type { MailServer } from '../../../core/net/mail-server'
import { AdapterError } from '../../../adapters/failure'
import type { Message } from '../message'

/**
 * Why a message was not sent. `temporary`: no response, rate limited or a server error, so it is retried. `rejected`: this message was not
 * accepted, or the channel has no way to send it, and a retry wouldn't help. `gone`: no message is accepted, because the destination no longer exists or the credentials are
 * invalid.
 */
export const channelFailures = ['temporary', 'rejected', 'gone'] as const
export type ChannelFailure = (typeof channelFailures)[number]

/** Thrown when a message could not be sent. */
export const ChannelError = AdapterError<ChannelFailure>

/** A message to send. */
export interface Outgoing {
  /** Id of the notification. The same for every attempt, so that receivers can detect duplicates. */
  id: string
  /** The message; a digest if several are sent together. Its times are in the time zone of the channel. */
  message: Message
  /** When it happened, as text in the time zone of the channel. */
  time: string
  /** The installation that sends the message. */
  hub: {
    /** Its host, with the port if it isn’t the default. */
    name: string
    url: string
  }
  /** Number of messages it contains. */
  count: number
  /** Identifies the thread on this channel; letters, digits, `_`, `.` and `-`. */
  thread: string
  /** Whether this is the first message of the thread on this channel. */
  first: boolean
}

/** What a channel may use from its environment. */
export interface ChannelContext extends AdapterContext {
  /**
   * Stores settings that the destination replaced, such as a new chat id, even if the message could not be sent. Neither secrets nor
   * settings that determine where secrets are sent.
   */
  replaceSettings(settings: Record<string, unknown>): void
  /** The mail server of the installation; null if none is configured. */
  mail: MailServer | null
  /** Sender address of that mail server. */
  mailFrom: string | null
  /** Hostname or address of this installation, sent to mail servers in EHLO. */
  hostName: string
}

/** A channel type and its settings. */
export interface ChannelKind<S = any> extends AdapterKind {
  /** Minimum time between two messages, in milliseconds. */
  paceMs: number
  /** Number of consecutive `gone` failures before a channel is disabled. */
  goneBeforeDisable: number
  /**
   * Sends one message. The same id may be sent again if the result of an earlier attempt was lost.
   * @returns the response of the destination, one line
   * @throws AdapterError, EgressRefused
   */
  send(settings: S, outgoing: Outgoing, context: ChannelContext): Promise<string>
}
