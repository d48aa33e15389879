import type { KeyObject } from 'node:crypto'
import { signingKey } from '../../../core/crypto'
import type { Hub } from '../../../core/hub'
import type { KeyRing } from '../../../core/secrets'
import { publicKeyText } from '../../../wire/signed'

const hubKeys = new WeakMap<KeyRing, KeyObject>()

/**
 * The Ed25519 key that signs commands to agents and the list of their downloads. As it is derived from the installation key, all hubs of
 * a database have the same one, a rotation of the master key or of data keys doesn’t change it, and backups contain it.
 */
export function hubKey({ keys }: Pick<Hub, 'keys'>): KeyObject {
  let key = hubKeys.get(keys)
  if (!key) hubKeys.set(keys, (key = signingKey(keys.derive('agent-commands'))))
  return key
}

/** The public key of `hubKey` as text, which agents get when they are enrolled. */
export const hubPublicKey = (hub: Pick<Hub, 'keys'>): string => publicKeyText(hubKey(hub))
