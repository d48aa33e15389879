import { describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asc, eq } from 'drizzle-orm'
import { entryHash, chainedEntry } from '../../src/core/audit-chain'
import { auditCheckpoints, auditEntries } from '../../src/core/db/tables'
import { checkpointFile, signAudit } from '../../src/features/audit/checkpoint-file'
import { pruneAudit } from '../../src/features/audit/retention'
import { runInProcess } from '../support/command'
import { bytes, tamper } from '../support/tamper'
import { world, type World } from '../support/world'

const hour = 3_600_000
const day = 24 * hour

/** Adds `n` entries to the log of acme. */
async function wrote(w: World, n: number): Promise<void> {
  for (let i = 0; i < n; i++) await w.acme.call('POST', '/v1/tokens', { name: `token ${i}`, mode: 'read_only' })
}

const entries = (w: World, chain = w.acme.workspaceId) =>
  w.hub.read.select().from(auditEntries).where(eq(auditEntries.workspaceId, chain)).orderBy(asc(auditEntries.seq))

/** Runs `bailiwick audit verify`. */
async function verify(w: World, ...args: string[]) {
  const run = await command(w, 'verify', '--json', ...args)
  const verdicts = run.code === 1 ? [] : (JSON.parse(run.out) as any[])
  const { findings, ...acme } = verdicts.find(one => one.chain === w.acme.workspaceId) ?? { findings: [] }
  return {
    code: run.code,
    err: run.err,
    acme,
    kinds: [...new Set(findings.map((one: any) => one.tampering))].sort(),
    findings,
    others: verdicts.filter(one => one.chain !== w.acme.workspaceId && one.findings.length > 0),
  }
}

const command = ({ hub: { config } }: World, ...args: string[]) =>
  runInProcess(['audit', ...args], {
    BAILIWICK_DATA: config.data,
    BAILIWICK_MASTER_KEY_FILE: config.masterKeyFile!,
    BAILIWICK_DATABASE_URL: config.databaseUrl ?? '',
  })

/** Public key and checkpoints in separate files, as on another machine. */
async function exportEvidence(w: World): Promise<string[]> {
  const key = join(w.hub.config.data, 'audit.pem')
  const checkpoints = join(w.hub.config.data, 'kept.ndjson')
  writeFileSync(key, (await command(w, 'public-key')).out)
  writeFileSync(checkpoints, readFileSync(checkpointFile(w.hub.config)))
  return ['--public-key', key, '--checkpoint', checkpoints]
}

async function signed(w: World): Promise<void> {
  w.clock.advance(hour + 1000)
  await signAudit(w.hub)
}

test('each entry links to the previous one, and an intact log is verified with and without the master key', async () => {
  const w = await world()
  await wrote(w, 5)
  await signed(w)
  const rows = await entries(w)
  expect(rows.length).toBeGreaterThan(5)
  for (const [place, row] of rows.entries()) {
    expect(Buffer.from(row.prevHash).toString('hex')).toBe(
      place === 0 ? '0'.repeat(64) : Buffer.from(rows[place - 1]!.hash).toString('hex'),
    )
    expect(Buffer.from(entryHash(row.prevHash, chainedEntry(row))).toString('hex')).toBe(Buffer.from(row.hash).toString('hex'))
  }
  await wrote(w, 2)
  const n = rows.length
  expect(await verify(w)).toMatchObject({
    code: 0,
    err: '',
    findings: [],
    others: [],
    acme: { entries: n + 2, verified_to: n + 2, last_seq: n + 2 },
  })
  expect(await verify(w, ...(await exportEvidence(w)))).toMatchObject({
    code: 0,
    findings: [],
    acme: { verified_to: n, last_seq: n + 2 },
  })
}, 180_000)

test('a checkpoint is created once for an hour of entries, and the file has all of them', async () => {
  const w = await world()
  const countCheckpoints = async () =>
    (await w.hub.read.select().from(auditCheckpoints)).filter(one => one.chain === w.acme.workspaceId).length
  await signAudit(w.hub)
  expect(await countCheckpoints()).toBe(0)
  await signed(w)
  await signAudit(w.hub)
  expect(await countCheckpoints()).toBe(1)
  await signed(w)
  expect(await countCheckpoints()).toBe(1)
  await wrote(w, 1)
  await signAudit(w.hub)
  expect(await countCheckpoints()).toBe(1)
  await signed(w)
  expect(await countCheckpoints()).toBe(2)
  const lines = readFileSync(checkpointFile(w.hub.config), 'utf8')
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  const all = await w.hub.read.select().from(auditCheckpoints).orderBy(asc(auditCheckpoints.number))
  expect(lines.map(one => [one.number, one.signature])).toEqual(all.map(one => [one.number, one.signature]))
})

