import type { SettingsForm } from '../../../core/sealed-settings'
import type { Surroundings } from '../../../core/net/surroundings'
import type { MailServer } from '../../../core/net/mail-server'
import { toldLine } from '../../../core/told-line'
import type { Message } from '../message'

/**
 * Why a message did not go out. `passing`: no answer, too many requests, a fault of the other side: worth another try. `refused`: the
 * other side does not take this message, and would not the next time. `gone`: it does not take any: the address or the token is no
 * longer good.
 */
export const channelFailures = ['passing', 'refused', 'gone'] as const
export type ChannelFailure = (typeof channelFailures)[number]

/** A message that did not go out; the text is one line for people and holds no secret. */
export class ChannelError extends Error {
  override name = 'ChannelError'
  constructor(
    readonly failure: ChannelFailure,
    message: string,
    /** Milliseconds before which nothing more is to be sent, where the other side told. */
    readonly retryAfterMs: number | null = null,
  ) {
    super(toldLine(message))
  }
}

/** One message as it goes out. */
export interface Outgoing {
  /** Of the notification; the same at each try, so that what came through twice can be told. */
  id: string
  /** What to say; several that go out together were made into one. */
  message: Message
  /** How many it stands for. */
  count: number
  /** What is told of one matter on one channel shares this name, of letters, digits, `_`, `.` and `-`. */
  thread: string
  /** Nothing of the thread went out on this channel before. */
  first: boolean
}

/** The world as a channel may see it. */
export interface ChannelSurroundings extends Surroundings {
  /** The mail server of the installation; null where none is set. */
  mail: MailServer | null
  /** Its sender. */
  mailFrom: string | null
  /** Name or address of this installation's host, by which it introduces itself to mail servers. */
  hostName: string
}

/** A way of telling people, and what a person has to say for it. */
export interface ChannelKind<S = any> extends SettingsForm {
  /** As the API names it, such as `slack`. */
  kind: string
  /** For people, such as `Slack`. */
  title: string
  /** Milliseconds between two messages at least. */
  paceMs: number
  /** Tries in a row that have to end in `gone` before a channel is disabled. */
  goneToDisable: number
  /**
   * Sends one message. The same id may come again when nobody saw how the first try ended.
   * @returns what the other side said, in a line
   * @throws ChannelError, FetchFailed, EgressRefused
   */
  send(settings: S, outgoing: Outgoing, around: ChannelSurroundings): Promise<string>
}
