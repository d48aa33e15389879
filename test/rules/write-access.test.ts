import { expect, test } from 'bun:test'
import { tokens } from '../../src/access/tables'
import type { ChangeResult, RecordResult } from '../../src/core/change-result'
import type { Ctx } from '../../src/core/ctx'
import type { Tx } from '../../src/core/db/transaction'
import type { Hub } from '../../src/core/hub'

// The functions below are only type-checked: `bun check` fails if one of these lines becomes valid.
// All writes go through core/change.ts, which adds an audit event in the same transaction.

export function writesWithoutChange(hub: Hub, ctx: Ctx): unknown[] {
  return [
    hub.read.select().from(tokens),
    // @ts-expect-error a reader cannot insert
    hub.read.insert(tokens),
    // @ts-expect-error a reader cannot update
    hub.read.update(tokens),
    // @ts-expect-error a reader cannot delete
    hub.read.delete(tokens),
    // @ts-expect-error a reader cannot run arbitrary statements
    hub.read.run('delete from tokens'),
    // @ts-expect-error a reader cannot open a transaction
    hub.read.transaction(async () => {}),
    // @ts-expect-error the context of a request has no way to write either
    ctx.tx,
  ]
}

/** A transaction can also read, but a reader is not a transaction. */
export const readerIsNoTransaction = (hub: Hub): Tx =>
  // @ts-expect-error a reader is not a transaction
  hub.read

/** A change must have a target for its audit event. */
export const changes: ChangeResult<string>[] = [
  { result: 'created', target: { type: 'token', id: 'tok_1', name: null } },
  // @ts-expect-error the target is missing
  { result: 'created' },
]

export const records: RecordResult<string>[] = [
  // @ts-expect-error an audit event needs a workspace, actor, context and targets
  { result: 'created', audits: [{ action: 'account.token.create' }] },
]

test('this file is type-checked', async () => {
  const { include } = (await Bun.file('tsconfig.json').json()) as { include: string[] }
  expect(include).toContain('test')
})
