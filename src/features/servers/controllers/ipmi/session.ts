import { randomBytes } from 'node:crypto'
import { CloudError } from '../controller'
import type { CipherSuite } from './cipher-suites'
import type { Dialog } from './dialog'
import {
  openSessionRequest,
  rakp1,
  rakp3,
  readOpenSession,
  readRakp2,
  readRakp4,
  type BmcPart,
  type Exchange,
} from './key-exchange'
import { commands, requestMessage, responseTo, type IpmiCommand, type IpmiResponse } from './messages'
import { openPlain, openSealed, openSetup, plainPacket, sealedPacket, setupPacket, setupTypes, type SessionKeys } from './packets'

/** How to sign in to a BMC. */
interface SignIn {
  suite: CipherSuite
  user: string
  password: string
  /** Privilege level of the session: 3 is operator, 4 administrator. */
  privilege: number
}

/** How long to wait for a response after each attempt, in milliseconds. */
export interface Waits {
  repeated: readonly number[]
  /** For commands that must not be carried out twice, which are sent only once. */
  once: number
}
export const defaultWaits: Waits = { repeated: [500, 1000, 2000, 3000], once: 6000 }

/** An encrypted and authenticated session with a BMC (IPMI 2.0, section 13.15). */
export class IpmiSession {
  #sent = 0
  #received = 0
  #number = 0

  private constructor(
    private readonly dialog: Dialog,
    private readonly waits: Waits,
    private readonly consoleId: Uint8Array,
    private readonly bmcId: Uint8Array,
    private readonly keys: SessionKeys,
  ) {}

  /** Signs in. @throws CloudError */
  static async open(dialog: Dialog, signIn: SignIn, waits: Waits): Promise<IpmiSession> {
    await expectIpmi2(dialog, signIn, waits)
    const exchange: Exchange = { ...signIn, consoleId: sessionId(), consoleRandom: randomBytes(16) }
    const bmcId = await opened(dialog, exchange, waits)
    const part = await identified(dialog, exchange, bmcId, waits)
    const keys = await agreed(dialog, exchange, part, waits)
    const session = new IpmiSession(dialog, waits, exchange.consoleId, bmcId, keys)
    await session.#raisePrivilege(signIn.privilege)
    return session
  }

  /**
   * Carries out a command.
   * @param once whether it must not be repeated if no response is received
   * @throws CloudError
   */
  async command(command: IpmiCommand, once = false): Promise<IpmiResponse> {
    const number = this.#nextNumber()
    const response = await this.dialog.ask(
      () => this.#sealed(command, number),
      octets => {
        const opened = openSealed(octets, this.consoleId, this.keys)
        // The numbers of a session only increase: a packet with an old one was repeated.
        if (opened === null || opened.sequence <= this.#received) return null
        const read = responseTo(command, number, opened.message)
        if (read !== null) this.#received = opened.sequence
        return read
      },
      once ? [this.waits.once] : this.waits.repeated,
    )
    if (response === null) throw new CloudError('timeout', 'The BMC did not respond to a command.')
    return response
  }

  /** Ends the session. BMCs have only a few, and an unused one would only end after a minute. */
  close(): void {
    try {
      this.dialog.send(this.#sealed(commands.closeSession(this.bmcId), this.#nextNumber()))
    } catch (error) {
      if (!(error instanceof CloudError)) throw error
    }
  }

  /** A session starts with the privileges of a user. */
  async #raisePrivilege(privilege: number): Promise<void> {
    const { completion } = await this.command(commands.setSessionPrivilege(privilege))
    if (completion !== 0) throw privilegeTooHigh()
  }

  /** A repeated request has a new sequence number in the session, but the same number as a request. */
  #sealed(command: IpmiCommand, number: number): Uint8Array {
    this.#sent += 1
    return sealedPacket(requestMessage(command, number), this.bmcId, this.#sent, this.keys)
  }

  #nextNumber(): number {
    this.#number = (this.#number + 1) & 0x3f
    return this.#number
  }
}

/** Ids of sessions are not zero. */
function sessionId(): Uint8Array {
  const id = randomBytes(4)
  id[0]! |= 1
  return id
}

