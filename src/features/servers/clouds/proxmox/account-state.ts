import { CloneTurn } from './clone-turn'
import type { ServerAddress } from '../cloud'
import type { Config } from './config'
import type { Guest } from './guests'

/** What was read of a guest in addition to the list. */
export interface KnownGuest {
  /** As it was listed when its configuration was read. */
  guest: Guest
  config: Config
  readAt: number
  /** Whether it was changed by us since. */
  isOutdated: boolean
  addresses: ServerAddress[]
  /** When its addresses can be read again (ms UTC). */
  addressesDueAt: number
  /** How often in a row they could not be read. */
  addressFailures: number
}

/**
 * What this process remembers of an account between two times that it is opened. Everything is rebuilt after a restart, and other hubs
 * have their own.
 */
export interface AccountState {
  /** By VMID. */
  known: Map<number, KnownGuest>
  /** When guests were changed by us (ms UTC), by VMID. */
  changed: Map<number, number>
  /** When VMIDs were proposed (ms UTC). */
  proposed: Map<number, number>
  turn: CloneTurn
}

const states = new Map<string, AccountState>()
const maxStates = 500

/** The state of the account with a URL and a token. */
export function accountState(url: string, tokenId: string): AccountState {
  const key = JSON.stringify([url, tokenId])
  const state = states.get(key) ?? { known: new Map(), changed: new Map(), proposed: new Map(), turn: new CloneTurn() }
  // The one that was used last is the last one.
  states.delete(key)
  states.set(key, state)
  const [oldest] = states.keys()
  if (states.size > maxStates) states.delete(oldest!)
  return state
}
