import type { Ctx } from '../../core/ctx'
import type { Tx } from '../../core/db/transaction'
import type { Hub } from '../../core/hub'
import { sealedIn } from '../../core/outgoing/signing-secrets'
import { invalid } from '../../core/problem'
import { servers } from './tables'
import type { ServerRow } from './view'

const maxBytes = 32 * 1024

/** @throws Problem 422 if user data is too long */
export function requireShort(userData: unknown, pointer = '#/user_data'): void {
  if (typeof userData === 'string' && Buffer.byteLength(userData) > maxBytes)
    throw invalid([{ pointer, code: 'too_long', detail: 'must have at most 32,768 bytes.' }])
}

type Owner = Pick<ServerRow, 'id' | 'workspaceId'>

/** Encrypts user data for its column. */
export const sealUserData = async (tx: Tx, { hub }: Pick<Ctx, 'hub'>, row: Owner, text: string | null): Promise<string | null> =>
  text === null ? null : await hub.keys.seal(tx, sealedIn(servers, row, 'user_data_sealed'), text)

/** Decrypts the user data of a server; null if it has none. @throws DecryptionFailed */
export const openUserData = async (hub: Hub, row: Owner & Pick<ServerRow, 'userDataSealed'>): Promise<string | null> =>
  row.userDataSealed === null ? null : await hub.keys.open(sealedIn(servers, row, 'user_data_sealed'), row.userDataSealed)