/** Checks that a BMC responds and speaks IPMI 2.0. @throws CloudError */
async function expectIpmi2(dialog: Dialog, { privilege }: SignIn, { repeated }: Waits): Promise<void> {
  const command = commands.getChannelAuthenticationCapabilities(privilege)
  const response = await dialog.ask(
    () => plainPacket(requestMessage(command, 0)),
    octets => {
      const message = openPlain(octets)
      return message && responseTo(command, 0, message)
    },
    repeated,
  )
  if (response === null)
    throw new CloudError(
      'timeout',
      'The host does not respond to IPMI. Check that IPMI over LAN is enabled in the BMC.',
      null,
      false,
    )
  // Bit 7 of the types: extended capabilities; bit 1 of these: IPMI 2.0.
  const [, types = 0, , extended = 0] = response.data
  if (response.completion === 0 && (types & 0x80) !== 0 && (extended & 0x02) !== 0) return
  throw new CloudError('refused', 'The BMC does not support IPMI 2.0.', null, false)
}

async function opened(dialog: Dialog, exchange: Exchange, waits: Waits): Promise<Uint8Array> {
  const response = await setUp(dialog, setupTypes.openSession, waits, tag => ({
    payload: openSessionRequest(tag, exchange),
    read: payload => readOpenSession(payload, tag, exchange),
  }))
  if (!response || response.sameSuite === false) throw suiteUnsupported(exchange)
  if (!response.bmcId) throw statusError(response.status, exchange)
  return response.bmcId
}

async function identified(dialog: Dialog, exchange: Exchange, bmcId: Uint8Array, waits: Waits): Promise<BmcPart> {
  const response = await setUp(dialog, setupTypes.rakp1, waits, tag => ({
    payload: rakp1(tag, exchange, bmcId),
    read: payload => readRakp2(payload, tag, exchange, bmcId),
  }))
  // Some BMCs don't respond to names that they don't know.
  if (!response) throw unknownUser(exchange)
  if (!response.part) throw statusError(response.status, exchange)
  if (!response.knowsPassword) throw wrongPassword(exchange)
  return response.part
}

async function agreed(dialog: Dialog, exchange: Exchange, part: BmcPart, waits: Waits): Promise<SessionKeys> {
  const response = await setUp(dialog, setupTypes.rakp3, waits, tag => ({
    payload: rakp3(tag, exchange, part),
    read: payload => readRakp4(payload, tag, exchange, part),
  }))
  if (!response) throw new CloudError('timeout', 'The BMC did not complete the sign-in.', null, false)
  if (response.status !== 0) throw statusError(response.status, exchange)
  if (!response.keys)
    throw new CloudError('unauthorized', 'The BMC has a BMC key (Kg), which is not supported. Remove it in the BMC.')
  return response.keys
}

/**
 * Sends a message of session setup. Each attempt has its own tag, and only the last one counts: the BMC may have forgotten what it sent in
 * response to earlier ones.
 */
async function setUp<T extends object>(
  dialog: Dialog,
  type: number,
  { repeated }: Waits,
  messageOf: (tag: number) => { payload: Buffer; read(payload: Buffer): T | null },
): Promise<T | null> {
  let tag = 0
  let read: (payload: Buffer) => T | null
  return await dialog.ask(
    () => {
      const message = messageOf(tag++)
      read = message.read
      return setupPacket(type, message.payload)
    },
    octets => {
      const payload = openSetup(type + 1, octets)
      return payload && read(payload)
    },
    repeated,
  )
}

/** Statuses of session setup (table 13-15). */
function statusError(status: number, exchange: Exchange): CloudError {
  switch (status) {
    case 0x01:
    case 0x0b:
      return new CloudError('throttled', 'All sessions of the BMC are in use. They end after a minute without activity.')
    case 0x04:
    case 0x05:
    case 0x10:
    case 0x11:
      return suiteUnsupported(exchange)
    case 0x09:
    case 0x0a:
      return privilegeTooHigh()
    case 0x0d:
      return unknownUser(exchange)
    case 0x0f:
      return wrongPassword(exchange)
    default:
      return new CloudError('refused', `The BMC refused the sign-in with status 0x${hex(status)}.`, null, false)
  }
}

const suiteUnsupported = ({ suite: { id } }: Exchange): CloudError =>
  new CloudError(
    'refused',
    `The BMC does not accept cipher suite ${id}. Enable it in the BMC, or set cipher_suite to ${id === 17 ? 3 : 17}.`,
    null,
    false,
  )

const unknownUser = ({ user }: Exchange): CloudError =>
  new CloudError('unauthorized', `The BMC has no user "${user}", or the user has no access over LAN.`)

const wrongPassword = ({ user }: Exchange): CloudError =>
  new CloudError('unauthorized', `The password of the user "${user}" is wrong.`)

export const privilegeTooHigh = (): CloudError =>
  new CloudError(
    'unauthorized',
    'The user does not have the privilege level of the setting `privilege` on this channel of the BMC.',
  )

export const hex = (octet: number): string => octet.toString(16).padStart(2, '0')