test('the database rejects changes to entries and checkpoints, and their deletion', async () => {
  const w = await world()
  await wrote(w, 2)
  await signed(w)
  for (const statement of [
    `update audit_entries set action = 'nothing' where seq = 1`,
    'delete from audit_entries where seq = 2',
    'delete from audit_entries',
    'update audit_checkpoints set seq = 1',
    'delete from audit_checkpoints',
  ]) {
    const error = await tamper(w.hub, [statement], true).then(
      () => null,
      caught => caught as Error,
    )
    expect([statement, error?.message]).toEqual([statement, expect.stringMatching(/can't be|boundary/)])
  }
  expect((await verify(w)).code).toBe(0)
}, 180_000)

describe('tampering is detected:', () => {
  /** Ways to tamper with acme's log of at least 12 entries. The last two are not signed yet. */
  const done: [
    tampering: string,
    what: string,
    how: (w: World, rows: (typeof auditEntries.$inferSelect)[]) => Promise<void>,
    from: number | null,
  ][] = [
    ['edit', 'a reason is added', w => tamper(w.hub, [`update audit_entries set reason = 'well' where seq = 4 and ${of(w)}`]), 4],
    [
      'edit',
      'an actor’s name is changed',
      w => tamper(w.hub, [`update audit_entries set actor = replace(actor, 'full token', 'rival') where seq = 5 and ${of(w)}`]),
      5,
    ],
    [
      'edit',
      'the column for list filters is changed',
      w => tamper(w.hub, [`update audit_entries set target_id = 'x' where seq = 6 and ${of(w)}`]),
      6,
    ],
    [
      'edit',
      'one entry is changed with its hash',
      async (w, rows) => {
        const row = { ...rows[6]!, reason: 'well' }
        await tamper(w.hub, [
          `update audit_entries set reason = 'well', hash = ${bytes(w.hub, entryHash(row.prevHash, chainedEntry(row)))} where seq = 7 and ${of(w)}`,
        ])
      },
      7,
    ],
    [
      'insertion',
      'an entry is inserted and later ones are renumbered',
      async w => {
        await tamper(w.hub, [
          'drop index audit_entries_chain',
          `update audit_entries set seq = seq + 1 where seq >= 5 and ${of(w)}`,
          copyOf(w, 4, 5),
          `update counters set value = value + 1 where name = 'audit:${w.acme.workspaceId}'`,
        ])
      },
      5,
    ],
    [
      'insertion',
      'an entry is added with an existing number',
      w => tamper(w.hub, ['drop index audit_entries_chain', copyOf(w, 4, 8)]),
      8,
    ],
    [
      'insertion',
      'an entry is appended with its hash',
      async (w, rows) => {
        const last = rows.at(-1)!
        const row = { ...last, id: 'aud_forged', seq: last.seq + 1 }
        await tamper(w.hub, [
          copyOf(w, last.seq, row.seq),
          `update audit_entries set prev_hash = ${bytes(w.hub, last.hash)}, hash = ${bytes(w.hub, entryHash(last.hash, chainedEntry(row)))} where id = 'aud_forged'`,
        ])
      },
      null,
    ],
    ['deletion', 'an entry is removed', w => tamper(w.hub, [`delete from audit_entries where seq = 5 and ${of(w)}`]), 5],
    [
      'deletion',
      'two entries are removed and later ones renumbered',
      w =>
        tamper(w.hub, [
          `delete from audit_entries where seq in (5, 6) and ${of(w)}`,
          // One by one in ascending order, because the numbers must always be unique.
          ...Array.from({ length: 20 }, (_, n) => `update audit_entries set seq = seq - 2 where seq = ${n + 7} and ${of(w)}`),
          `update counters set value = value - 2 where name = 'audit:${w.acme.workspaceId}'`,
        ]),
      5,
    ],
    [
      'deletion',
      'the first entries are removed',
      w => tamper(w.hub, [`delete from audit_entries where seq <= 3 and ${of(w)}`]),
      1,
    ],
    [
      'reorder',
      'two entries swap their numbers',
      w =>
        tamper(
          w.hub,
          [
            [5, -1],
            [8, 5],
            [-1, 8],
          ].map(([from, to]) => `update audit_entries set seq = ${to} where seq = ${from} and ${of(w)}`),
        ),
      5,
    ],
    [
      'reorder',
      'two entries swap their positions with all links',
      async (w, rows) => {
        const [a, b] = [rows[4]!, rows[7]!]
        const put = (at: string, into: typeof a) =>
          `update audit_entries set seq = ${into.seq}, prev_hash = ${bytes(w.hub, into.prevHash)}, hash = ${bytes(w.hub, into.hash)}, mac = ${bytes(w.hub, into.mac)} where id = '${at}'`
        await tamper(w.hub, ['drop index audit_entries_chain', put(a.id, b), put(b.id, a)])
      },
      5,
    ],
    [
      'truncation',
      'the end is removed together with the counter',
      async (w, rows) => {
        const at = rows[7]!
        await tamper(w.hub, [
          `delete from audit_entries where seq > 8 and ${of(w)}`,
          `delete from audit_checkpoints where seq > 8 and chain = '${w.acme.workspaceId}'`,
          `update counters set value = 8, head = ${bytes(w.hub, at.hash)} where name = 'audit:${w.acme.workspaceId}'`,
        ])
      },
      9,
    ],
    [
      'truncation',
      'the whole log is deleted',
      w =>
        tamper(w.hub, [
          `delete from audit_entries where ${of(w)}`,
          `delete from audit_checkpoints where chain = '${w.acme.workspaceId}'`,
          `delete from counters where name = 'audit:${w.acme.workspaceId}'`,
        ]),
      1,
    ],
    ['rehashing', 'an entry is changed and all hashes from there are recomputed', (w, rows) => rehash(w, rows, 4), 4],
  ]

  test.each(done)(
    '%s, where %s',
    async (tampering, _, how, from) => {
      const w = await world()
      await wrote(w, 9)
      await signed(w)
      await wrote(w, 2)
      const elsewhere = await exportEvidence(w)
      await how(w, await entries(w))
      for (const args of [[], elsewhere]) {
        const verdict = await verify(w, ...args)
        expect({ args: args.length, code: verdict.code, kinds: verdict.kinds, others: verdict.others, err: verdict.err }).toEqual(
          { args: args.length, code: 4, kinds: [tampering], others: [], err: '' },
        )
        // Without the master key, a checkpoint shows that hashes were recomputed, but not since when.
        if (from && !(tampering === 'rehashing' && args.length > 0)) expect(verdict.findings[0].from).toBe(from)
      }
    },
    180_000,
  )

  test('rehashing after the last checkpoint, detected by the MACs', async () => {
    const w = await world()
    await wrote(w, 9)
    await rehash(w, await entries(w), 6)
    expect(await verify(w)).toMatchObject({ code: 4, kinds: ['rehashing'], findings: [{ from: 6 }] })
  }, 180_000)

  test('rehashing with checkpoints signed by another key', async () => {
    const w = await world()
    await wrote(w, 9)
    await signed(w)
    const elsewhere = await exportEvidence(w)
    await rehash(w, await entries(w), 6)
    await tamper(w.hub, [
      `update audit_checkpoints set signature = '${Buffer.alloc(64, 1).toString('base64url')}' where chain = '${w.acme.workspaceId}'`,
    ])
    expect(await verify(w, ...elsewhere)).toMatchObject({ code: 4, kinds: ['rehashing'] })
  }, 180_000)
})

const of = (w: World) => `workspace_id = '${w.acme.workspaceId}'`
const copyOf = (w: World, seq: number, as: number) => {
  const columns =
    'workspace_id, occurred_at, action, outcome, actor_type, actor_id, actor, target_id, targets, context, changes, reason, prev_hash, hash, mac'
  return `insert into audit_entries (id, seq, ${columns}) select 'aud_forged', ${as}, ${columns} from audit_entries where seq = ${seq} and ${of(w)}`
}

test('checkpoints removed from the database are detected with the file and with a copy elsewhere', async () => {
  const w = await world()
  await wrote(w, 2)
  await signed(w)
  const elsewhere = await exportEvidence(w)
  expect((await verify(w)).code).toBe(0)
  await tamper(w.hub, ['delete from audit_checkpoints'])
  for (const args of [[], elsewhere]) {
    const found = await verify(w, ...args)
    expect(found).toMatchObject({ code: 4, kinds: ['deletion'] })
    expect(found.findings[0].detail).toMatch(/^checkpoint \d+ of \S+ is not in the database$/)
  }
}, 180_000)

test('a log without any checkpoint is not reported as verified', async () => {
  const w = await world()
  await wrote(w, 2)
  const file = join(w.hub.config.data, 'acme.ndjson')
  writeFileSync(file, (await w.acme.call('GET', '/v1/audit-events/export')).text)
  await signed(w)
  const [key, pem, , checkpoints] = await exportEvidence(w)
  const proven = await command(w, 'verify', '--export', file, key!, pem!, '--checkpoint', checkpoints!)
  expect(proven).toMatchObject({ code: 0 })
  expect(proven.out).toMatch(/^ok /)
  const none = join(w.hub.config.data, 'none.ndjson')
  writeFileSync(none, '')
  const forged = ['verify', '--export', file, key!, pem!, '--checkpoint', none]
  const open = await command(w, ...forged)
  expect(open.code).toBe(3)
  expect(open.out).toMatch(/^warn  \S+  \d+ entries, not verified: /)
  expect(JSON.parse((await command(w, ...forged, '--json')).out)).toMatchObject([
    { verified: false, verified_to: 0, findings: [] },
  ])
}, 180_000)

/** Changes an entry and recomputes all following hashes and the counter, which is possible without the master key. */
async function rehash(w: World, rows: (typeof auditEntries.$inferSelect)[], from: number): Promise<void> {
  let prev = rows[from - 2]!.hash
  const statements: string[] = []
  for (const row of rows.slice(from - 1)) {
    const changed = row.seq === from ? { ...row, reason: 'well' } : row
    const hash = entryHash(prev, chainedEntry(changed))
    statements.push(
      `update audit_entries set reason = ${changed.reason ? `'${changed.reason}'` : 'null'}, prev_hash = ${bytes(w.hub, prev)}, hash = ${bytes(w.hub, hash)} where id = '${row.id}'`,
    )
    prev = hash
  }
  await tamper(w.hub, [
    ...statements,
    `update counters set head = ${bytes(w.hub, prev)} where name = 'audit:${w.acme.workspaceId}'`,
  ])
}

describe('pruning', () => {
  test('deletes entries beyond the retention below a signed boundary, and the rest still verifies', async () => {
    const w = await world()
    await w.limit(w.acme.workspaceId, { audit_days: 30 })
    await wrote(w, 5)
    await signed(w)
    w.clock.advance(20 * day)
    await wrote(w, 4)
    await signed(w)
    const before = await entries(w)
    await pruneAudit(w.hub)
    expect((await entries(w)).length).toBe(before.length)
    w.clock.advance(11 * day)
    await pruneAudit(w.hub)
    await pruneAudit(w.hub)
    await signAudit(w.hub)
    const after = await entries(w)
    expect(after.map(row => row.seq)).toEqual(before.slice(-4).map(row => row.seq))
    const elsewhere = await exportEvidence(w)
    expect(await verify(w)).toMatchObject({ code: 0, findings: [], others: [], acme: { entries: 4 } })
    expect(await verify(w, ...elsewhere)).toMatchObject({ code: 0, findings: [] })
    // The boundary only covers entries below it.
    expect(tamper(w.hub, [`delete from audit_entries where seq = ${after[0]!.seq} and ${of(w)}`], true)).rejects.toThrow(
      'boundary',
    )
    await tamper(w.hub, [`delete from audit_entries where seq = ${after[0]!.seq} and ${of(w)}`])
    expect(await verify(w, ...elsewhere)).toMatchObject({ code: 4, kinds: ['deletion'] })
  }, 180_000)

  test('keeps the last entry, and continues from it', async () => {
    const w = await world()
    await w.limit(w.acme.workspaceId, { audit_days: 30 })
    await wrote(w, 3)
    w.clock.advance(40 * day)
    await pruneAudit(w.hub)
    expect((await entries(w)).length).toBe(1)
    await wrote(w, 1)
    expect(await verify(w)).toMatchObject({ code: 0, findings: [], acme: { entries: 2 } })
  }, 180_000)

  test('an unsigned boundary hides nothing', async () => {
    const w = await world()
    await wrote(w, 5)
    await signed(w)
    const [row] = (await w.hub.read.select().from(auditCheckpoints)).filter(one => one.chain === w.acme.workspaceId)
    await tamper(w.hub, [
      `insert into audit_checkpoints (number, chain, kind, seq, count, head, prev_checkpoint, time, key_id, signature)
       select 99, chain, 'boundary', 3, 0, head, '${'0'.repeat(64)}', time, key_id, '${Buffer.alloc(64, 2).toString('base64url')}' from audit_checkpoints where number = ${row!.number}`,
      `delete from audit_entries where seq <= 3 and ${of(w)}`,
    ])
    const verdict = await verify(w)
    expect([verdict.code, verdict.kinds]).toEqual([4, ['deletion', 'rehashing']])
  }, 180_000)
})
