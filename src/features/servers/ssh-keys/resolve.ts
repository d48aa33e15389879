import type { Ctx } from '../../../core/ctx'
import type { Reader } from '../../../core/db/transaction'

export const resolveSshKeys = async (
  _read: Reader,
  _ctx: Ctx,
  refs: readonly string[],
): Promise<{ name: string; publicKey: string }[]> => refs.map((publicKey, at) => ({ name: `key-${at + 1}`, publicKey }))
