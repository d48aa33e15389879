import { expect, test } from 'bun:test'
import { tokens } from '../../src/access/tables'
import type { Changed, Recorded } from '../../src/core/change'
import type { Ctx } from '../../src/core/ctx'
import type { Tx } from '../../src/core/db/transaction'
import type { Hub } from '../../src/core/hub'

// What is below is compiled and never run: `bun check` fails as soon as one of these lines becomes possible.
// Whatever is written passes core/change.ts, which adds the audit entry in the same transaction.

export function writesWithoutTheDoor(hub: Hub, ctx: Ctx): unknown[] {
  return [
    hub.read.select().from(tokens),
    // @ts-expect-error a reader cannot insert
    hub.read.insert(tokens),
    // @ts-expect-error a reader cannot update
    hub.read.update(tokens),
    // @ts-expect-error a reader cannot delete
    hub.read.delete(tokens),
    // @ts-expect-error a reader cannot run a statement of its own
    hub.read.run('delete from tokens'),
    // @ts-expect-error a reader opens no transaction
    hub.read.transaction(async () => {}),
    // @ts-expect-error nor does the caller's context hold a way to write
    ctx.tx,
  ]
}

/** A handle that writes can also read; one that reads is not one that writes. */
export const readerIsNoWriter = (hub: Hub): Tx =>
  // @ts-expect-error a reader is no transaction
  hub.read

/** A change tells what it was done to: without a target there is no audit entry. */
export const changes: Changed<string>[] = [
  { result: 'made', target: { type: 'token', id: 'tok_1', name: null } },
  // @ts-expect-error the target is missing
  { result: 'made' },
]

export const records: Recorded<string>[] = [
  // @ts-expect-error an entry names its workspace, action, actor, context and targets
  { result: 'made', audits: [{ action: 'account.token.create' }] },
]

test('the lines above are part of what is type-checked', async () => {
  const { include } = (await Bun.file('tsconfig.json').json()) as { include: string[] }
  expect(include).toContain('test')
})
